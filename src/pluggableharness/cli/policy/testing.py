"""`harness policy test`: the calls of a recorded session under the present rules."""

import argparse
import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pluggableharness.cli.exits import DONE, FAILED
from pluggableharness.cli.finding import find_log
from pluggableharness.cli.reporting import reported
from pluggableharness.cli.working_directory import working_directory
from pluggableharness.kernel.codec.record import read_call, read_plan
from pluggableharness.kernel.codec.record_facts import read_decision
from pluggableharness.kernel.codec.record_messages import read_message
from pluggableharness.kernel.config.config import Config, OriginKind
from pluggableharness.kernel.config.lock import LOCK_NAME, pinned_digests, read_lock
from pluggableharness.kernel.config.project import project_config, shown_path
from pluggableharness.kernel.configured import granted_file, policy_files
from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.domain.message import ModelReply
from pluggableharness.kernel.domain.operation import Operation, Schema, SchemaType
from pluggableharness.kernel.domain.recorded import RecordedDecision
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.first_party import first_party
from pluggableharness.kernel.frontends.text import on_a_line
from pluggableharness.kernel.judging import Judging
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.kernel.policy import Rule, RuleBook, decide
from pluggableharness.kernel.schema.parse import parse_arguments
from pluggableharness.kernel.session.children import Member
from pluggableharness.kernel.setup import Setup
from pluggableharness.kernel.store.reading import read_events, read_meta

_ANYTHING = Schema(SchemaType.OBJECT)


@dataclass(frozen=True, slots=True)
class Judged:
    """A recorded call, and what policy first said about it."""

    call: Call
    verdict: Verdict


Decide = Callable[[Call], Awaitable[Verdict]]
"""What the present rules say about a call."""


def main(options: argparse.Namespace) -> int:
    """Decide all calls again; 1 when one would be judged otherwise."""
    return reported(lambda: _test(find_log(options.session), working_directory(options.cwd)))


def _test(log: Path, directory: Path) -> int:
    return asyncio.run(_compared(log, _present(directory)))


async def _compared(log: Path, decided: Decide) -> int:
    count = differing = 0
    for judged in recorded_calls(log):
        count += 1
        now = await decided(judged.call)
        if _policy(now) is not _policy(judged.verdict):
            differing += 1
            print(on_a_line(_difference(judged, now)))
    print(f"{count} calls, {differing} judged otherwise")
    return FAILED if differing else DONE


def _present(directory: Path) -> Decide:
    """How the project judges a call now, with a look at where it would work as in any session.

    No provider is started for it: what an operation declares is what is pinned of it.
    """
    config = project_config(directory, os.environ)
    root = config.path.parent if config else directory
    granted = granted_file(root)
    lock = root / LOCK_NAME
    pinned = pinned_digests(read_lock(lock, shown_path(lock)) if config else {})
    grants = _standing(granted.read().rules, pinned)
    book = RuleBook((*(config.rules if config else ()), *grants))
    setup = Setup(
        directory,
        tuple(_built_in(config)) if config else (),
        policy_files=policy_files(config, directory) if config else frozenset((str(granted.path),)),
        gate_reads=config.settings.gate_reads if config else False,
    )
    judging = Judging(setup, _free)

    async def decided(call: Call) -> Verdict:
        call = await judging.locate(call)
        terms = replace(
            judging.terms(call), digest=lambda operation: pinned.get(operation.full_name, "")
        )
        return decide(book, call, terms)

    return decided


def _free(member: Member, model: str, reply: ModelReply) -> None:
    """File no spend: no reviewer is asked."""


def _built_in(config: Config) -> Iterator[ProviderSpec]:
    """The built-in providers, as they would be started."""
    for one in config.providers:
        if one.origin.kind is OriginKind.BUILTIN:
            yield first_party(one.name, one.config)


def _standing(grants: tuple[Rule, ...], pinned: Mapping[str, str]) -> Iterator[Rule]:
    """The grants; what a provider declares that nothing pins is taken to be as it was, since
    only the provider itself could tell."""
    for rule in grants:
        bound = not rule.declared or any(name in pinned for name in rule.full_names)
        yield rule if bound else replace(rule, declared=None)


def recorded_calls(log: Path) -> Iterator[Judged]:
    """Every call of a log that policy saw, with its first verdict. Raises LogUnreadable."""
    directory = read_meta(log).get("working_directory", "/")
    arguments: dict[str, JsonObject] = {}
    first: dict[str, RecordedDecision] = {}
    for event in read_events(log):
        match event.kind:
            case EventKind.MESSAGE:
                arguments |= _proposed(event.payload)
            case EventKind.PLAN:
                plan = read_plan(event.payload)
                arguments |= {item.call_id: item.arguments for item in plan.items}
            case EventKind.TOOL_CALL:
                call = read_call(event.payload)
                arguments.setdefault(call.id, call.arguments)
            case EventKind.DECISION:
                decision = read_decision(event.payload)
                first.setdefault(decision.call_id, decision)
    for decision in first.values():
        given = arguments.get(decision.call_id, arguments.get(decision.tool_use_id))
        if decision.verdict is not None and given is not None:
            yield Judged(_call(decision, given, directory), decision.verdict)


def _proposed(payload: bytes) -> dict[str, JsonObject]:
    """Arguments by the model's own ids, for calls that were denied before they were filed."""
    found: dict[str, JsonObject] = {}
    for call in read_message(payload).reply.message.calls:
        given = call.arguments
        parsed = parse_arguments(given) if isinstance(given, str) else given
        if isinstance(parsed, dict):
            found[call.tool_use_id] = parsed
    return found


def _call(decision: RecordedDecision, arguments: JsonObject, directory: str) -> Call:
    provider, _, name = decision.name.partition(".")
    operation = Operation(provider, name, decision.kind, decision.risk, "", _ANYTHING, _ANYTHING)
    context = CallContext("recorded", "recorded", directory)
    return Call(decision.call_id, operation, arguments, context, decision.tool_use_id)


def _policy(verdict: Verdict) -> Decision:
    """What policy said, whoever was there to be asked."""
    return verdict.downgraded_from or verdict.decision


def _difference(judged: Judged, now: Verdict) -> str:
    was, call = judged.verdict, judged.call
    about = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())[:200]
    return (
        f"{call.operation.full_name} {about}: was {_policy(was).value} by {was.decided_by}, "
        f"would be {_policy(now).value} by {now.decided_by}"
    )
