"""Which language model a session talks to (F10, K36)."""

from dataclasses import dataclass
from enum import Enum


class Vendor(Enum):
    """Whose interface a model is reached by; COMPATIBLE is anyone's that speaks OpenAI's."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    GOOGLE = "google"
    COMPATIBLE = "openai-compatible"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model as a vendor knows it.

    `base_url` "" is the vendor's usual address. `key_variable` names the environment variable
    that holds the key, "" for the vendor's usual one; the key itself stands nowhere (F6).
    """

    vendor: Vendor
    id: str
    base_url: str = ""
    key_variable: str = ""

    @property
    def name(self) -> str:
        """`vendor:id`, by which people and the record speak of it."""
        return f"{self.vendor.value}:{self.id}"
