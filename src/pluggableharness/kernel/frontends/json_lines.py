"""Headless: one JSON object a line for every piece of news (K33)."""

import base64
import codecs
from typing import TextIO

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.news import CallEnded, CallEvent, CallRefused, FromChild, News
from pluggableharness.kernel.domain.outcome import LeadUp, OutputChunk
from pluggableharness.kernel.domain.plan import Answer, PlanItem
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.frontends.json_shapes import Shape, lead_up, outcome, shape
from pluggableharness.kernel.frontends.json_values import ascii_line
from pluggableharness.kernel.frontends.outlet import Outlet


class JsonLines:
    """Writes every piece of news of a session as it comes. Nobody is there to answer.

    The shapes are described in docs/reference/json-events.md. `gather` is for what has long
    happened: so many bytes are written at once, and the last of them by `close`.
    """

    attended = False

    def __init__(self, out: TextIO, gather: int = 0) -> None:
        self._outlet = Outlet(out, gather)
        self._chunks: dict[str, dict[str, bytes]] = {}
        self._origin: Shape = {}

    async def hear(self, news: News) -> None:
        """Write a piece of news; that of a child session says which one it is of."""
        if isinstance(news, FromChild):
            self._origin = {"child_session_id": news.session_id, "path": list(news.path)}
            news = news.news
        else:
            self._origin = {}
        match news:
            case CallEvent():
                self._event(news.call.id, news.event)
            case CallEnded():
                self._rest(news.call.id)
                self._write(shape(news))
            case _:
                self._write(shape(news))
        await self._outlet.room()

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        """Nobody is there."""
        return None

    async def answer(self, call: Call) -> JsonObject | None:
        """Nobody is there."""
        return None

    def close(self) -> None:
        """Write all that has not left yet."""
        self._outlet.flush()

    def _event(self, call_id: str, event: LeadUp) -> None:
        if isinstance(event, OutputChunk):
            self._chunk(call_id, event.stream.value, event.data)
        else:
            self._write(lead_up(call_id, event))

    def _chunk(self, call_id: str, stream: str, data: bytes) -> None:
        """Write what is there but for a character that has only begun: it goes with the next."""
        held = self._chunks.setdefault(call_id, {})
        data = held.pop(stream, b"") + data
        try:
            text, used = codecs.utf_8_decode(data, "strict", False)
        except UnicodeDecodeError:
            self._write(_chunk_shape(call_id, stream, data))
            return
        if used < len(data):
            held[stream] = data[used:]
        if text:
            self._write(_chunk_shape(call_id, stream, text))

    def _rest(self, call_id: str) -> None:
        """Write characters that were never completed."""
        for stream, data in self._chunks.pop(call_id, {}).items():
            self._write(_chunk_shape(call_id, stream, data))

    def _write(self, line: Shape) -> None:
        if self._origin:
            line = {**line, **self._origin}
        self._outlet.write_bytes(ascii_line(line) + b"\n")


class CallLines(JsonLines):
    """For `harness call`: the one call's stream and nothing else, `result` or `error` last."""

    async def hear(self, news: News) -> None:
        """Write what belongs to the call."""
        if isinstance(news, CallEvent | CallEnded):
            await super().hear(news)
        elif isinstance(news, CallRefused):
            self._write(outcome(news.refused.id, news.refused.failure))
            await self._outlet.room()


def _chunk_shape(call_id: str, stream: str, data: str | bytes) -> Shape:
    start: Shape = {"type": "output_chunk", "call_id": call_id, "stream": stream}
    if isinstance(data, str):
        return {**start, "text": data}
    return {**start, "data_base64": base64.b64encode(data).decode()}
