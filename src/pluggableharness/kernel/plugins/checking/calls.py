"""What a provider's calls show: refusals, streams, results, cancelling, pictures."""

import asyncio
import json
from pathlib import Path
from typing import Final

from google.protobuf.message import DecodeError

from pluggableharness.kernel.codec.render import render_from_wire
from pluggableharness.kernel.codec.tool import call_to_wire
from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Kind, Operation
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Success
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.plugins.checking.arguments import WORD, invalid, valid, worst
from pluggableharness.kernel.plugins.checking.probe import CALL_S, Gone, Probe, Stream
from pluggableharness.kernel.plugins.checking.report import Findings
from pluggableharness.kernel.plugins.flights import GRACE_S
from pluggableharness.kernel.plugins.transport import grpc_aio
from pluggableharness.wire import render_pb2, tool_pb2

PREVIEW_S: Final = 2.0

_TRIES: Final = 20
_STEP_S: Final = 0.001
_QUIET_S: Final = 0.05
"""A call that was caught too early or too late leaves no report; so long is waited for one."""

_AT_ONCE: Final = 32
"""So many calls are made together where that is allowed: of those some are on their way."""

_LINES: Final = 1_000_000

_UNKNOWN: Final = "no_such_operation"
_NO_OPERATION: Final = (
    "no call of it is harmless for sure; --invoke-resources makes calls that change things"
)
_ORDER: Final = ("a second ", "an event after the end", "the stream closed", "the stream ended")
"""How the stream guard begins to tell of streams out of order; the rest are bad events."""


class CallChecks:
    """Makes calls, and judges each stream that comes of it."""

    def __init__(self, probe: Probe, findings: Findings, *, resources: bool) -> None:
        """`resources` allows calls that change things; else only those get a valid call
        that do not."""
        self._probe = probe
        self._findings = findings
        self._resources = resources

    async def refusals(self, operations: tuple[Operation, ...]) -> None:
        """Unknown operations and wrong arguments (P8)."""
        self._findings.reached("P8", "P10", "P11", "P15", "P16")
        unknown = self._probe.unknown_operation(_UNKNOWN)
        await self._refused(unknown, {}, "an operation that is none", ErrorCategory.NOT_FOUND)
        for operation in operations:
            # A resource that does not look at its arguments would act on these.
            kinds = worst if operation.kind is Kind.RESOURCE else invalid
            for what, arguments in kinds(operation.input_schema):
                told = f"{operation.name} {what}"
                await self._refused(operation, arguments, told, ErrorCategory.INVALID_ARGUMENTS)

    async def previews(self, operations: tuple[Operation, ...]) -> None:
        """What calls would do, told without doing it (P29)."""
        self._findings.reached("P29")
        before = _contents(self._probe.directory)
        for operation in operations:
            call = self._probe.call(operation, valid(operation.input_schema))
            await self._preview(call)
            if _contents(self._probe.directory) != before:
                self._findings.failed("P29", f"the preview of {operation.name} changed files")
                before = _contents(self._probe.directory)

    async def results(self, operations: tuple[Operation, ...]) -> None:
        """Valid calls, and what comes of them (P10-P16)."""
        for operation in self._callable(operations):
            call = self._probe.call(operation, valid(operation.input_schema))
            stream = await self._made(call, "P10")
            if stream.outcome is None:
                self._findings.missing("P12", f"{operation.name} did not end within {CALL_S:g} s")
                await self._overdue(call)
            elif isinstance(stream.outcome, Success):
                self._findings.reached("P12")
                await self._render(operation, stream.outcome.payload)
            else:
                self._findings.missing("P12", f"{operation.name} ended {_ended(stream.outcome)}")

    async def cancelling(self, operations: tuple[Operation, ...]) -> None:
        """Calls that are cancelled at once, and on their way (P25, P26)."""
        self._findings.reached("P25")
        unknown = self._probe.unknown_operation(_UNKNOWN)
        chosen = self._callable(operations)
        self._findings.missing("P26", _caught_none(chosen))
        for number in range(_TRIES):
            for operation in (unknown, *chosen):
                await self._cancel(operation, number * _STEP_S)
            if not chosen or self._probe.heard.reported.is_set():
                break
        await self._refused(unknown, {}, "after a cancelled call", ErrorCategory.NOT_FOUND, "P25")
        self._judge_reports()

    def _callable(self, operations: tuple[Operation, ...]) -> list[Operation]:
        harmless = {Kind.DATA_SOURCE, Kind.RESOURCE} if self._resources else {Kind.DATA_SOURCE}
        chosen = [one for one in operations if one.kind in harmless]
        if all(one.kind is Kind.INTERACTIVE for one in operations):
            # The frontend answers those; the kernel invokes them never.
            self._findings.does_not_apply("P12", "P26")
        if not chosen:
            self._findings.missing("P12", _NO_OPERATION)
        return chosen

    async def _refused(
        self,
        operation: Operation,
        arguments: JsonObject,
        what: str,
        expected: ErrorCategory,
        point: str = "P8",
    ) -> None:
        stream = await self._made(self._probe.call(operation, arguments), point)
        outcome = stream.outcome
        if isinstance(outcome, Failure) and (
            outcome.category is expected or _kernels_own(outcome, "broken")
        ):
            return
        ended = "no end" if outcome is None else _ended(outcome)
        self._findings.failed(point, f"{what}: expected {expected.value}, got {ended}")

    async def _made(self, call: Call, point: str) -> Stream:
        """Make a call and judge its stream; whoever dies of it fails at `point`."""
        try:
            stream = await self._probe.invoke(call)
        except Gone as gone:
            self._findings.failed(point, f"{call.operation.name}: {gone}")
            raise
        self._judge(stream)
        return stream

    def _judge(self, stream: Stream) -> None:
        name, outcome = stream.call.operation.name, stream.outcome
        if isinstance(outcome, Failure):
            if _kernels_own(outcome, "violations"):
                self._findings.failed("P12", f"{name}: {outcome.message}")
            elif broken := _kernels_own(outcome, "broken"):
                self._findings.failed(_point(str(broken)), f"{name}: {outcome.message}")
            elif not outcome.message.strip():
                self._findings.failed("P16", f"{name}: an error without a message")
        self._judge_exit(stream)

    def _judge_exit(self, stream: Stream) -> None:
        codes = [x.exit_status.exit_code for x in stream.events() if x.HasField("exit_status")]
        if not any(codes):
            return
        self._findings.reached("P13")
        outcome = stream.outcome
        if isinstance(outcome, Failure) and outcome.category is ErrorCategory.EXECUTION_FAILED:
            what = f"its child exited with {codes[0]}, and it made an error of that"
            self._findings.failed("P13", f"{stream.call.operation.name}: {what}")

    async def _overdue(self, call: Call) -> None:
        """The call was cancelled after its time; now its report is owed (P26)."""
        if not await self._reported(GRACE_S):
            what = f"ignored its cancelling: no report came within {GRACE_S:g} s"
            self._findings.failed("P26", f"{call.operation.name} {what}")

    async def _cancel(self, operation: Operation, within_s: float) -> None:
        spec = operation.concurrency
        together = _AT_ONCE if spec is not None and spec.safe and not spec.key_fields else 1
        arguments = valid(operation.input_schema)
        calls = [self._probe.call(operation, arguments) for _ in range(together)]
        try:
            await self._probe.cancelled(calls, within_s)
        except Gone as gone:
            self._findings.failed("P25", f"{operation.name} was cancelled: {gone}")
            raise
        if operation.name != _UNKNOWN:
            await self._reported(_QUIET_S)

    async def _reported(self, within_s: float) -> bool:
        try:
            await asyncio.wait_for(self._probe.heard.reported.wait(), within_s)
        except TimeoutError:
            return False
        return True

    def _judge_reports(self) -> None:
        heard = self._probe.heard
        for report in heard.reports:
            self._findings.reached("P26")
            if report.tool_call_id not in heard.calls:
                told = f"a report of call {report.tool_call_id!r}, which is none"
                self._findings.failed("P26", told)
            if report.WhichOneof("outcome") != "error":
                self._findings.failed("P26", "a cancelled call was reported with a result")
            elif report.error.category != tool_pb2.TOOL_ERROR_CATEGORY_CANCELLED:
                self._findings.failed("P26", "a cancelled call was reported as something else")

    async def _preview(self, call: Call) -> None:
        request = tool_pb2.PreviewRequest(call=call_to_wire(call)).SerializeToString()
        name = call.operation.name
        try:
            async with asyncio.timeout(PREVIEW_S):
                answer = await self._probe.ask("Preview", request)
            response = tool_pb2.PreviewResponse.FromString(answer)
            _check_tree(response, "preview", response.preview)
        except TimeoutError:
            self._findings.failed("P29", f"the preview of {name} took over {PREVIEW_S:g} s")
        except (DecodeError, ValueError) as error:
            self._findings.failed("P29", f"the preview of {name}: {error}")
        except grpc_aio().RpcError:
            pass  # absent, or it has nothing to say of arguments that mean nothing to it

    async def _render(self, operation: Operation, payload: JsonObject) -> None:
        data = json.dumps(payload).encode()
        request = tool_pb2.RenderRequest(payload=data, schema_version="1").SerializeToString()
        try:
            response = tool_pb2.RenderResponse.FromString(await self._probe.ask("Render", request))
            _check_tree(response, "tree", response.tree)
        except (DecodeError, ValueError) as error:
            self._findings.failed("P30", f"rendering a result of {operation.name}: {error}")
        except grpc_aio().RpcError:
            pass  # it may be absent


def _check_tree(
    response: tool_pb2.PreviewResponse | tool_pb2.RenderResponse,
    field: str,
    tree: render_pb2.RenderTree,
) -> None:
    if response.HasField(field):
        render_from_wire(tree)


def _kernels_own(failure: Failure, detail: str) -> Json:
    """What the stream guard found; a provider's own errors may have details of any name."""
    if failure.category is not ErrorCategory.UNKNOWN or failure.details is None:
        return None
    return failure.details.get(detail)


def _point(broken: str) -> str:
    if "process_crashed" in broken:
        return "P15"
    return "P10" if broken.removeprefix("it sent ").startswith(_ORDER) else "P11"


def _ended(outcome: Success | Failure) -> str:
    if isinstance(outcome, Success):
        return "a result"
    return f"{outcome.category.value}: {outcome.message}"


def _caught_none(chosen: list[Operation]) -> str:
    return f"no call could be caught on its way in {_TRIES} tries" if chosen else _NO_OPERATION


def _contents(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def prepare(directory: Path) -> None:
    """Make the working directory of the calls: one file, named as every text argument is.

    It is large, since a call that is over in no time cannot be caught on its way.
    """
    (directory / WORD).write_text(f"{WORD}\n" * _LINES)
