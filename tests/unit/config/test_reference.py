"""The page on agent.hcl names everything that there is, and its example is right."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pluggableharness.kernel.config.config import Settings
from pluggableharness.kernel.config.functions import FUNCTIONS
from pluggableharness.kernel.config.load import LOG_LEVELS, MODES, POINTS
from pluggableharness.kernel.config.project import file_config
from pluggableharness.kernel.config.reading import Fields
from pluggableharness.kernel.domain.profile import Profile
from pluggableharness.kernel.policy import Action

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "agent-hcl.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "configured-project" / "agent.hcl"


@pytest.mark.req("F11")
@pytest.mark.parametrize(
    "names",
    [FUNCTIONS, POINTS, MODES, LOG_LEVELS, [one.value for one in Action]],
)
def test_the_page_names_what_the_code_takes(names: Iterable[str]) -> None:
    assert [name for name in names if f"`{name}`" not in PAGE.replace('"', "")] == []


WHOLE = """
provider "exec" {}
policy "a" {
  action = "ask"
}
agent_profile "a" {
  model {
    primary {
      provider = "openai"
      id       = "x"
    }
  }
}
hook "session-end" {
  provider = "exec"
  mode     = "observe"
}
settings {}
"""


def taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """The names that the code takes, by the kind of block that they stand in."""
    found: dict[str, set[str]] = {}
    begin = Fields.__init__

    def noting(self: Fields, *given: Any) -> None:
        _, _, what, *names = given
        found.setdefault(what.split()[0], set()).update(*names)
        begin(self, *given)

    monkeypatch.setattr(Fields, "__init__", noting)
    (tmp_path / "agent.hcl").write_text(WHOLE)
    file_config(tmp_path / "agent.hcl", tmp_path, os.environ)
    return found


@pytest.mark.req("F1", "F11")
def test_each_table_has_the_names_that_the_code_takes_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = taken(tmp_path, monkeypatch)
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    listed: dict[str, set[str]] = {}
    for block in ("provider", "policy", "agent_profile", "hook", "settings"):
        (section,) = (one for one in sections if one.startswith(f"`{block}"))
        cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
        listed[block] = {name for cell in cells for name in re.findall(r"`(\w+)", cell)}
    assert listed["provider"] == names["provider"]
    assert listed["policy"] == names["policy"]
    assert listed["agent_profile"] == names["agent_profile"] | names["primary"]
    assert listed["hook"] == names["hook"]
    assert listed["settings"] == names["settings"]


def test_the_page_tells_the_defaults_of_the_code() -> None:
    settings, profile = Settings(), Profile("x")
    assert f"| `{settings.log_level}` |\n" in PAGE
    assert f"0 to 10; a failed call at most twice | {settings.retry} |" in PAGE
    assert f"at once | {profile.max_concurrent_subagents} |" in PAGE
    assert f"3 to 5 | {profile.bounds.doom_loop} |" in PAGE


@pytest.mark.req("F1", "F7", "F9", "F10")
def test_the_example_is_right() -> None:
    config = file_config(EXAMPLE, EXAMPLE.parent, os.environ)
    assert config.warnings == ()
    assert config.profiles["reader"].tools == ("filesystem.read_file",)
    assert [one.name for one in config.providers][:3] == ["filesystem", "search", "exec"]
