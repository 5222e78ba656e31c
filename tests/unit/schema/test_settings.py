"""A provider's configuration is held against what it declares (P28, P31)."""

import pytest

from pluggableharness.kernel.domain.settings import Setting, SettingType
from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.schema.settings import secrets, setting_problems, with_defaults

SETTINGS = (
    Setting("roots", SettingType.LIST_STRING, default=["/"]),
    Setting("key", SettingType.STRING, required=True, sensitive=True, description="The key."),
    Setting(
        "search",
        SettingType.OBJECT,
        settings=(
            Setting("engine", SettingType.STRING, default="x"),
            Setting("tokens", SettingType.MAP_STRING, sensitive=True),
            Setting("limit", SettingType.NUMBER, required=True),
        ),
    ),
)


@pytest.mark.req("P28")
def test_a_configuration_that_fits_has_no_problems() -> None:
    config: dict[str, Json] = {
        "key": "k",
        "search": {"limit": 3, "tokens": {"a": "b"}},
        "roots": [],
    }
    assert [str(one) for one in setting_problems(SETTINGS, config)] == []


@pytest.mark.req("P28")
def test_every_missing_unknown_or_wrong_field_is_named() -> None:
    config: dict[str, Json] = {"root": ["/"], "roots": [1], "search": {"engine": 5}}
    assert [str(one) for one in setting_problems(SETTINGS, config)] == [
        "root: there is no such setting; did you mean roots?",
        "roots: expected a list of strings, got a list",
        "key: missing; it is a string: The key.",
        "search.engine: expected a string, got a number",
        "search.limit: missing; it is a number",
    ]


@pytest.mark.req("P28", "P31")
@pytest.mark.parametrize("value", [["s3cret"], {"a": "s3cret"}, 5, True])
def test_a_wrong_sensitive_value_is_not_shown(value: Json) -> None:
    [problem] = map(str, setting_problems(SETTINGS, {"key": value}))
    assert problem.startswith("key: expected a string")
    assert "s3cret" not in problem


@pytest.mark.req("P28")
def test_a_boolean_is_no_number_and_infinity_is_none_either() -> None:
    numbers = [Setting("n", SettingType.NUMBER), Setting("l", SettingType.LIST_NUMBER)]
    wrong: dict[str, Json] = {"n": True, "l": [float("inf")]}
    assert len(list(setting_problems(numbers, wrong))) == 2


@pytest.mark.req("P28")
def test_declared_defaults_fill_what_is_missing_at_every_level() -> None:
    filled = with_defaults(SETTINGS, {"key": "k", "search": {"limit": 1}})
    assert filled == {"key": "k", "roots": ["/"], "search": {"limit": 1, "engine": "x"}}


@pytest.mark.req("P31")
def test_secrets_are_found_wherever_they_stand() -> None:
    config: dict[str, Json] = {"key": "one", "search": {"tokens": {"a": "two"}, "engine": "open"}}
    assert secrets(SETTINGS, config) == ("one", "two")
