"""Declared settings from the wire (F5)."""

import json

from pluggableharness.kernel.codec.enums import members
from pluggableharness.kernel.domain.settings import Setting, SettingType
from pluggableharness.wire import config_pb2

SETTING_TYPES = members(SettingType, config_pb2.AttrType, "ATTR_TYPE")
"""The domain's type for each of the wire's numbers."""


def setting_from_wire(raw: config_pb2.ConfigAttribute) -> Setting:
    """Return a setting whose message passed the contract check."""
    return Setting(
        name=raw.name,
        type=SETTING_TYPES[raw.type],
        required=raw.required,
        sensitive=raw.sensitive,
        description=raw.description,
        settings=tuple(setting_from_wire(inner) for inner in raw.object_attributes),
        default=json.loads(raw.default_json) if raw.HasField("default_json") else None,
    )
