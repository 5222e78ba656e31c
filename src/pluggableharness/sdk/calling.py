"""One call from its arguments to its terminal event, the same served and in a test.

Owns what every end of a function means: a result, a failure, a bug, a cancel. Knows nothing of
the wire: events go to `send`, and the terminal one is returned, so that whoever carries it can
close the stream with it.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from pluggableharness.sdk.callbacks import Callbacks, CallRef
from pluggableharness.sdk.context import Context
from pluggableharness.sdk.events import Failure, LeadUp, Result, Terminal
from pluggableharness.sdk.failures import (
    Category,
    ExecutionFailed,
    InvalidArguments,
    Misuse,
    NotFound,
    ToolFailure,
)
from pluggableharness.sdk.naming import LONGEST_MESSAGE, bounded, quoted
from pluggableharness.sdk.operation import Operation
from pluggableharness.sdk.provider import Provider
from pluggableharness.sdk.redaction import CleanEvents, Redactor, Send
from pluggableharness.sdk.stream import EventStream

if TYPE_CHECKING:
    from pluggableharness.sdk.render import Node


class Call(Struct, frozen=True):
    """What the kernel asks for."""

    ref: CallRef
    tool_name: str
    arguments: Mapping[str, Any]
    working_directory: str
    places: Mapping[str, str] = {}
    """Where its paths led when the kernel judged it, by their absolute text (K10a)."""


class Ending:
    """What a call leaves behind beside its terminal event."""

    __slots__ = ("caller_gone", "error", "report")

    def __init__(self) -> None:
        self.caller_gone = False
        """Whether nobody listens any more: the call is as good as cancelled."""
        self.error: BaseException | None = None
        """What the function raised, for tests and logs."""
        self.report: Mapping[str, Any] | None = None
        """What a cancelled function said that it had done (P26)."""


class Runner:
    """Runs the calls of one configured provider."""

    def __init__(self, provider: Provider[Any], callbacks: Callbacks) -> None:
        self.provider = provider
        self.redactor = Redactor(provider.secrets)
        self._callbacks = callbacks
        self._settings: Any = None
        self._unconfigured = ""
        try:
            self._settings = provider.settings.read({})
        except InvalidArguments as missing:
            self._unconfigured = missing.message

    def configure(self, values: Mapping[str, Any]) -> None:
        """Take the settings of a decoded provider block (P28).

        Raises:
            InvalidArguments: naming each field that is missing, unknown or wrong, without any
                secret.
        """
        redactor = self.redactor.and_also(self.provider.settings.secrets(values))
        try:
            self._settings = self.provider.settings.read(values)
        except InvalidArguments as refusal:
            raise InvalidArguments(redactor.text(refusal.message)) from None
        self.redactor = redactor
        self._unconfigured = ""

    async def run(self, call: Call, send: Send, ending: Ending) -> Terminal:
        """Run a call and return its terminal event, which is not sent.

        Raises:
            asyncio.CancelledError: the call was cancelled; the function has ended by then, and
                `ending.report` is what it said.
        """
        try:
            operation = self._operation(call)
            arguments = operation.read(call.arguments)
        except ToolFailure as failure:
            return self._clean(_failure(failure))
        clean = CleanEvents(self.redactor, send) if self.redactor.active else None
        events = EventStream(
            operation.name, operation.traits.streaming, clean.send if clean else send
        )
        context = self._context(call, events)
        try:
            terminal = await self._end(operation, context, arguments, events, ending)
            if clean:
                await clean.end()
            # A function that swallows its cancellation was cancelled all the same.
            if ending.caller_gone or _was_cancelled():
                raise asyncio.CancelledError
        except asyncio.CancelledError:
            events.abandon(f"{operation.name} was cancelled")
            ending.report = self.redactor.value(context.report)
            raise
        return self._clean(terminal)

    async def preview(self, call: Call) -> Node | None:
        """Describe what a call would do; None where the operation has no preview (P29).

        What the call would fail with, by its arguments or as the previewing function has it, is
        the preview. Raises NotFound for an operation that is not there.
        """
        operation = self._operation(call)
        if operation.previewer is None:
            return None
        events = EventStream(operation.name, False, _nowhere)
        events.abandon("a preview sends no events")
        context = self._context(call, events)
        try:
            node = await operation.previewer(context, **operation.read(call.arguments))
        except ToolFailure as failure:
            # Only a call that is to be shown needs the nodes.
            from pluggableharness.sdk.render import would_fail

            node = would_fail(failure.message)
        shown: Node | None = self.redactor.value(node)
        return shown

    def render(self, operation: Operation[..., Any], payload: dict[str, Any]) -> Node | None:
        """Draw a recorded payload; None where the operation has nothing for it (P30)."""
        if operation.renderer is None:
            return None
        node: Node = self.redactor.value(operation.renderer(payload))
        return node

    def _context(self, call: Call, events: EventStream) -> Context[Any]:
        return Context(
            call.ref,
            call.working_directory,
            self._settings,
            events,
            self._callbacks,
            self.redactor,
            call.places,
        )

    def settings(self) -> Any:
        """The provider's settings. Raises ToolFailure while it is not configured."""
        if self._unconfigured:
            raise ExecutionFailed(
                f"provider {self.provider.name} is not configured: {self._unconfigured}"
            )
        return self._settings

    def _operation(self, call: Call) -> Operation[..., Any]:
        self.settings()
        operation = self.provider.operations.get(call.tool_name)
        if operation is None:
            known = ", ".join(self.provider.operations) or "none"
            raise NotFound(
                f"{self.provider.name} has no operation {quoted(call.tool_name)}; it has: {known}"
            )
        return operation

    async def _end(
        self,
        operation: Operation[..., Any],
        context: Context[Any],
        arguments: dict[str, Any],
        events: EventStream,
        ending: Ending,
    ) -> Terminal:
        try:
            value = await operation.function(context, **arguments)
            await events.finish()
            return Result(operation.payload(value))
        except ToolFailure as failure:
            ending.error = failure
            await events.finish()
            return _failure(failure)
        except asyncio.CancelledError as error:
            if ending.caller_gone or _was_cancelled():
                raise
            # Cancelled by its own doing: for the kernel, whose call it is, that is a bug.
            ending.error = error
        except (Exception, SystemExit) as error:
            ending.error = error
        await events.finish()
        return self._bug(operation, context, ending.error)

    def _bug(
        self, operation: Operation[..., Any], context: Context[Any], error: BaseException
    ) -> Failure:
        message = str(error) if isinstance(error, Misuse) else f"{type(error).__name__}: {error}"
        trace = "".join(traceback.format_exception(error))
        # For the author alone: what failed is told to everybody else by the call's outcome.
        self._callbacks.log(
            CallRef(context.call_id, context.session_id, context.turn_id),
            "debug",
            self.redactor.text(f"{operation.name} failed: {trace}"),
            {},
        )
        return Failure(Category.UNKNOWN, message)

    def _clean(self, terminal: Terminal) -> Terminal:
        if self.redactor.active:
            terminal = self.redactor.terminal(terminal)
        if isinstance(terminal, Failure) and len(terminal.message) > LONGEST_MESSAGE:
            terminal = replace(terminal, message=bounded(terminal.message))
        return terminal


def _failure(failure: ToolFailure) -> Failure:
    return Failure(failure.category, failure.message, failure.retryable, failure.details)


def _was_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _nowhere(event: LeadUp) -> None:
    """Take the events of a preview, of which there are none."""
