"""Providers: where they come from, what is the kernel's and what their own (F3, F5, F7, F8)."""

import sys
from pathlib import Path

import pytest
from unit.config.reading_files import KNOWN, problems, read

from pluggableharness.kernel.config.config import Origin, OriginKind
from pluggableharness.kernel.config.show import shown
from pluggableharness.kernel.config.versions import satisfies


@pytest.mark.req("F3")
def test_without_required_providers_everything_built_in_is_loaded() -> None:
    assert [one.name for one in read("settings {}\n").providers] == ["filesystem", "exec"]


@pytest.mark.req("F3")
def test_sources_are_built_in_executable_installed_or_announced(tmp_path: Path) -> None:
    text = f"""\
required_providers {{
  exec   = {{ source = "builtin", version = "~> 1.2" }}
  direct = {{ source = "{sys.executable}" }}
  script = {{ source = ["python3", "../bin", "-v", "./made-later"] }}
  module = {{ source = "python:other.provider" }}
  weather = {{ version = ">= 2" }}
}}
"""
    origins = {one.name: one.origin for one in read(text).providers}
    assert origins == {
        "exec": Origin(OriginKind.BUILTIN),
        "direct": Origin(OriginKind.EXECUTABLE, (sys.executable,)),
        "script": Origin(OriginKind.EXECUTABLE, ("python3", "/bin", "-v", "/project/made-later")),
        "module": Origin(OriginKind.PYTHON, module="other.provider"),
        "weather": Origin(OriginKind.ANNOUNCED),
    }


@pytest.mark.req("F3")
@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        ('x = { source = "mcp" }', "an MCP server has either command ="),
        ('x = { source = "mcp", command = ["s"], address = "http://a" }', "has either command ="),
        ('x = { source = "mcp", command = "s" }', "a server is started by a list"),
        ('x = { source = "mcp", command = [] }', "a server is started by a list"),
        ('x = { source = "mcp", command = ["s", 1] }', "a server is started by a list"),
        ('x = { source = "mcp", command = ["./gone"] }', "/project/gone is not there"),
        ('x = { source = "mcp", address = "example.com" }', "an address is written like"),
        ('x = { source = "mcp", command = ["s"], verson = "1" }', "did you mean version?"),
        (
            'exec = { source = "builtin", command = ["s"] }',
            "attribute 'command' in a required provider",
        ),
        ('x = { source = "mcp", command = ["s"], token = env("HOME") }', "is for an address"),
        ('x = { source = "mcp", address = "http://a", token = "s3cret" }', 'exactly env("NAME")'),
        ('x = { source = "mcp", address = "http://a", token = env("GONE") }', "GONE"),
        ('x = { source = "./missing" }', "/project/missing is not there"),
        ('x = { source = ["python3", "-u", "./p.py"] }', "/project/p.py is not there; './p.py' is"),
        ('exek = { source = "builtin" }', "did you mean exec?"),
        ('x = { source = "python:not-a-module" }', "is no name of a Python module"),
        ('x = { sorce = "builtin" }', "did you mean source?"),
        ('exec = { version = "> 2" }', "exec has version 1.4.0, which is not > 2"),
        ('exec = { version = "new" }', "'new' is no comparison"),
        ('exec = "builtin"', 'write exec = { source = "builtin" }'),
        ("x = { source = [] }", 'a source is "builtin"'),
    ],
)
def test_a_wrong_source_says_what_is_right(requirement: str, expected: str) -> None:
    found = problems(f"required_providers {{\n  {requirement}\n}}\n")
    assert len(found) == 1
    assert found[0].startswith("2:")
    assert expected in found[0]


@pytest.mark.req("F3", "K35")
def test_an_mcp_server_has_a_command_or_an_address() -> None:
    text = """
required_providers {
  local  = { source = "mcp", command = ["python3", "-m", "server", "--here"] }
  remote = { source = "mcp", address = "https://example.com/mcp", token = env("HOME") }
}
provider "local" {
  environment = ["KEY"]
  operation "put" {
    risk = "low"
  }
  operation "look" {
    kind = "data_source"
  }
}
"""
    local, remote = read(text).providers
    command = ("python3", "-m", "server", "--here")
    assert local.origin == Origin(OriginKind.MCP, command)
    assert local.overrides == {"put": {"risk": "low"}, "look": {"kind": "data_source"}}
    address = "https://example.com/mcp"
    assert remote.origin == Origin(OriginKind.MCP, address=address, token_variable="HOME")
    again = read(shown(read(text), {})).providers
    assert {one.name: (one.origin, one.overrides) for one in again} == {
        one.name: (one.origin, one.overrides) for one in (remote, local)
    }


@pytest.mark.req("F1", "K35")
@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ('operation "x" {\n kind = "write"\n}', "'kind' is one of data_source, resource"),
        ('operation "x" {\n risk = "hgih"\n}', "did you mean high?"),
        ('operation "x" {\n kind = "data_source"\n risk = "low"\n}', "has no risk"),
        ('operation "x" {\n rsik = "low"\n}', "did you mean risk?"),
        ('operation "x" {}', "needs a kind or a risk"),
        ("operation {\n}", "needs one label"),
        ('operation "x" {\n risk = "low"\n}\noperation "x" {\n risk = "low"\n}', "stands twice"),
    ],
)
def test_a_wrong_override_says_what_is_right(block: str, expected: str) -> None:
    text = 'required_providers {\n  s = { source = "mcp", address = "http://a" }\n}\n'
    (found,) = problems(f'{text}provider "s" {{\n{block}\n}}\n')
    assert expected in found


@pytest.mark.req("F3")
def test_a_block_of_a_provider_that_is_not_loaded_is_an_error() -> None:
    text = 'required_providers {\n  exec = {}\n}\nprovider "filesystem" {\n}\nprovider "ex" {\n}\n'
    found = problems(text)
    assert 'add there filesystem = { source = "builtin" }' in found[0]
    assert found[1].startswith("6:10: there is no provider 'ex'")


@pytest.mark.req("F5", "P28")
def test_settings_are_checked_against_what_the_provider_declares() -> None:
    text = 'provider "web" {\n  proxy = { adress = 1 }\n}\n'
    assert problems(text, known={"web": KNOWN["web"]}) == [
        "1:1: engine: missing; it is a string",
        "2:13: proxy.adress: there is no such setting; did you mean address?",
    ]


@pytest.mark.req("F5")
def test_an_object_is_written_as_a_value_or_as_a_block() -> None:
    texts = ('proxy = { address = "a" }', 'proxy {\n    address = "a"\n  }')
    configs = [
        read(f'provider "web" {{\n  engine = "e"\n  {text}\n}}\n', known={"web": KNOWN["web"]})
        for text in texts
    ]
    assert configs[0].providers[0].config == configs[1].providers[0].config


@pytest.mark.req("F7")
def test_expressions_know_paths_environment_and_functions() -> None:
    text = """\
provider "filesystem" {
  allowed_roots = [
    path.root, "${path.home}/x", path.cwd, upper(env("WHO")),
    join("-", [for one in split(",", "a,b") : trimspace(one)]), 1 < 2 ? "yes" : "no",
  ]
}
"""
    provider = read(text, {"HOME": "/home/ada", "WHO": "ada"}).providers[0]
    assert provider.config["allowed_roots"] == [
        "/project",
        "/home/ada/x",
        "/project/sub",
        "ADA",
        "a-b",
        "yes",
    ]


@pytest.mark.req("F7", "R10")
@pytest.mark.parametrize("environment", [{"WHO": "ada"}, {"HOME": ""}])
def test_without_a_home_no_path_in_it_is_one_at_the_top(environment: dict[str, str]) -> None:
    text = 'provider "filesystem" {\n  allowed_roots = ["${path.home}/x"]\n}\n'
    (found,) = problems(text, environment)
    assert found.startswith("2:23: there is no 'home'")


@pytest.mark.req("F8")
def test_the_kernels_attributes_are_not_the_providers() -> None:
    text = """\
provider "exec" {
  instance    = "shared"
  environment = ["VIRTUAL_ENV"]
  disabled    = ["bash"]
  shell       = "sh"
  timeout {
    bash = "1.5m"
  }
}
"""
    provider = read(text).providers[-1]
    assert (provider.instance, provider.environment, provider.disabled) == (
        "shared",
        ("VIRTUAL_ENV",),
        ("bash",),
    )
    assert provider.timeouts == {"bash": 90.0}
    assert provider.config == {"shell": "sh"}


@pytest.mark.req("F8")
def test_mistakes_in_the_kernels_attributes_are_told() -> None:
    text = """\
provider "exec" {
  instance    = "shard"
  environment = ["A=1"]
  disabled    = ["bsh"]
  timeout {
    bahs = 30
  }
}
"""
    found = problems(text)
    assert [one.split(": ")[0] for one in found] == ["2:17", "3:18", "4:18", "6:5", "6:12"]


@pytest.mark.req("F3")
@pytest.mark.parametrize(
    ("version", "constraint", "holds"),
    [
        ("1.4.0", "", True),
        ("1.4.0", ">= 1.2, < 2", True),
        ("1.4", "= 1.4.0", True),
        ("1.4.0", "~> 1.3", True),
        ("2.0", "~> 1.3", False),
        ("1.4.9", "~> 1.4.2", True),
        ("1.5.0", "~> 1.4.2", False),
        ("1.10", "> 1.9", True),
        ("2.0rc1", ">= 2.0", False),
        ("", ">= 1", False),
        ("1.0", "!= 1.0", False),
    ],
)
def test_versions_compare_by_their_numbers(version: str, constraint: str, holds: bool) -> None:
    assert satisfies(version, constraint) is holds


@pytest.mark.req("F1", "F3")
@pytest.mark.parametrize("source", ["3", '"buildin"', '"mcp"', '"builtin"', '"./not-there"'])
def test_what_is_said_of_a_provider_with_a_wrong_source_is_no_mistake_as_well(source: str) -> None:
    operation = 'operation "look" {\n kind = "data_source"\n }' if "mcp" in source else ""
    text = (
        f"required_providers {{\n mine = {{ source = {source} }}\n}}\n"
        f'provider "mine" {{\n size = 1\n {operation}\n}}\n'
        'policy "a" {\n match = { tool_name = "mine.look" }\n action = "allow"\n}\n'
        'agent_profile "default" {\n tools = ["mine.look"]\n}\n'
        'hook "session-start" {\n provider = "mine"\n mode = "observe"\n}\n'
    )
    (found,) = problems(text)
    assert found.startswith("2:")
