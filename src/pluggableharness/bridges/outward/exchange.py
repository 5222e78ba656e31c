"""One `tools/call` and what it takes to answer it: a call that runs, and its questions.

A client of before 2026-07-28 is asked while its request waits. A later one gets the question
as the answer to its request and asks again with the person's; the call waits meanwhile, and
holds no lock.
"""

import asyncio
import codecs
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.domain.outcome import (
    LeadUp,
    Outcome,
    OutputChunk,
    OutputStream,
    Progress,
)

Context = ServerRequestContext[Any, Any]

_KEY: Final = "question"
_NOT_ASKED: Final = ElicitResult(action="cancel")
_decoder: Final = codecs.getincrementaldecoder("utf-8")


def can_ask(context: Context) -> bool:
    """Whether the client can put a form to its person."""
    capabilities = context.session.client_capabilities
    asks = capabilities.elicitation if capabilities is not None else None
    # Before there was another way, an empty capability meant forms.
    return asks is not None and (asks.form is not None or asks.url is None)


@dataclass(slots=True)
class _Open:
    """A question that is being asked, and where its answer goes."""

    request: ElicitRequest
    answered: "asyncio.Future[ElicitResult]"


@dataclass(slots=True, eq=False)
class Exchange:
    """A call on its way; `context` is that of the request that waits for it at the moment.

    `id` is what the call is known by to the frontend, and, as the opaque state of a client
    that has to ask again, to the server. `unasked` says that its call was denied because nobody
    could be asked.
    """

    context: Context
    params: CallToolRequestParams
    id: str = field(default_factory=ulid)
    task: "asyncio.Task[Outcome] | None" = None
    unasked: bool = False
    _questions: "asyncio.Queue[_Open]" = field(default_factory=asyncio.Queue)
    _asked: _Open | None = None
    _progress: float = 0.0
    _decoders: dict[tuple[str, OutputStream], codecs.IncrementalDecoder] = field(
        default_factory=dict
    )

    def start(self, call: Callable[[str], Awaitable[Outcome]]) -> None:
        """Begin the call, which is given this exchange's id."""
        self.task = asyncio.ensure_future(call(self.id))

    async def ask(self, request: ElicitRequest) -> ElicitResult:
        """Put a question to the client's person; no answer counts as dismissed."""
        if self._is_modern:
            question = _Open(request, asyncio.get_running_loop().create_future())
            self._questions.put_nowait(question)
            return await question.answered
        assert isinstance(request.params, ElicitRequestFormParams)
        try:
            return await self.context.session.elicit_form(
                request.params.message, request.params.requested_schema, self.context.request_id
            )
        except MCPError:
            return _NOT_ASKED

    async def next(self) -> Outcome | InputRequiredResult:
        """How the call ended, or the question that has to be answered first.

        Cancelling this leaves the call running: `cancel` ends it.
        """
        assert self.task is not None
        question = asyncio.ensure_future(self._question())
        try:
            await asyncio.wait({self.task, question}, return_when=asyncio.FIRST_COMPLETED)
            if self.task.done():
                return self.task.result()
            self._asked = question.result()
        finally:
            question.cancel()
        return InputRequiredResult(
            input_requests={_KEY: self._asked.request}, request_state=self.id
        )

    async def _question(self) -> _Open:
        """The next question that still waits: another grant may have answered one."""
        while True:
            question = await self._questions.get()
            if not question.answered.done():
                return question

    def answered(self, context: Context, params: CallToolRequestParams) -> None:
        """Take a client's second request, with the answer to what it was asked.

        What was asked about is the call as it was first made: another one in its place, or no
        answer, dismisses the question.
        """
        self.context = context
        same = (params.name, params.arguments) == (self.params.name, self.params.arguments)
        given = (params.input_responses or {}).get(_KEY) if same else None
        if self._asked is not None and not self._asked.answered.done():
            self._asked.answered.set_result(
                given if isinstance(given, ElicitResult) else _NOT_ASKED
            )
        self._asked = None

    def cancel(self) -> None:
        """End the call, in order; whoever waits for it is told."""
        if self.task is not None:
            self.task.cancel()

    async def tell(self, call_id: str, event: LeadUp) -> None:
        """Pass an event of a call on: progress as such, output as log messages."""
        match event:
            case Progress():
                await self._tell_progress(event)
            case OutputChunk():
                await self._tell_output(call_id, event.stream, event.data)
            case _:
                pass

    async def tell_rest(self, call_id: str) -> None:
        """Once a call has ended, pass on what began a character that never came whole."""
        for stream in OutputStream:
            await self._tell_output(call_id, stream, b"", ends=True)

    async def _tell_output(
        self, call_id: str, stream: OutputStream, data: bytes, *, ends: bool = False
    ) -> None:
        """Chunks are cut anywhere, in the middle of a character too."""
        key = call_id, stream
        decoder = self._decoders.pop(key, None) or _decoder("replace")
        if not ends:
            self._decoders[key] = decoder
        text = decoder.decode(data, ends)
        if text:
            # Deprecated of late, and the only way there is for output.
            await self.context.session.send_log_message(
                "info",
                {"stream": stream.value, "text": text},
                self.params.name,
                self.context.request_id,
            )

    async def _tell_progress(self, event: Progress) -> None:
        """Progress has to grow with every notification, whatever a provider says."""
        least = self._progress + 1e-6
        self._progress = max(event.fraction or 0.0, least)
        total = None if event.fraction is None else max(1.0, self._progress)
        await self.context.session.report_progress(self._progress, total, event.message)

    @property
    def _is_modern(self) -> bool:
        return self.context.protocol_version in MODERN_PROTOCOL_VERSIONS
