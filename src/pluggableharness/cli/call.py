"""`harness call`: one operation, by a person's own hand (K4)."""

import argparse
import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pluggableharness.cli.arguments import read_arguments
from pluggableharness.cli.complaining import complain
from pluggableharness.cli.exits import DENIED, DONE, FAILED
from pluggableharness.cli.interrupts import run_until_done
from pluggableharness.cli.loaded import loaded_spec, provider_of
from pluggableharness.cli.numbers import seconds
from pluggableharness.cli.working_directory import working_directory
from pluggableharness.kernel.configured import configured
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.outcome import Failure, Outcome, Success
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.domain.render import RenderNode, TextNode, TextStyle
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.first_party import first_party
from pluggableharness.kernel.frontends.call_output import CallOutput, show
from pluggableharness.kernel.frontends.json_lines import CallLines
from pluggableharness.kernel.frontends.json_shapes import Shape, node
from pluggableharness.kernel.frontends.json_values import ascii_line, pretty
from pluggableharness.kernel.kernel import Kernel, opened
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.kernel.setup import Setup
from pluggableharness.kernel.turn.denial import was_denied

_EPILOG = """\
examples:
  harness call filesystem.read_file path=README.md end_line=5
  harness call exec.bash command='make test' --timeout 600
  harness call filesystem.write_file --args @edit.json --preview
  harness call hello.greet name=Ada --provider ./my_provider.py
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.epilog = _EPILOG
    parser.add_argument("operation", metavar="PROVIDER.OPERATION")
    parser.add_argument(
        "pairs",
        nargs="*",
        default=[],
        metavar="NAME=VALUE",
        help="an argument, read by the schema's type",
    )
    parser.add_argument(
        "--args", metavar="JSON|@FILE|-", help="arguments as a JSON object, from a file or stdin"
    )
    parser.add_argument(
        "--provider",
        metavar="EXECUTABLE",
        help="run this instead of a provider of the project, whose rules and hooks hold; split "
        "into words as by a shell",
    )
    parser.add_argument("--cwd", metavar="DIR", default=".", help="the call's working directory")
    parser.add_argument("--timeout", metavar="S", type=seconds, help="deadline in seconds")
    parser.add_argument(
        "--preview", action="store_true", help="show what the call would do, and do nothing"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def main(options: argparse.Namespace) -> int:
    """Make the call; the exit code tells how it ended."""
    return run_until_done(lambda: _call(options))


async def _call(options: argparse.Namespace) -> int:
    provider = provider_of(options.operation)
    directory = working_directory(options.cwd)
    project = configured(directory, os.environ)
    if options.provider is None:
        spec = _spec(project, provider)
    else:
        guarded = tuple(sorted(project.policy_files))
        # What is typed is relative to where it is typed.
        here, command = Path.cwd(), _command(options.provider)
        spec = ProviderSpec(provider, command, guarded=guarded, directory=here)
        project = _without(project, provider)
    hooking = _hooking(project, provider)
    setup = replace(project, providers=(spec, *hooking), absent={}, timeout_s=options.timeout)
    async with opened(setup) as kernel:
        operation = await kernel.operation(options.operation)
        if options.provider is not None:
            _tell_own_name(provider, kernel.own_name(provider))
        arguments = read_arguments(operation, options.pairs, options.args)
        if options.preview:
            return await _preview(kernel, options.operation, arguments, options.json)
        frontend = CallLines(sys.stdout) if options.json else CallOutput(draw=kernel.drawn)
        try:
            return _exit_code(await kernel.call(options.operation, arguments, frontend))
        finally:
            frontend.close()


def _hooking(project: Setup, name: str) -> Iterator[ProviderSpec]:
    """The providers beside the one that is called whose hooks have a say in it (K25)."""
    hooking = {hook.provider for hook in project.hooks} - {name}
    return (spec for spec in project.providers if spec.name in hooking)


def _without(project: Setup, name: str) -> Setup:
    """The project without its own provider of a name, of which alone its lock file speaks.

    Its rules and hooks hold for whatever takes the name. Raises UsageError where that provider's
    hooks have a say, which nobody else may answer.
    """
    if any(hook.provider == name for hook in project.hooks):
        raise UsageError(
            f"--provider would take the place of provider '{name}', whose hooks of agent.hcl have "
            "a say in every call; call it by another name, or from another folder"
        )
    admit = project.admit
    if admit is None:
        return project
    return replace(
        project,
        admit=lambda offered, producer: admit(
            [one for one in offered if one.provider != name], producer
        ),
    )


def _spec(project: Setup, name: str) -> ProviderSpec:
    spec = loaded_spec(project, name, "For another, give --provider")
    if spec.command == first_party("filesystem").command:
        # What a person calls by hand, they know: having read the file first is for models (K4).
        return replace(spec, config={**spec.config, "require_read": False})
    return spec


def _command(written: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(written))
    except ValueError as error:
        raise UsageError(f"--provider {in_quotes(written)}: {error}") from error
    if not words:
        raise UsageError("--provider: name an executable")
    return words


def _tell_own_name(given: str, own: str) -> None:
    # No error: agent.hcl too may load a provider under any name. But it may be a slip.
    if own and own != given:
        complain(
            f"the provider calls itself {in_quotes(own)}, not {in_quotes(given)}", kind="notice"
        )


async def _preview(
    kernel: Kernel, operation: str, arguments: JsonObject | str, as_json: bool
) -> int:
    found = await kernel.preview(operation, arguments)
    if isinstance(found, Failure):
        complain(f"{found.category.value}: {found.message}", kind=operation)
        return FAILED
    if as_json:
        shown: Shape = {"type": "preview", "node": None if found is None else node(found)}
        print(ascii_line(shown).decode())
    else:
        _show(found, operation, arguments)
    return FAILED if _warns(found) else DONE


def _warns(found: RenderNode | None) -> bool:
    """Whether a preview is a warning and nothing else: that the call would fail (P29)."""
    return isinstance(found, TextNode) and found.style is TextStyle.WARNING


def _show(found: RenderNode | None, operation: str, arguments: JsonObject | str) -> None:
    if found is not None:
        show(found, sys.stdout)
    else:
        text = arguments if isinstance(arguments, str) else pretty(arguments)
        print(f"{operation} gave no preview of this call. Its arguments:\n{text}")


def _exit_code(outcome: Outcome) -> int:
    if isinstance(outcome, Success):
        # A command's failure is a result to a model, and to a shell's `&&` it is none.
        return DONE if outcome.went_well else FAILED
    return DENIED if was_denied(outcome) else FAILED
