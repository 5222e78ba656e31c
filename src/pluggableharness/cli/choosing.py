"""Which models a name stands for, and going on with others in a conversation."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.model_choice import ModelChoice, Vendor
from pluggableharness.kernel.models.answering import Answering
from pluggableharness.kernel.models.vendors import VendorModels, model_choice
from pluggableharness.kernel.setup import Setup


def named(
    name: str, own: tuple[ModelChoice, ...], others: Iterable[ModelChoice] = ()
) -> tuple[ModelChoice, ...]:
    """The models that a name stands for: `own`, fallbacks included, for that of their first.

    Another that is written down keeps the address and the key of that place. Raises UsageError.
    """
    known = [one for one in (*own, *others) if one.name == name]
    if known and own and known[0] is own[0]:
        return own
    return (known[0],) if known else (model_choice(name),)


@dataclass(slots=True)
class Choosing:
    """The models of one conversation, whichever session it goes on with.

    `answering` is what its sessions are opened with, and `choices` are behind it.
    """

    setup: Setup
    models: VendorModels
    answering: Answering = field(init=False)
    choices: tuple[ModelChoice, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.choices = self.setup.profile.models
        self.answering = self._opened(self.choices)

    def choose(self, name: str) -> None:
        """Let the models of that name answer from the next message on.

        Raises UsageError for a name that is none, and for a model that cannot be asked.
        """
        choices = self._named(name)
        self.answering.give_way_to(self._opened(choices))
        self.choices = choices

    def listed(self) -> Iterator[tuple[str, str]]:
        """The models that are written down, and the vendors that can be asked, with remarks."""
        now = self.answering.name
        written = (one.name for one in (*self.setup.profile.models, *self._others()))
        for name in dict.fromkeys((now, *written)):
            yield name, "answers" if name == now else self._remark(name)
        for vendor in Vendor:
            if not self._barred((ModelChoice(vendor, "any"),)):
                yield f"{vendor.value}:ID", "any of its models: what it needs is set"

    def _named(self, name: str) -> tuple[ModelChoice, ...]:
        return named(name, self.setup.profile.models, self._others())

    def _others(self) -> Iterator[ModelChoice]:
        return (one for profile in self.setup.profiles for one in profile.models)

    def _remark(self, name: str) -> str:
        barred = self._barred(self._named(name))
        return barred.removeprefix(f"{name}: ") if barred else "can answer"

    def _barred(self, choices: tuple[ModelChoice, ...]) -> str:
        """Why these cannot be asked; "" when they can."""
        try:
            self._opened(choices)
        except UsageError as error:
            return str(error)
        return ""

    def _opened(self, choices: tuple[ModelChoice, ...]) -> Answering:
        return self.models(replace(self.setup.profile, models=choices))
