"""What a provider can be configured with, as it declares it (F5)."""

from dataclasses import dataclass
from enum import Enum

from pluggableharness.kernel.domain.values import Json


class SettingType(Enum):
    """The types that a setting can have."""

    STRING = "string"
    NUMBER = "number"
    BOOL = "bool"
    LIST_STRING = "list_string"
    LIST_NUMBER = "list_number"
    MAP_STRING = "map_string"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class Setting:
    """One attribute of a provider's block.

    `default` is None when there is none; `sensitive` values appear in no message, log or
    event (P31, F6). `settings` are those of an object.
    """

    name: str
    type: SettingType
    required: bool = False
    sensitive: bool = False
    description: str = ""
    settings: tuple["Setting", ...] = ()
    default: Json = None
