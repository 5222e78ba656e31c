"""The page on agent.hcl names everything that there is, and its example is right."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from pluggableharness.kernel.config.config import Settings
from pluggableharness.kernel.config.functions import FUNCTIONS
from pluggableharness.kernel.config.load import LOG_LEVELS, MODES, POINTS
from pluggableharness.kernel.config.profiles import ATTRIBUTES
from pluggableharness.kernel.config.project import file_config
from pluggableharness.kernel.config.provider_block import RESERVED
from pluggableharness.kernel.domain.profile import Profile
from pluggableharness.kernel.policy import Action

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "agent-hcl.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "configured-project" / "agent.hcl"


@pytest.mark.req("F11")
@pytest.mark.parametrize(
    "names",
    [FUNCTIONS, POINTS, MODES, LOG_LEVELS, RESERVED, ATTRIBUTES, [one.value for one in Action]],
)
def test_the_page_names_what_the_code_takes(names: Iterable[str]) -> None:
    assert [name for name in names if f"`{name}`" not in PAGE.replace('"', "")] == []


def test_the_page_tells_the_defaults_of_the_code() -> None:
    settings, profile = Settings(), Profile("x")
    assert f"| `{settings.log_level}` |\n" in PAGE
    assert f"0 to 10; a failed call at most twice | {settings.retry} |" in PAGE
    assert f"at once | {profile.max_concurrent_subagents} |" in PAGE


@pytest.mark.req("F1", "F7", "F9", "F10")
def test_the_example_is_right() -> None:
    config = file_config(EXAMPLE, EXAMPLE.parent, os.environ)
    assert config.warnings == ()
    assert config.profiles["reader"].tools == ("filesystem.read_file",)
    assert [one.name for one in config.providers][:3] == ["filesystem", "search", "exec"]
