"""What an operation's function gets as its first argument."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from posixpath import join
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args

from pluggableharness.sdk.callbacks import (
    Callbacks,
    CallRef,
    Emitted,
    EventKind,
    LogLevel,
    SessionOutcome,
    SessionRequest,
)
from pluggableharness.sdk.events import Stream
from pluggableharness.sdk.failures import ExecutionFailed, Misuse
from pluggableharness.sdk.naming import quoted
from pluggableharness.sdk.redaction import Redactor
from pluggableharness.sdk.stream import EventStream

if TYPE_CHECKING:
    from pathlib import Path

S = TypeVar("S")

_NOWHERE: Mapping[str, str] = {}


class Context(Generic[S]):
    """One call, as its function sees it (P9, P10, P32).

    `settings` is what the provider was configured with. `report` is for cancellation: what the
    function puts there, JSON values that say what had been done, reaches the kernel's record
    after the function has ended (P26).
    """

    __slots__ = (
        "_call",
        "_callbacks",
        "_events",
        "_places",
        "_redactor",
        "_working_directory",
        "report",
        "settings",
    )

    def __init__(
        self,
        call: CallRef,
        working_directory: str,
        settings: S,
        events: EventStream,
        callbacks: Callbacks,
        redactor: Redactor,
        places: Mapping[str, str] = _NOWHERE,
    ) -> None:
        self._call = call
        self._places = places
        self._working_directory = working_directory
        self._events = events
        self._callbacks = callbacks
        self._redactor = redactor
        self.settings = settings
        self.report: Mapping[str, Any] | None = None

    @property
    def call_id(self) -> str:
        """The kernel's id of this call (P7)."""
        return self._call.call_id

    @property
    def session_id(self) -> str:
        """The session that the call belongs to."""
        return self._call.session_id

    @property
    def turn_id(self) -> str:
        """The turn that the call belongs to."""
        return self._call.turn_id

    @property
    def working_directory(self) -> Path:
        """The absolute directory that relative paths start from; never the provider's own (P9).

        Raises:
            ExecutionFailed: the kernel gave none, or a relative one.
        """
        if not self._working_directory.startswith("/"):
            raise ExecutionFailed(
                f"the call's working directory is {quoted(self._working_directory)}, expected an "
                "absolute path: the kernel must set call_context.working_directory"
            )
        # 3 ms to import at the start, and many operations have no path.
        from pathlib import Path

        return Path(self._working_directory)

    def approved(self, path: str) -> str | None:
        """The real absolute path that a path of the arguments led to when the call was approved.

        What the call then opens has to be just that, with no link on the way: what was shown
        and judged is not what a link leads to meanwhile (K10a). None where the kernel does not
        say, as for a data source, and the path itself is all there is to go by.
        """
        return self._places.get(join(self._working_directory, path))

    async def output(self, data: bytes | bytearray | memoryview, stream: Stream = "stdout") -> None:
        """Send output of a child process. Waits while the consumer is slow (P14)."""
        await self._events.output(data, stream)

    async def progress(self, message: str, fraction: float | None = None) -> None:
        """Say how far the call is; `fraction` from 0 to 1."""
        await self._events.progress(message, fraction)

    async def partial(self, payload: Mapping[str, Any]) -> None:
        """Send a part of the result as soon as it is known."""
        await self._events.partial(payload)

    async def exit_status(self, code: int, signal: str | None = None) -> None:
        """Say how the child process ended, once: `signal` is a name such as "SIGKILL"."""
        await self._events.exit_status(code, signal)

    async def log(self, level: LogLevel, message: str, **fields: Any) -> None:
        """Add an entry to the kernel's log; does not wait for it to get there."""
        _check_name("log", "level", level, LogLevel)
        clean = self._redactor
        self._callbacks.log(self._call, level, clean.text(message), clean.value(fields))

    async def emit(self, kind: EventKind, payload: bytes, schema_version: str) -> Emitted:
        """Store an event in the record of this call's session (K28).

        Secrets in the payload are overwritten with as many asterisks, so that its form holds.

        Raises:
            KernelUnavailable: no kernel answers.
        """
        _check_name("emit", "kind", kind, EventKind)
        payload = self._redactor.blotted(payload)
        return await self._callbacks.emit(self._call, kind, payload, schema_version)

    async def run_session(
        self,
        profile: str,
        prompt: str,
        *,
        providers: Sequence[str] = (),
        max_depth: int | None = None,
        max_cost_usd: float | None = None,
    ) -> SessionOutcome:
        """Run a child session of a profile and wait for its end (K22, K23).

        `providers` narrows its tools to those of these providers; the bounds may only lower
        what the kernel grants.

        Raises:
            ToolFailure: the kernel refuses, and why.
            KernelUnavailable: no kernel answers.
        """
        for name, bound in (("max_depth", max_depth), ("max_cost_usd", max_cost_usd)):
            # The wire reads 0 as "not given", which would widen what was meant to narrow.
            if bound is not None and not bound > 0:
                raise Misuse(f"ctx.run_session(): {name} is {bound}, expected more than 0")
        prompt = self._redactor.text(prompt)
        request = SessionRequest(profile, prompt, tuple(providers), max_depth, max_cost_usd)
        return await self._callbacks.run_session(self._call, request)


def _check_name(method: str, what: str, name: str, names: Any) -> None:
    if name not in get_args(names):
        known = ", ".join(get_args(names))
        raise Misuse(f"ctx.{method}(): the {what} is {name!r}, expected one of {known}")
