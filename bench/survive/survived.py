"""What a survival run tells."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Survived:
    """One run: what was done, what was counted, what did not hold, and what was left behind."""

    id: str
    done: str
    counts: Mapping[str, float]
    faults: tuple[str, ...] = field(default_factory=tuple)
    left: tuple[str, ...] = field(default_factory=tuple)

    @property
    def held(self) -> bool:
        """Whether everything held and nothing was left."""
        return not self.faults and not self.left
