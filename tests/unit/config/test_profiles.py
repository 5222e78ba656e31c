"""Profiles: tools, models and bounds (F9, F10, K20, K23)."""

from pathlib import Path

import pytest
from unit.config.reading_files import KNOWN, problems, read

from pluggableharness.kernel.config.profiles import tool_problem
from pluggableharness.kernel.config.show import shown
from pluggableharness.kernel.config.source import ConfigError
from pluggableharness.kernel.domain.model_choice import ModelChoice, Vendor
from pluggableharness.kernel.models.vendors import USUAL_ADDRESSES, USUAL_KEYS


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
      provider = "anthropic"
      id       = "1"
    }
    fallback {
      provider = "openai-compatible"
      id       = "2"
      base_url = "http://localhost:11434/v1"
    }
    fallback {
      provider = "google"
      id       = "3"
      key      = env("A_KEY")
    }
  }
}
"""
    config = read(text, environment={"A_KEY": "the-secret-itself"})
    assert config.profiles["default"].models == (
        ModelChoice(Vendor.ANTHROPIC, "1"),
        ModelChoice(Vendor.COMPATIBLE, "2", "http://localhost:11434/v1"),
        ModelChoice(Vendor.GOOGLE, "3", key_variable="A_KEY"),
    )
    assert "the-secret-itself" not in repr(config)
    assert 'key      = env("A_KEY")' in shown(config, KNOWN)
    assert "the-secret-itself" not in shown(config, KNOWN)


@pytest.mark.req("F10")
def test_a_model_needs_a_primary_with_both_its_parts() -> None:
    text = (
        'agent_profile "x" {\n  model {\n    fallback {\n      provider = "google"\n    }\n  }\n}\n'
    )
    assert [one.split(": ")[0] for one in problems(text)] == ["2:3", "3:5"]
    two = 'agent_profile "x" {\n  model {\n    primary { provider = "a", id = "b" }\n  }\n}\n'
    assert problems(two)[0].startswith("3:29: expected '}', or each attribute on a line of its own")


def with_primary(*attributes: str) -> str:
    inner = "".join(f"      {one}\n" for one in attributes)
    return f'agent_profile "x" {{\n  model {{\n    primary {{\n{inner}    }}\n  }}\n}}\n'


@pytest.mark.req("F10", "F1")
@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (('provider = "anthropc"', 'id = "1"'), "did you mean anthropic?"),
        (('id = "1"',), "needs 'provider': one of anthropic, openai, google, openai-compatible"),
        (('provider = "openai"', 'id = "1"', 'base_url = "localhost"'), "http://"),
        (('provider = "openai"', 'id = "1"', 'base_url = "http://a:b@c"'), "an address such as"),
    ],
)
def test_a_wrong_model_is_an_error_that_says_what_is_right(
    attributes: tuple[str, ...], expected: str
) -> None:
    (found,) = problems(with_primary(*attributes))
    assert expected in found


@pytest.mark.req("F10")
@pytest.mark.parametrize("written", ["two words", " x", "x\u00a0", "a,b", "'x'", ":x", "/", "(x)"])
def test_an_id_that_no_model_can_have_is_an_error_at_its_place(written: str) -> None:
    (found,) = problems(with_primary('provider = "google"', f'id = "{written}"'))
    assert found.startswith("5:12: 'id' is the vendor's name for the model, one word such as")


@pytest.mark.req("F6", "F10")
@pytest.mark.parametrize("written", ['"sk-abc"', '"${env("A_KEY")}"', 'lower(env("A_KEY"))'])
def test_a_key_is_named_and_never_written(written: str) -> None:
    text = with_primary('provider = "openai"', 'id = "1"', f"key = {written}")
    with pytest.raises(ConfigError) as refused:
        read(text, {"A_KEY": "the-secret-itself"})
    assert 'must be written exactly env("NAME")' in str(refused.value)
    assert "sk-abc" not in str(refused.value)
    assert "the-secret-itself" not in str(refused.value)


@pytest.mark.req("F10", "K36")
def test_the_how_to_is_right() -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "choose-a-model.md").read_text()
    text = page.split("```hcl\n")[1].split("```")[0]
    profiles = read(text, {"READERS_KEY": "x"}).profiles
    names = {name: [model.name for model in one.models] for name, one in profiles.items()}
    assert names == {
        "default": ["anthropic:claude-sonnet-5-5", "openai-compatible:qwen3"],
        "reader": ["google:gemini-2.5-pro"],
    }
    usual = [name for names in USUAL_KEYS.values() for name in names]
    assert [name for name in (*usual, *USUAL_ADDRESSES.values()) if f"`{name}`" not in page] == []


@pytest.mark.req("F6", "F10")
def test_a_key_that_is_not_set_is_an_error_at_load() -> None:
    (found,) = problems(with_primary('provider = "openai"', 'id = "1"', 'key = env("A_KEY")'))
    assert "the environment variable A_KEY is not set" in found


@pytest.mark.req("K18")
@pytest.mark.parametrize("outside", ["2", "6", "3.5", "0"])
def test_no_other_threshold_of_the_doom_loop_than_3_to_5_is_taken(outside: str) -> None:
    text = f'agent_profile "x" {{\n  doom_loop_threshold = {outside}\n}}\n'
    (found,) = problems(text)
    assert "a whole number from 3 to 5" in found


@pytest.mark.req("K18", "K20", "K23")
def test_bounds_and_reach_are_read() -> None:
    text = """\
agent_profile "x" {
  max_turns                = 5
  max_cost_usd             = 0.5
  max_wall_clock_s         = 60
  doom_loop_threshold      = 4
  depth                    = 0
  max_concurrent_subagents = 2
}
"""
    profile = read(text).profiles["x"]
    assert profile.doom_loop_threshold == 4
    assert (profile.max_turns, profile.max_cost_usd, profile.max_wall_clock_s) == (5, 0.5, 60.0)
    assert (profile.depth, profile.max_concurrent_subagents) == (0, 2)
