"""Writes what the built-in providers declare, so that agent.hcl is checked without starting them.

`--check` only compares. The output is committed.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

from pluggableharness.kernel.codec.settings import setting_from_wire
from pluggableharness.kernel.domain.settings import Setting
from pluggableharness.kernel.first_party import NAMES

COMMITTED = Path(__file__).parents[1] / "src/pluggableharness/kernel/config/known.json"


def main() -> int:
    """Bring the file up to date, or with `--check` fail when it is not."""
    fresh = json.dumps({name: declared(name) for name in NAMES}, indent=1) + "\n"
    if "--check" not in sys.argv[1:]:
        COMMITTED.write_text(fresh, encoding="utf-8")
        return 0
    if COMMITTED.read_text(encoding="utf-8") == fresh:
        return 0
    print(f"{COMMITTED.name} is stale: run python {Path(__file__).name}", file=sys.stderr)
    return 1


def declared(name: str) -> dict[str, Any]:
    """The names of a provider's operations with those of their arguments, and its settings."""
    provider = importlib.import_module(f"pluggableharness.providers.{name}.provider").provider
    attributes = provider.settings.schema.attributes
    return {
        "operations": {
            name: list(operation.arguments.properties)
            for name, operation in provider.operations.items()
        },
        "settings": [shown(setting_from_wire(one)) for one in attributes],
    }


def shown(setting: Setting) -> dict[str, Any]:
    """A setting as JSON."""
    return {
        "name": setting.name,
        "type": setting.type.value,
        "required": setting.required,
        "sensitive": setting.sensitive,
        "description": setting.description,
        "default": setting.default,
        "settings": [shown(one) for one in setting.settings],
    }


if __name__ == "__main__":
    sys.exit(main())
