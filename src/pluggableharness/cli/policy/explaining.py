"""`harness policy explain`."""

import argparse
import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import starmap

from pluggableharness.cli.arguments import read_arguments
from pluggableharness.cli.exits import DONE
from pluggableharness.cli.interrupts import run_until_done
from pluggableharness.cli.loaded import loaded_spec, provider_of
from pluggableharness.cli.working_directory import working_directory
from pluggableharness.kernel.configured import configured
from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.outcome import Failure
from pluggableharness.kernel.domain.verdict import Verdict
from pluggableharness.kernel.frontends.text import on_a_line
from pluggableharness.kernel.kernel import opened
from pluggableharness.kernel.policy import (
    Considered,
    Explanation,
    ShellView,
    leading,
    redirections,
)


def main(options: argparse.Namespace) -> int:
    """Explain one decision, without taking any."""
    return run_until_done(lambda: _explain(options))


async def _explain(options: argparse.Namespace) -> int:
    setup = configured(working_directory(options.cwd), os.environ)
    provider = loaded_spec(setup, provider_of(options.operation), "`harness tools` lists them")
    async with opened(replace(setup, providers=(provider,), absent={})) as kernel:
        operation = await kernel.operation(options.operation)
        arguments = read_arguments(operation, options.pairs, options.args)
        found = await kernel.explain(options.operation, arguments)
    for line in explained(found):
        print(on_a_line(line))
    return DONE


def explained(found: tuple[Call, Explanation] | Failure) -> Iterator[str]:
    """An explanation in lines. Raises UsageError for a call that could not be made."""
    if isinstance(found, Failure):
        raise UsageError(found.message)
    call, explanation = found
    operation = call.operation
    yield f"{operation.full_name}: {operation.kind.value}, {operation.risk.value}"
    if explanation.view is not None:
        yield from _viewed(explanation.view)
    yield from starmap(leading, redirections(call))
    yield "rules, the one that wins first:" if explanation.rules else "there are no rules"
    for considered in explanation.rules:
        yield f"  {_rule(considered)}"
    yield f"verdict: {_verdict(explanation.verdict)}"


def _viewed(view: ShellView) -> Iterator[str]:
    if view.unusable:
        yield f"commands: none, since the line cannot be read ({view.unusable})"
        return
    for command in view.commands:
        unknown = " (some of its words are not known)" if command.substitutes else ""
        yield f"command: {list(command.argv)}{unknown}"
    for name, paths in (("writes", view.writes), ("reads", view.reads)):
        if paths:
            yield f"{name}: {list(paths)}"


def _rule(considered: Considered) -> str:
    rule = considered.rule
    mark = "=>" if considered.decided else "  "
    said = "matches" if considered.matched else "does not match"
    why = f": {considered.why}" if considered.why else ""
    place = f" ({rule.position})" if rule.position else ""
    return f"{mark} {rule.name}{place} {rule.action.value}, {said}{why}"


def _verdict(verdict: Verdict) -> str:
    reason = f": {verdict.reason}" if verdict.reason else ""
    reviewer = f", after {verdict.review.reviewer}" if verdict.review else ""
    return f"{verdict.decision.value} by {verdict.decided_by}{reviewer}{reason}"
