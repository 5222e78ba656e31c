"""What the built-in providers declare, known without starting them (F11).

`known.json` is written by scripts/known_providers.py from the providers themselves.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from pluggableharness.kernel.config.config import Known
from pluggableharness.kernel.domain.settings import Setting, SettingType


@cache
def built_in() -> Mapping[str, Known]:
    """Every built-in provider by name, in the order in which they are offered."""
    text = resources.files(__package__).joinpath("known.json").read_text(encoding="utf-8")
    return {
        name: Known(
            tuple(map(_setting, declared["settings"])),
            tuple(declared["operations"]),
            {one: tuple(names) for one, names in declared["operations"].items()},
        )
        for name, declared in json.loads(text).items()
    }


def _setting(declared: Mapping[str, Any]) -> Setting:
    return Setting(
        declared["name"],
        SettingType(declared["type"]),
        declared["required"],
        declared["sensitive"],
        declared["description"],
        tuple(map(_setting, declared["settings"])),
        declared["default"],
    )
