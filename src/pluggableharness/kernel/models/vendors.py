"""The models of vendors for the sessions of a kernel (F10, K36).

Knows which address and which key belong to a choice; how a vendor is spoken to is the matter
of `vendor`, which is imported when the first such model is needed.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.message import ModelReply
from pluggableharness.kernel.domain.model_choice import (
    MODEL_ID,
    ModelChoice,
    Vendor,
    is_model_id,
)
from pluggableharness.kernel.domain.profile import Profile
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.models.answering import Answering, Asked, Candidate, Reach, TextHeard
from pluggableharness.kernel.models.fault import FaultKind, ModelFault
from pluggableharness.kernel.models.patience import PATIENT, Patience
from pluggableharness.kernel.models.reachable import check_address, check_key

VENDORS = ", ".join(vendor.value for vendor in Vendor)

USUAL_KEYS: Mapping[Vendor, tuple[str, ...]] = {
    Vendor.ANTHROPIC: ("ANTHROPIC_API_KEY",),
    Vendor.OPENAI: ("OPENAI_API_KEY",),
    Vendor.GOOGLE: ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    Vendor.COMPATIBLE: ("OPENAI_API_KEY",),
}
"""The variables that hold a vendor's key where the file names none, the first that is set."""

USUAL_ADDRESSES: Mapping[Vendor, str] = {
    Vendor.ANTHROPIC: "ANTHROPIC_BASE_URL",
    Vendor.OPENAI: "OPENAI_BASE_URL",
    Vendor.GOOGLE: "GOOGLE_GEMINI_BASE_URL",
    Vendor.COMPATIBLE: "OPENAI_BASE_URL",
}
"""The variable that holds a vendor's address where the file has none."""


_HOW_TO_CHOOSE = f"""\
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


def model_choice(written: str) -> ModelChoice:
    """The choice that PROVIDER:ID is. Raises UsageError."""
    provider, _, model = written.partition(":")
    vendor = next((one for one in Vendor if one.value == provider), None)
    if vendor is None or not is_model_id(model):
        raise UsageError(
            f"{in_quotes(written)}: name a model as PROVIDER:ID, where PROVIDER is one "
            f"of {VENDORS}, and ID is {MODEL_ID}"
        )
    return ModelChoice(vendor, model)


@dataclass(frozen=True, slots=True)
class Barred:
    """A candidate that cannot be asked, and why."""

    name: str
    barred: str

    async def reach(self) -> Reach:
        """Nobody knows."""
        return Reach()

    async def reply(self, asked: Asked, heard: TextHeard) -> ModelReply:
        """Nothing. Raises ModelFault."""
        raise ModelFault(FaultKind.HOPELESS, self.barred)


@dataclass(frozen=True, slots=True)
class Opening:
    """A candidate that is made when it is first asked."""

    name: str
    model: Callable[[], Awaitable[Candidate]]

    async def reach(self) -> Reach:
        """What it takes."""
        return await (await self.model()).reach()

    async def reply(self, asked: Asked, heard: TextHeard) -> ModelReply:
        """The next message, asked for once. Raises ModelFault."""
        return await (await self.model()).reply(asked, heard)


class VendorModels:
    """Makes the models of sessions; those of one choice share their connections."""

    def __init__(
        self, environment: Mapping[str, str], closing: AsyncExitStack, patience: Patience
    ) -> None:
        """Take keys and addresses from `environment`; connections end with `closing`."""
        self._environment = environment
        self._closing = closing
        self._patience = patience
        self._made: dict[ModelChoice, Candidate] = {}
        self._opening = asyncio.Lock()

    def __call__(self, profile: Profile) -> Answering:
        """The model of a session under a profile.

        A fallback that cannot be asked, for want of a key say, counts as one that fails.
        Raises UsageError when the profile has none that can be asked.
        """
        if not profile.models:
            raise UsageError(_HOW_TO_CHOOSE)
        candidates = [self._candidate(choice) for choice in profile.models]
        barred = [one.barred for one in candidates if isinstance(one, Barred)]
        if len(barred) == len(candidates):
            raise UsageError("\n".join(barred))
        patience = replace(self._patience, retries=profile.retries)
        return Answering(candidates, patience)

    def _candidate(self, choice: ModelChoice) -> Candidate:
        try:
            address = self._address(choice)
            variable, key = self._key(choice)
        except UsageError as error:
            return Barred(choice.name, str(error))
        return Opening(choice.name, lambda: self._opened(choice, address, variable, key))

    async def _opened(
        self, choice: ModelChoice, address: str, variable: str, key: str
    ) -> Candidate:
        async with self._opening:
            if choice not in self._made:
                # Importing its library takes seconds on a busy machine, and an interrupt has to
                # be heard meanwhile.
                made = await asyncio.to_thread(_vendor_model, choice, address, variable, key)
                self._made[choice], close = made
                self._closing.push_async_callback(close)
            return self._made[choice]

    def _address(self, choice: ModelChoice) -> str:
        variable = USUAL_ADDRESSES[choice.vendor]
        address = choice.base_url or self._environment.get(variable, "")
        if not address and choice.vendor is Vendor.COMPATIBLE:
            raise UsageError(
                f"{choice.name}: where is it? Write base_url into its block in agent.hcl, or set "
                f"the environment variable {variable}, such as http://localhost:11434/v1"
            )
        if address:
            check_address(choice.name, "base_url" if choice.base_url else variable, address)
        return address

    def _key(self, choice: ModelChoice) -> tuple[str, str]:
        """The key after the name of its variable; "" and "" where none is needed.

        To an address that the file names for a compatible service goes only the key that the
        file names for it: the usual variable holds somebody else's. Raises UsageError when
        there is none.
        """
        variables = USUAL_KEYS[choice.vendor]
        if choice.key_variable:
            variables = (choice.key_variable,)
        elif choice.vendor is Vendor.COMPATIBLE and choice.base_url:
            return "", ""
        for variable in variables:
            if key := self._environment.get(variable):
                check_key(choice.name, variable, key)
                return variable, key
        if choice.vendor is Vendor.COMPATIBLE:
            return "", ""
        raise UsageError(
            f"{choice.name}: there is no key. Set the environment variable "
            f"{' or '.join(variables)} before the harness starts"
        )


def _vendor_model(
    choice: ModelChoice, address: str, variable: str, key: str
) -> tuple[Candidate, Callable[[], Awaitable[None]]]:
    """The model, and what closes its connections."""
    # The library behind it takes a second to import: only when it is to answer.
    from pluggableharness.kernel.models.vendor.clients import http_client, library_model
    from pluggableharness.kernel.models.vendor.model import VendorModel

    http = http_client(address)
    library = library_model(choice, address, key or None, http)
    return VendorModel(choice.name, library, variable, key), http.aclose


@asynccontextmanager
async def vendor_models(
    environment: Mapping[str, str], patience: Patience = PATIENT
) -> AsyncIterator[VendorModels]:
    """Models for the length of a block; their connections end with it."""
    async with AsyncExitStack() as closing:
        yield VendorModels(environment, closing, patience)
