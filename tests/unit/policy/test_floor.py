"""Which paths are asked about whatever the rules say."""

from dataclasses import replace
from posixpath import join
from typing import Any

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.operation import Kind, Schema, SchemaType
from pluggableharness.kernel.policy import protected_write

WRITE = operation("write_file")


def protection(path: str, working_directory: str) -> str | None:
    """What makes a path protected that a call names, made in that directory."""
    schema = Schema(SchemaType.OBJECT, properties={"path": Schema(SchemaType.STRING)})
    made = call(replace(WRITE, input_schema=schema), path=path)
    return protected_write(replace(made, context=CallContext("s", "t", working_directory)))


@pytest.mark.req("K5a")
@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        ".git/config",
        ".GIT/config",
        ".Git",
        "sub/.git/config",
        "/elsewhere/repo/.git/config",
        "a/../.git/config",
        "./x/..//.git/./config",
        ".git",
        ".git./config",
        ".git /config",
        ".git::$INDEX_ALLOCATION/config",
        "GIT~1/config",
        ".g\u200bit/config",
        "agent.hcl",
        "AGENT.HCL",
        "sub/../agent.hcl",
        ".agent/agent.lock.hcl",
        ".agent/policy.hcl",
        ".agent/outputs",
        ".agent/outputs/../agent.lock.hcl",
        ".agent/outputs/.agent/x",
        "~/.git/config",
    ],
)
def test_a_protected_path_is_known_in_every_spelling(path: str) -> None:
    """Case policy-and-schema-15."""
    assert protection(path, "/work/project") is not None


@pytest.mark.req("K5a")
@pytest.mark.parametrize(
    "path",
    [
        ".gitignore",
        "sub/.gitignore",
        ".gitattributes",
        ".github/workflows/ci.yml",
        "git/config",
        "x.git/config",
        ".git/../src/x",
        ".agent/outputs/1.txt",
        "agent.hcl.md",
        "agents/agent.py",
        "src/main.py",
        "",
        ".",
    ],
)
def test_ordinary_paths_are_left_to_the_rules(path: str) -> None:
    """Case policy-and-schema-15: .gitignore is an ordinary file."""
    assert protection(path, "/work/project") is None


@pytest.mark.req("K5a")
def test_a_path_is_read_from_the_calls_working_directory() -> None:
    assert protection("pre-commit", "/work/project/.git/hooks") is not None
    assert protection("../config", "/work/project/.git/hooks") is not None
    assert protection("../../src/x", "/work/project/.git/hooks") is None


@pytest.mark.req("K5a")
def test_a_reason_repeats_no_more_of_a_path_than_can_be_read() -> None:
    path = ".git/" + "x" * 1_000_000
    why = protection(path, "/work")
    assert why is not None and why.startswith("'.git/xxx") and len(why) < 600
    assert f"({len(path)} characters)" in why
    made = replace(call(WRITE, path=path), places={join(HERE, path): ""})
    why = protected_write(made)
    assert why is not None and "could not be told" in why and len(why) < 600


@pytest.mark.req("K5a")
@pytest.mark.parametrize(
    "arguments",
    [
        {"path": ".git/config"},
        {"file_path": ".git/config"},
        {"targetFile": ".git/config"},
        {"paths": ["a", ".git/config"]},
        {"edits": [{"path": "a"}, {"path": ".git/config"}]},
        {"source": "a", "destination": ".git/hooks/pre-push"},
    ],
)
def test_every_argument_that_names_a_path_counts(arguments: dict[str, Any]) -> None:
    assert protected_write(call(WRITE, **arguments)) is not None


@pytest.mark.req("K5a")
def test_text_that_is_no_path_and_calls_that_do_not_write_are_left_alone() -> None:
    assert protected_write(call(WRITE, path="a.md", content=".git/config")) is None
    assert protected_write(call(WRITE, note="see .git/config", count=1, none=None)) is None
    read = operation("read_file", Kind.DATA_SOURCE)
    assert protected_write(call(read, path=".git/config")) is None


HERE = "/work/project"


def leading(made: Call, places: dict[str, str]) -> Call:
    """The call as if the system had been asked where its paths lead."""
    known = {join(HERE, path): real for path, real in places.items()}
    return replace(made, places={HERE: HERE, **known})


@pytest.mark.req("K5a")
@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("g/config", "/work/project/.git/config"),
        ("cfg", "/work/project/agent.hcl"),
        ("a/b/../c", "/work/project/.agent/granted.hcl"),
        ("link", "/elsewhere/repo/.GIT/hooks/pre-push"),
        ("rules", "/home/policies/mine.hcl"),
        ("file:///work/g/config", "/work/project/.git/config"),
    ],
)
def test_a_path_is_judged_by_where_it_leads(path: str, leads_to: str) -> None:
    places = {path.removeprefix("file://"): leads_to}
    policies = frozenset(["/home/policies/mine.hcl"])
    for arguments in ({"path": path}, {"into": path}, {"spec": [{"x": path}]}, {"m": {path: 1}}):
        assert protected_write(leading(call(WRITE, **arguments), {}), policies) is None
        why = protected_write(leading(call(WRITE, **arguments), places), policies)
        assert why is not None and "leads to" in why


@pytest.mark.req("K5a")
@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"command": "echo x >g/config"}, "g/config"),
        ({"command": "echo x >f", "working_directory": "g"}, "g"),
        ({"command": "echo x >f", "working_directory": "g"}, "g/f"),
        ({"command": "echo x >f", "cwd": "g"}, "g/f"),
    ],
)
def test_a_command_is_judged_by_where_it_runs_and_redirects(
    arguments: dict[str, Any], place: str
) -> None:
    bash = operation("bash", provider="exec")
    made = leading(call(bash, **arguments), {place: "/work/project/.git/config"})
    assert protected_write(made) is not None
    assert protected_write(leading(call(bash, command="echo 2>/dev/fd/2"), {})) is None


@pytest.mark.req("K5a")
def test_a_working_directory_that_is_itself_a_link_is_no_difference() -> None:
    made = replace(
        call(WRITE, path="src/a"), places={HERE: "/data/p", f"{HERE}/src/a": "/data/p/src/a"}
    )
    assert protected_write(made) is None
    files = frozenset([f"{HERE}/rules.hcl"])
    made = replace(
        call(WRITE, path="r"), places={HERE: "/data/p", f"{HERE}/r": "/data/p/rules.hcl"}
    )
    assert protected_write(made, files) is not None


@pytest.mark.req("K5a")
def test_what_the_system_could_not_tell_is_asked_about() -> None:
    why = protected_write(leading(call(WRITE, path="slow/x"), {"slow/x": ""}))
    assert why is not None and "could not be told" in why


@pytest.mark.req("K5a")
def test_a_rule_has_to_name_where_a_path_leads_too() -> None:
    made = leading(call(WRITE, path="g/config"), {"g/config": "/work/project/.git/config"})
    assert protected_write(made, named=frozenset(["g/config"])) is not None
    assert protected_write(made, named=frozenset([".git/config"])) is None


@pytest.mark.req("K5a")
@pytest.mark.parametrize(
    "arguments",
    [
        {"into": ".git/config"},
        {"dest": {"to": [".git/hooks/pre-commit"]}},
        {"files": {".git/config": "[core]"}},
        {"x": ["a", {"y": "sub/agent.hcl"}]},
        {"where": "/work/project/./.agent/../agent.hcl"},
        {"cwd": ".git"},
    ],
)
def test_a_string_that_is_a_path_counts_under_any_name(arguments: dict[str, Any]) -> None:
    assert protected_write(call(WRITE, **arguments)) is not None


@pytest.mark.req("K5a")
@pytest.mark.parametrize(
    "arguments",
    [
        {"content": "[core]\n\tpath = .git/config\n"},
        {"old_str": ".git/config", "new_str": "agent.hcl"},
        {"prompt": "Why does git read .git/config?"},
        {"title": "Look into /work/project/.git/config first"},
        {"note": "agent.hcl\n"},
        {"url": "https://example.org/.git/config"},
        {"x": "a" * 5000 + "/.git/config"},
        {"rows": [{"content": ".git"}]},
    ],
)
def test_text_that_mentions_a_path_is_none(arguments: dict[str, Any]) -> None:
    assert protected_write(call(WRITE, **arguments)) is None


@pytest.mark.req("K5a")
def test_a_path_with_blanks_counts_where_it_begins_somewhere() -> None:
    made = call(WRITE, where="my notes/.git/config")
    assert protected_write(made) is None
    there = {"my notes/.git/config": f"{HERE}/my notes/.git/config"}
    assert protected_write(leading(made, there)) is not None


@pytest.mark.req("K5a")
def test_the_name_of_a_declared_argument_is_no_path() -> None:
    takes = Schema(SchemaType.OBJECT, properties={"agent.hcl": Schema(SchemaType.STRING)})
    assert protected_write(call(operation("set", takes=takes), **{"agent.hcl": "x"})) is None
    assert protected_write(call(operation("set"), **{"agent.hcl": "x"})) is not None


@pytest.mark.req("K5a", "C14")
@pytest.mark.parametrize(
    ("path", "asked"),
    [
        *(("tools/review.sh", True), ("./tools/../tools/review.sh", True)),
        *((".bare", True), (".bare/hooks/pre-commit", True), (".bare/config", True)),
        *(("tools", False), ("tools/review.sh2", False), (".barely/x", False), ("x", False)),
    ],
)
def test_what_is_believed_or_started_later_is_asked_about_with_all_that_is_below_it(
    path: str, asked: bool
) -> None:
    schema = Schema(SchemaType.OBJECT, properties={"path": Schema(SchemaType.STRING)})
    made = call(replace(WRITE, input_schema=schema), path=path)
    made = replace(made, context=CallContext("s", "t", "/work/project"))
    files = frozenset(["/work/project/tools/review.sh", "/work/project/.bare"])
    assert (protected_write(made, files) is not None) is asked
    assert protected_write(made, files, frozenset([path])) is None
