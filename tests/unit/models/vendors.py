"""Every vendor as tests speak to it: a model of ours, over a server that plays its streams."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from model_server import ModelServer, Played
from unit.turn.doubles import operation

from pluggableharness.kernel.domain.message import Message, ModelReply, Role, Text, ToolResult
from pluggableharness.kernel.domain.model_choice import ModelChoice, Vendor
from pluggableharness.kernel.domain.news import Notice
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.kernel.domain.profile import Profile
from pluggableharness.kernel.models.answering import Answering
from pluggableharness.kernel.models.patience import Patience
from pluggableharness.kernel.models.vendors import VendorModels

KEY = "a-key-of-the-tests"
AT_ONCE = Patience(first_s=0.0)
TOOLS = (operation("look"), operation("list"))
ASKED = Message(Role.USER, (Text("what is there?"),))


@dataclass(frozen=True)
class Spoken:
    """A vendor, the prefix of its streams' files, and the model that they are of."""

    vendor: Vendor
    stream: str
    model: str

    def choice(self, server: ModelServer) -> ModelChoice:
        """The vendor's model, on a server of this machine."""
        rooted = self.vendor in (Vendor.ANTHROPIC, Vendor.GOOGLE)
        return ModelChoice(self.vendor, self.model, server.root if rooted else server.url, "KEY")

    @property
    def name(self) -> str:
        return f"{self.vendor.value}:{self.model}"


ANTHROPIC = Spoken(Vendor.ANTHROPIC, "anthropic", "claude-sonnet-5-5")
OPENAI = Spoken(Vendor.OPENAI, "responses", "gpt-5")
GOOGLE = Spoken(Vendor.GOOGLE, "google", "gemini-2.5-pro")
COMPATIBLE = Spoken(Vendor.COMPATIBLE, "chat", "small")
ALL = (ANTHROPIC, OPENAI, GOOGLE, COMPATIBLE)


@dataclass
class Listener:
    """Writes down what a model tells while it answers."""

    texts: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    async def __call__(self, piece: str | Notice) -> None:
        if isinstance(piece, Notice):
            self.notices.append(piece.message)
        else:
            self.texts.append(piece)


@asynccontextmanager
async def answering(
    *choices: ModelChoice, patience: Patience = AT_ONCE
) -> AsyncIterator[Answering]:
    """The model of a session whose profile has these choices."""
    async with AsyncExitStack() as closing:
        models = VendorModels({"KEY": KEY}, closing, patience)
        yield models(Profile("tests", models=choices, retries=patience.retries))


async def one_reply(
    spoken: Spoken,
    played: Played,
    history: Sequence[Message] = (ASKED,),
    offered: Sequence[Operation] = TOOLS,
    listener: Listener | None = None,
) -> tuple[ModelReply, ModelServer]:
    """What the model makes of one stream, and the server that has played it."""
    with ModelServer([played]) as server:
        async with answering(spoken.choice(server)) as model:
            reply = await model.reply(history, offered, listener or Listener())
    return reply, server


def answered(message: Message) -> Message:
    """The results of a message's calls, each a success."""
    return Message(
        Role.USER,
        tuple(
            ToolResult(call.tool_use_id, call.name, Success({"did": call.name}))
            for call in message.calls
        ),
    )
