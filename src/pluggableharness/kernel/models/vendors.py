"""The models of vendors for the sessions of a kernel (F10, K36).

Knows which address and which key belong to a choice; how a vendor is spoken to is the matter
of `vendor`, which is imported when the first such model is needed.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Protocol

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.message import Message, ModelReply
from pluggableharness.kernel.domain.model_choice import ModelChoice, Vendor
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.profile import Profile

VENDORS = ", ".join(vendor.value for vendor in Vendor)

_KEYS: Mapping[Vendor, tuple[str, ...]] = {
    Vendor.ANTHROPIC: ("ANTHROPIC_API_KEY",),
    Vendor.OPENAI: ("OPENAI_API_KEY",),
    Vendor.GOOGLE: ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    Vendor.COMPATIBLE: ("OPENAI_API_KEY",),
}
_ADDRESSES: Mapping[Vendor, str] = {
    Vendor.ANTHROPIC: "ANTHROPIC_BASE_URL",
    Vendor.OPENAI: "OPENAI_BASE_URL",
    Vendor.GOOGLE: "GOOGLE_GEMINI_BASE_URL",
    Vendor.COMPATIBLE: "OPENAI_BASE_URL",
}

HOW_TO_CHOOSE = f"""\
no model is chosen. Say which with --model PROVIDER:ID, where PROVIDER is one of {VENDORS}, or
write it into agent.hcl, one attribute a line:
  agent_profile "default" {{
    model {{
      primary {{
        provider = "anthropic"
        id       = "the model's name"
      }}
    }}
  }}
or play a written list of messages with --script FILE."""


class Replying(Protocol):
    """A model, as sessions ask it."""

    @property
    def name(self) -> str:
        """How the record and the person name it."""
        ...

    async def reply(
        self,
        history: Sequence[Message],
        offered: Sequence[Operation],
        heard: Callable[[str], Awaitable[None]],
    ) -> ModelReply:
        """The next message. Raises ModelFailed."""
        ...


def model_choice(written: str) -> ModelChoice:
    """The choice that PROVIDER:ID is. Raises UsageError."""
    provider, _, model = written.partition(":")
    vendor = next((one for one in Vendor if one.value == provider), None)
    if vendor is None or not model:
        raise UsageError(
            f"--model {written}: write PROVIDER:ID, where PROVIDER is one of {VENDORS}, such as "
            "openai-compatible:qwen3"
        )
    return ModelChoice(vendor, model)


class VendorModels:
    """Makes the models of profiles; those of one choice share their connections."""

    def __init__(self, environment: Mapping[str, str], closing: AsyncExitStack) -> None:
        """Take keys and addresses from `environment`; connections end with `closing`."""
        self._environment = environment
        self._closing = closing
        self._made: dict[ModelChoice, Replying] = {}

    def __call__(self, profile: Profile) -> Replying:
        """The model of a profile. Raises UsageError when it has none, or no key for it."""
        if not profile.models:
            raise UsageError(HOW_TO_CHOOSE)
        return self._model(profile.models[0])

    def _model(self, choice: ModelChoice) -> Replying:
        if choice not in self._made:
            address = self._address(choice)
            key = self._key(choice)
            # The library behind it takes a second to import: only when a session needs it.
            from pluggableharness.kernel.models.vendor.clients import http_client, library_model
            from pluggableharness.kernel.models.vendor.model import VendorModel

            http = http_client(address)
            self._closing.push_async_callback(http.aclose)
            library = library_model(choice, address, key, http)
            self._made[choice] = VendorModel(choice.name, library)
        return self._made[choice]

    def _address(self, choice: ModelChoice) -> str:
        variable = _ADDRESSES[choice.vendor]
        address = choice.base_url or self._environment.get(variable, "")
        if not address and choice.vendor is Vendor.COMPATIBLE:
            raise UsageError(
                f"{choice.name}: where is it? Write base_url into its block in agent.hcl, or set "
                f"the environment variable {variable}, such as http://localhost:11434/v1"
            )
        return address

    def _key(self, choice: ModelChoice) -> str | None:
        """The key; None where none is needed. Raises UsageError when it is not there.

        To an address that the file names for a compatible service goes only the key that the
        file names for it: the usual variable holds somebody else's.
        """
        variables = _KEYS[choice.vendor]
        if choice.key_variable:
            variables = (choice.key_variable,)
        elif choice.vendor is Vendor.COMPATIBLE and choice.base_url:
            return None
        found = (self._environment.get(variable) for variable in variables)
        key = next((one for one in found if one), None)
        if key is None and choice.vendor is not Vendor.COMPATIBLE:
            raise UsageError(
                f"{choice.name}: there is no key. Set the environment variable "
                f"{' or '.join(variables)} before the harness starts"
            )
        return key


@asynccontextmanager
async def vendor_models(environment: Mapping[str, str]) -> AsyncIterator[VendorModels]:
    """Models for the length of a block; their connections end with it."""
    async with AsyncExitStack() as closing:
        yield VendorModels(environment, closing)
