"""One model of one vendor: asks once, streams what it says, and says what went wrong."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    InstructionPart,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from pluggableharness.kernel.codec.json_text import unicode_text
from pluggableharness.kernel.domain.message import Cut, Message, ModelReply, Usage
from pluggableharness.kernel.domain.naming import vendor_name
from pluggableharness.kernel.domain.news import Notice
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.models.answering import Asked, Reach, TextHeard
from pluggableharness.kernel.models.vendor.clients import responses_closed
from pluggableharness.kernel.models.vendor.faults import (
    TooMuch,
    cut_short,
    fault_of,
    said_nothing,
)
from pluggableharness.kernel.models.vendor.incoming import message_of
from pluggableharness.kernel.models.vendor.outgoing import (
    Recipient,
    library_messages,
    tool_definition,
    tools_of_history,
)

_MOST_PARTS: Final = 256
"""What one message may hold of texts, thoughts and calls. With each further one the library goes
through all before it, so that a thousand calls take seconds, and some thousands have no end."""


@dataclass(slots=True)
class VendorModel:
    """Asks one model; `key_variable` and `secret` are for what may be said of its key."""

    name: str
    library: LibraryModel
    key_variable: str = ""
    secret: str = ""

    _offered: dict[str, ToolDefinition] = field(default_factory=dict)
    _price_missing: bool = False

    async def reach(self) -> Reach:
        """What the model takes, as far as the library knows."""
        takes_tools = self.library.profile.get("supports_tools", True)
        return Reach(self.library.context_window, takes_tools)

    async def reply(self, asked: Asked, heard: TextHeard) -> ModelReply:
        """The next message, its text heard as it comes. Raises ModelFault.

        A message that did not come whole is none: nothing of it is given back.
        """
        asking = _Asking(self, asked)
        async with responses_closed(), aclosing(asking.texts()) as texts:
            async for text in texts:
                await heard(text)
        response = asking.response
        if response is None or not _is_whole(response):
            raise cut_short(self.name)
        names = {vendor_name(operation): operation.full_name for operation in asked.offered}
        message = message_of(response, names, self.name)
        if not message.text and not message.calls:
            raise said_nothing(self.name, str(_details(response).get("finish_reason", "")))
        cost_usd = await self._cost_usd(response, heard)
        return ModelReply(message, _usage(response), cost_usd, _cut(response))

    def definitions(
        self, history: Sequence[Message], offered: Sequence[Operation]
    ) -> tuple[list[ToolDefinition], ModelSettings]:
        """What is offered, and whether it may be called.

        A history with calls is refused by some vendors where no tool is defined: in a last
        turn (K20) the tools stand there as before, and none may be called.
        """
        settings = ModelSettings(max_retries=0, cache=True)
        if offered:
            self._offered = {vendor_name(one): tool_definition(one) for one in offered}
            return list(self._offered.values()), settings
        known = tools_of_history(history, self._offered)
        if known:
            settings["tool_choice"] = "none"
        return known, settings

    def fault(self, error: Exception) -> Exception:
        """The library's error in our words."""
        return fault_of(error, self.name, self.key_variable, self.secret)

    async def _cost_usd(self, response: ModelResponse, heard: TextHeard) -> float:
        """What the message cost, by a list of prices that comes with the library."""
        try:
            return float(response.cost().total_price)
        except Exception:  # noqa: S110  # whatever it makes of counts that are none
            pass
        if not self._price_missing:
            self._price_missing = True
            words = f"The price of {self.name} is not known: it counts as $0."
            await heard(Notice("info", words))
        return 0.0


@dataclass(slots=True)
class _Asking:
    """One request and its stream; `response` is there once the stream has ended."""

    model: VendorModel
    asked: Asked
    response: ModelResponse | None = None

    async def texts(self) -> AsyncGenerator[str, None]:
        """The pieces of text as they come. Raises ModelFault, and closing it ends the request."""
        model, asked = self.model, self.asked
        tools, settings = model.definitions(asked.history, asked.offered)
        told = unicode_text(asked.instructions)
        messages = library_messages(asked.history, Recipient(model.name, model.library.system))
        try:
            async with model_request_stream(
                model.library,
                messages,
                model_settings=settings,
                model_request_parameters=ModelRequestParameters(
                    function_tools=tools,
                    instruction_parts=[InstructionPart(content=told)] if told else None,
                ),
                instrument=False,
            ) as stream:
                async for event in stream:
                    if isinstance(event, PartStartEvent) and event.index >= _MOST_PARTS:
                        raise TooMuch(f"more than {_MOST_PARTS} calls and texts")
                    text = _text(event)
                    if text:
                        yield text
                self.response = stream.get()
        except Exception as error:
            # A vendor that answers what its library does not expect makes it raise anything.
            raise model.fault(error) from error


def _text(event: ModelResponseStreamEvent) -> str:
    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _details(response: ModelResponse) -> dict[str, object]:
    return response.provider_details or {}


def _is_whole(response: ModelResponse) -> bool:
    """Whether the vendor said that the message is over; the library may only suppose it."""
    details = _details(response)
    said = bool(details.get("finish_reason")) or response.finish_reason == "content_filter"
    return response.state == "complete" and said


_CUTS = {"length": Cut.LENGTH, "content_filter": Cut.FILTER}


def _cut(response: ModelResponse) -> Cut | None:
    return _CUTS.get(response.finish_reason or "")


def _usage(response: ModelResponse) -> Usage:
    used = response.usage
    return Usage(
        used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens
    )
