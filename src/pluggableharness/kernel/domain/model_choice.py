"""Which language model a session talks to (F10, K36)."""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

MODEL_ID: Final = (
    "the vendor's name for the model, one word such as claude-sonnet-5-5, qwen3:8b or "
    "meta-llama/Llama-3.3-70B"
)
"""What an id looks like, for whoever has written something else."""

_ID: Final = re.compile(r"[@~./]*\w[\w.:/@~+=-]*")


class Vendor(Enum):
    """Whose interface a model is reached by; COMPATIBLE is anyone's that speaks OpenAI's."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    GOOGLE = "google"
    COMPATIBLE = "openai-compatible"


def is_model_id(text: str) -> bool:
    """Whether a text can be the id of a model at any vendor.

    Vendors have paths and tags with colons in theirs, services of one's own any letters; none
    has a blank, a quote or a bracket.
    """
    return _ID.fullmatch(text) is not None


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
