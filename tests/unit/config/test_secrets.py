"""Secrets are named, never written, and shown nowhere (F6, P31)."""

import pytest
from unit.config.reading_files import KNOWN, problems, read

from pluggableharness.kernel.config.provider_block import late_problems
from pluggableharness.kernel.config.show import shown
from pluggableharness.kernel.config.source import ConfigError
from pluggableharness.kernel.domain.settings import Setting, SettingType

SECRET = "sk-live-4711"
WEB = {"web": KNOWN["web"]}
ENVIRONMENT = {"HOME": "/home/ada", "KEY": SECRET, "NAME": "KEY"}


def block(line: str) -> str:
    return f'provider "web" {{\n  engine = "e"\n  {line}\n}}\n'


@pytest.mark.req("F6")
def test_a_secret_is_written_as_a_variable_by_name() -> None:
    (provider,) = read(block('api_key = env("KEY")'), ENVIRONMENT, WEB).providers
    assert provider.config["api_key"] == SECRET
    assert provider.written["api_key"].variable == "KEY"


@pytest.mark.req("F6", "P31")
@pytest.mark.parametrize(
    "written",
    [
        f'"{SECRET}"',
        f'"${{"{SECRET}"}}"',
        '"${env("KEY")}"',
        'env("${env("NAME")}")',
        '(1 == 1 ? env("KEY") : "")',
        'trimspace(env("KEY"))',
        'env(["KEY"]...)',
        'env("KEY"...)',
        "env(<<E\nKEY\nE\n)",
        "null",
        f"<<E\n{SECRET}\nE",
    ],
)
def test_anything_but_a_plain_variable_is_refused_and_not_shown(written: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(block(f"api_key = {written}"), ENVIRONMENT, WEB)
    assert "agent.hcl:3:3: 'api_key' is a secret and must be written exactly" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.req("F6")
@pytest.mark.parametrize(
    "written",
    [
        f'proxy = {{ password = "{SECRET}" }}',
        f'proxy {{\n password = "{SECRET}"\n }}',
        f'proxy = {{ for k in ["password"] : k => "{SECRET}" }}',
        f'proxy = {{ ("password") = "{SECRET}" }}',
        f'proxy = true ? {{ password = "{SECRET}" }} : {{}}',
    ],
)
def test_a_secret_within_an_object_is_held_to_the_same(written: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(block(written), ENVIRONMENT, WEB)
    assert "'proxy.password' is a secret" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.req("F6")
def test_an_unset_variable_is_an_error_that_names_it() -> None:
    (found,) = problems(block('api_key = env("KEYY")'), ENVIRONMENT, WEB)
    assert found.startswith("3:13: the environment variable KEYY is not set")


@pytest.mark.req("F6")
def test_a_broken_line_does_not_show_what_is_quoted_in_it() -> None:
    with pytest.raises(ConfigError) as caught:
        read(f'provider "web" {{ api_key = "{SECRET}" "{SECRET}" }}\n')
    assert SECRET not in str(caught.value)


@pytest.mark.req("F6")
def test_what_takes_effect_is_shown_with_variables_by_name() -> None:
    text = block('api_key = env("KEY")\n  proxy = { address = "a", password = env("KEY") }')
    effective = shown(read(text, ENVIRONMENT, WEB), WEB)
    assert SECRET not in effective
    assert 'api_key = env("KEY")' in effective
    assert 'password = env("KEY")' in effective


@pytest.mark.req("F6")
def test_what_a_provider_declares_late_is_held_to_the_same() -> None:
    """Settings of a provider that is not built in are known only when it runs."""
    text = f"""\
required_providers {{
  other = {{ source = "python:other" }}
}}
provider "other" {{
  key     = "{SECRET}"
  kept    = env("KEY")
  inner   = {{ for k in ["deep"] : k => "{SECRET}" }}
  wrong   = "x"
}}
"""
    (provider,) = read(text, ENVIRONMENT, WEB).providers
    declared = (
        Setting("key", SettingType.STRING, sensitive=True),
        Setting("kept", SettingType.STRING, sensitive=True),
        Setting(
            "inner",
            SettingType.OBJECT,
            settings=(Setting("deep", SettingType.STRING, sensitive=True),),
        ),
        Setting("wrong", SettingType.NUMBER),
    )
    found = list(late_problems(provider.written, declared, provider.config))
    assert [one.split(" ")[0] for one in found] == [
        "agent.hcl:5:3:",
        "agent.hcl:7:3:",
        "agent.hcl:8:3:",
    ]
    assert SECRET not in "".join(found)
    assert "wrong: expected a number, got a string" in found[2]
