"""Configurations from texts, for the tests of this folder."""

from collections.abc import Mapping
from pathlib import Path

from pluggableharness.kernel.config.config import Config, Known
from pluggableharness.kernel.config.load import load
from pluggableharness.kernel.config.source import ConfigError, Source
from pluggableharness.kernel.domain.settings import Setting, SettingType

ROOT = Path("/project")
KNOWN = {
    "filesystem": Known(
        (
            Setting("allowed_roots", SettingType.LIST_STRING, default=[]),
            Setting("require_read", SettingType.BOOL, default=True),
        ),
        ("read_file", "write_file", "edit_file"),
    ),
    "exec": Known((Setting("shell", SettingType.STRING, default="bash"),), ("bash",)),
    "web": Known(
        (
            Setting("api_key", SettingType.STRING, sensitive=True),
            Setting("engine", SettingType.STRING, required=True),
            Setting(
                "proxy",
                SettingType.OBJECT,
                settings=(
                    Setting("address", SettingType.STRING),
                    Setting("password", SettingType.STRING, sensitive=True),
                ),
            ),
        ),
        ("web_search", "web_fetch"),
    ),
}
"""Built-in providers of these tests: one of them has secrets and a required setting."""


def read(
    text: str,
    environment: Mapping[str, str] | None = None,
    known: Mapping[str, Known] | None = None,
) -> Config:
    return load(
        ROOT / "agent.hcl",
        Source("agent.hcl", text),
        environment or {"HOME": "/home/ada"},
        _quiet() if known is None else known,
        working_directory=ROOT / "sub",
        version="1.4.0",
    )


def _quiet() -> Mapping[str, Known]:
    """Those that need no setting."""
    return {name: KNOWN[name] for name in ("filesystem", "exec")}


def problems(
    text: str,
    environment: Mapping[str, str] | None = None,
    known: Mapping[str, Known] | None = None,
) -> list[str]:
    """The first line of every problem, the file's name left out."""
    try:
        read(text, environment, known)
    except ConfigError as error:
        lines = str(error).splitlines()
        return [line.removeprefix("agent.hcl:") for line in lines if not line.startswith("    ")]
    return []
