"""Profiles: tools, models and bounds (F9, F10, K20, K23)."""

import pytest
from unit.config.reading_files import problems, read

from pluggableharness.kernel.config.config import ModelChoice
from pluggableharness.kernel.config.profiles import tool_problem


def tools(written: str) -> str:
    return f'agent_profile "default" {{\n  tools = {written}\n}}\n'


@pytest.mark.req("F9")
def test_tools_are_operations_or_whole_providers() -> None:
    profile = read(tools('["filesystem.*", "exec.bash"]')).profiles["default"]
    assert profile.tools == ("filesystem.*", "exec.bash")


@pytest.mark.req("F9", "K23")
def test_no_tools_are_no_tools() -> None:
    assert read('agent_profile "default" {\n}\n').profiles["default"].tools == ()


@pytest.mark.req("F9")
@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("filesystem.readfile", "did you mean filesystem.read_file?"),
        ("filesystem", "is not PROVIDER.OPERATION or PROVIDER.*"),
        (".x", "is not PROVIDER.OPERATION"),
        ("exec.", "is not PROVIDER.OPERATION"),
    ],
)
def test_a_wrong_tool_is_an_error_at_its_place(tool: str, expected: str) -> None:
    (found,) = problems(tools(f'["exec.*", "{tool}"]'))
    assert found.startswith("2:22: ")
    assert expected in found


@pytest.mark.req("F9")
def test_a_provider_that_is_not_loaded_is_ignored() -> None:
    assert problems(tools('["elsewhere.anything", "elsewhere.*"]')) == []
    assert tool_problem("other.x", {"other": ("y",)}) is not None


@pytest.mark.req("F10")
def test_a_model_has_fallbacks_in_their_order() -> None:
    text = """\
agent_profile "default" {
  model {
    primary {
      provider = "a"
      id       = "1"
    }
    fallback {
      provider = "b"
      id       = "2"
    }
    fallback {
      provider = "c"
      id       = "3"
    }
  }
}
"""
    assert read(text).profiles["default"].models == (
        ModelChoice("a", "1"),
        ModelChoice("b", "2"),
        ModelChoice("c", "3"),
    )


@pytest.mark.req("F10")
def test_a_model_needs_a_primary_with_both_its_parts() -> None:
    text = 'agent_profile "x" {\n  model {\n    fallback {\n      provider = "a"\n    }\n  }\n}\n'
    assert [one.split(": ")[0] for one in problems(text)] == ["2:3", "3:5"]
    two = 'agent_profile "x" {\n  model {\n    primary { provider = "a", id = "b" }\n  }\n}\n'
    assert problems(two)[0].startswith("3:29: expected '}', or each attribute on a line of its own")


@pytest.mark.req("K20", "K23")
def test_bounds_and_reach_are_read() -> None:
    text = """\
agent_profile "x" {
  max_turns                = 5
  max_cost_usd             = 0.5
  max_wall_clock_s         = 60
  depth                    = 0
  max_concurrent_subagents = 2
}
"""
    profile = read(text).profiles["x"]
    assert (profile.max_turns, profile.max_cost_usd, profile.max_wall_clock_s) == (5, 0.5, 60.0)
    assert (profile.depth, profile.max_concurrent_subagents) == (0, 2)
