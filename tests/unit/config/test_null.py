"""Null is no value: what is null is never taken for what was left out (F1)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from unit.config.grants import granted_in
from unit.config.reading_files import KNOWN, problems, read

from pluggableharness.kernel.config.lock import Identity, Pin, read_lock, rendered
from pluggableharness.kernel.config.parser import parse
from pluggableharness.kernel.config.source import ConfigError, Source
from pluggableharness.kernel.config.syntax import Body, Expression, ListOf, ObjectOf
from pluggableharness.kernel.domain.errors import UsageError

ENVIRONMENT = {"HOME": "/home/ada", "KEY": "sk-live-4711"}

EVERYTHING = """\
required_providers {
  filesystem = { source = "builtin", version = ">= 1" }
  exec       = {}
  web        = {}
  hello      = { source = ["python3", "-m", "hello"] }
  started    = { source = "mcp", command = ["server", "--stdio"] }
  reached    = { source = "mcp", address = "https://example.com/mcp", token = env("KEY") }
}
provider "filesystem" {
  allowed_roots = ["/x"]
  require_read  = true
  instance      = "session"
  environment   = ["LANG"]
  disabled      = ["edit_file"]
  timeout {
    read_file = "30s"
  }
}
provider "web" {
  engine  = "e"
  api_key = env("KEY")
  proxy {
    address  = "http://proxy"
    password = env("KEY")
  }
}
provider "hello" {
  nested = { deep = { level = 1 } }
}
provider "started" {
  operation "fetch" {
    kind = "resource"
    risk = "low"
  }
}
policy "reviewed" {
  match    = { provider = "exec", tool_name = ["bash"], risk = "high", kind = "resource" }
  when     = "arguments.command == 'ls'"
  action   = "review"
  reason   = "look at it"
  reviewer = ["reviewer", "--strict"]
  examples {
    must_match     = [{ command = "ls" }]
    must_not_match = [{ command = "rm" }]
  }
}
agent_profile "default" {
  tools                    = ["exec.*"]
  max_turns                = 1
  max_cost_usd             = 1
  max_wall_clock_s         = 1
  doom_loop_threshold      = 4
  depth                    = 1
  max_concurrent_subagents = 1
  instructions             = "be careful"
  instructions_file        = "AGENTS.md"
  model {
    primary {
      provider = "openai-compatible"
      id       = "1"
      base_url = "http://localhost:11434/v1"
      key      = env("KEY")
    }
    fallback {
      provider = "openai"
      id       = "2"
    }
  }
}
hook "pre-tool-call" {
  provider = "exec"
  mode     = "veto"
  timeout  = "5s"
}
settings {
  log_level       = "info"
  retry           = 1
  default_timeout = "2m"
  telemetry       = "http://localhost:4318"
  gate_reads      = true
}
"""


def expressions(body: Body) -> Iterator[Expression]:
    """Every value of a body, those within lists and objects too."""
    for setting in body.settings:
        yield from parts(setting.value)
    for block in body.blocks:
        yield from expressions(block.body)


def parts(value: Expression) -> Iterator[Expression]:
    yield value
    match value:
        case ListOf():
            for item in value.items:
                yield from parts(item)
        case ObjectOf():
            for member in value.items:
                yield from parts(member.value)


def without(text: str, written: str) -> list[tuple[int, str]]:
    """The text with each of its values replaced in turn, and the line of each.

    The arguments of calls in examples stay: they may be null, as those of calls may.
    """
    body = parse(Source("", text), [])
    spans = [
        one.span
        for one in expressions(body)
        if text[one.span.start : one.span.end] not in ('"ls"', '"rm"')
    ]
    return [
        (text.count("\n", 0, one.start) + 1, text[: one.start] + written + text[one.end :])
        for one in spans
    ]


NULLS = ("null", "(1 == 1 ? null : null)", '"${null}"')


@pytest.mark.req("F1")
def test_a_file_with_everything_is_right_as_it_is() -> None:
    assert problems(EVERYTHING, ENVIRONMENT, KNOWN) == []


@pytest.mark.req("F1", "K4", "K25")
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("place", range(len(without(EVERYTHING, "null"))))
def test_null_is_refused_in_every_attribute_at_its_place(place: int, null: str) -> None:
    line, text = without(EVERYTHING, null)[place]
    found = problems(text, ENVIRONMENT, KNOWN)
    here = [one for one in found if one.startswith(f"{line}:")]
    told = ("this is null", "is a secret", "is a list of calls' arguments")
    assert any(one in message for one in told for message in here), found


@pytest.mark.req("F1", "K4")
@pytest.mark.parametrize(
    "match",
    [
        "true ? { provider = null } : {}",
        '{ for k in ["provider"] : k => null }',
        '{ provider = "exec", tool_name = [for t in ["bash"] : null] }',
    ],
)
def test_null_is_refused_in_what_is_computed_as_a_whole(match: str) -> None:
    (found,) = problems(f'policy "a" {{\n  match  = {match}\n  action = "deny"\n}}\n')
    assert found.startswith("2:") and "this is null" in found


@pytest.mark.req("F6")
@pytest.mark.parametrize("provider", ["hello", "web"])
def test_a_line_with_null_shows_no_secret(provider: str) -> None:
    text = f'provider "{provider}" {{\n  x = {{ a = "sk-live", b = null }}\n}}\n'
    required = "required_providers {\n  hello = {}\n  web   = {}\n}\n"
    with pytest.raises(ConfigError) as caught:
        read(required + text, ENVIRONMENT, KNOWN)
    assert "this is null" in str(caught.value)
    assert "sk-live" not in str(caught.value)


@pytest.mark.req("F11")
def test_the_arguments_of_a_call_may_be_null() -> None:
    text = """\
policy "a" {
  match  = { tool_name = "exec.bash" }
  when   = "arguments.command == null"
  action = "deny"
  examples {
    must_match = [{ command = null }]
  }
}
"""
    ((example,),) = (rule.examples for rule in read(text).rules)
    assert example.arguments == {"command": None}


@pytest.mark.req("K10")
@pytest.mark.parametrize("null", NULLS)
def test_null_is_refused_everywhere_in_a_file_of_grants(tmp_path: Path, null: str) -> None:
    granted = granted_in(tmp_path / "project")
    granted.keep(GRANT)
    written = granted.path.read_text()
    for _, text in without(written, null):
        granted.path.write_text(text)
        with pytest.raises(UsageError, match="this is null"):
            granted.read()


GRANT = """\
policy "tests" {
  match    = { provider = "exec", tool_name = "bash" }
  when     = "arguments.command == 'make test'"
  action   = "allow"
  reason   = "they are ours"
  declared = "d"
  void     = "v"
}
"""


@pytest.mark.req("F4")
@pytest.mark.parametrize("null", NULLS)
def test_null_is_refused_everywhere_in_a_lock_file(tmp_path: Path, null: str) -> None:
    path = tmp_path / "agent.lock.hcl"
    pin = Pin(Identity("builtin", "1", "aa"), {"send": '{"kind": "resource"}'})
    for _, text in without(rendered({"mail": pin}), null):
        path.write_text(text)
        with pytest.raises(UsageError, match="this is null"):
            read_lock(path, "agent.lock.hcl")
