"""`harness check`: whether an executable keeps the contract of a provider."""

import argparse
import shlex
import sys

from pluggableharness.cli.exits import DONE, FAILED
from pluggableharness.cli.interrupts import run_until_done
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.frontends.json_values import ascii_line
from pluggableharness.kernel.plugins.checking import Report, Status, check_provider
from pluggableharness.kernel.plugins.errors import ProviderLoadError
from pluggableharness.kernel.plugins.spec import ProviderSpec

_EPILOG = """\
examples:
  harness check ./my-provider
  harness check --invoke-resources python3 my_provider.py --verbose
  harness check ./my-provider --json

It may be written in any language. The options stand before the executable or at the very
end; to hand such a word to the executable, end the line with --.

Data sources are called with the least that their schemas allow, in a directory of their own.
Resources are called with arguments that no schema allows, and with others only under
--invoke-resources: that does what they do.

exit codes:
  0 nothing failed   1 something failed   2 it could not be started
"""

_OURS = ("--json", "--invoke-resources")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.epilog = _EPILOG
    parser.usage = "harness check [--json] [--invoke-resources] EXECUTABLE [ARG ...]"
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument(
        "--invoke-resources", action="store_true", help="also make valid calls of resources"
    )
    parser.add_argument(
        "command",
        metavar="EXECUTABLE [ARG ...]",
        nargs=argparse.REMAINDER,
        help="the provider, as it would be started",
    )


def main(options: argparse.Namespace) -> int:
    """Check it; the exit code tells whether something failed."""
    return run_until_done(lambda: _check(options))


async def _check(options: argparse.Namespace) -> int:
    command, trailing = _split(options.command)
    if not command:
        raise UsageError("check: name an executable, such as `harness check ./my-provider`")
    invoke_resources = options.invoke_resources or "--invoke-resources" in trailing
    try:
        spec = ProviderSpec("provider", command)
        report = await check_provider(spec, invoke_resources=invoke_resources)
    except ProviderLoadError as error:
        # Its name here is ours and says nothing.
        raise UsageError(f"check: {shlex.join(command)}: {'; '.join(error.reasons)}") from error
    sys.stdout.write(_json(report) if options.json or "--json" in trailing else as_text(report))
    return DONE if report.passed else FAILED


def _split(words: list[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """The provider's command line, and those of our options that stand behind it."""
    if words[:1] == ["--"]:
        words = words[1:]
    end = len(words)
    while end and words[end - 1] in _OURS:
        end -= 1
    trailing = frozenset(words[end:])
    return tuple(words[: end - 1] if words[end - 1 : end] == ["--"] else words[:end]), trailing


def as_text(report: Report) -> str:
    """A line a point, with what is wrong below it, and the sum."""
    told = "".join(
        f"{line.status.value:<11}  {line.id:<3}  {line.what}\n"
        + "".join(f"{'':18}{_indented(detail)}\n" for detail in line.details)
        for line in report.lines
    )
    remarks = "".join(f"remark: {remark}\n" for remark in report.remarks)
    counts = ", ".join(
        f"{sum(line.status is status for line in report.lines)} {status.value}" for status in Status
    )
    return f"{told}{remarks}{counts}\n"


def _indented(detail: str) -> str:
    return detail.replace("\n", "\n" + " " * 20)


def _json(report: Report) -> str:
    shown: dict[str, Json] = {
        "passed": report.passed,
        "points": [
            {
                "id": line.id,
                "what": line.what,
                "status": line.status.value.replace(" ", "_"),
                "details": list(line.details),
            }
            for line in report.lines
        ],
        "remarks": list(report.remarks),
    }
    return ascii_line(shown).decode() + "\n"
