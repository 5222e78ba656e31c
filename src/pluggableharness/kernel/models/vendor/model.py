"""One model of one vendor as a Model of ours: asks once, streams, and says what went wrong."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import (
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings

from pluggableharness.kernel.domain.call import ProposedCall
from pluggableharness.kernel.domain.errors import ModelFailed
from pluggableharness.kernel.domain.message import Block, Message, ModelReply, Role, Text, Usage
from pluggableharness.kernel.domain.naming import vendor_name
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.models.vendor.outgoing import library_messages, tool_definition

Heard = Callable[[str], Awaitable[None]]


class VendorModel:
    """Asks one model of one vendor."""

    def __init__(self, name: str, library: LibraryModel) -> None:
        self.name = name
        self._library = library

    async def reply(
        self, history: Sequence[Message], offered: Sequence[Operation], heard: Heard
    ) -> ModelReply:
        """The next message, its text heard as it comes. Raises ModelFailed."""
        parameters = ModelRequestParameters(function_tools=[tool_definition(o) for o in offered])
        settings = ModelSettings(max_retries=0)
        try:
            async with model_request_stream(
                self._library,
                library_messages(history),
                model_settings=settings,
                model_request_parameters=parameters,
                instrument=False,
            ) as stream:
                await _listen(stream, heard)
                response = stream.get()
        except (AgentRunError, UserError) as error:
            raise ModelFailed(f"{self.name}: {error}") from error
        names = {vendor_name(operation): operation.full_name for operation in offered}
        blocks = tuple(_blocks(response, names))
        usage = Usage(response.usage.input_tokens, response.usage.output_tokens)
        return ModelReply(Message(Role.ASSISTANT, blocks), usage)


async def _listen(stream: StreamedResponse, heard: Heard) -> None:
    async for event in stream:
        match event:
            case PartStartEvent(part=TextPart(content=text)) if text:
                await heard(text)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
                await heard(text)
            case _:
                pass


def _blocks(response: ModelResponse, names: dict[str, str]) -> list[Block]:
    blocks: list[Block] = []
    for part in response.parts:
        if isinstance(part, TextPart) and part.content:
            blocks.append(Text(part.content))
        elif isinstance(part, ToolCallPart):
            name = names.get(part.tool_name, part.tool_name)
            blocks.append(ProposedCall(part.tool_call_id, name, _written(part.args)))
    return blocks


def _written(arguments: Any) -> JsonObject | str:
    """What the model wrote, raw where the vendor streams text; nothing at all is no argument."""
    return arguments if arguments else {}
