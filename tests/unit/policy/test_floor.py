"""Which paths are asked about whatever the rules say."""

from typing import Any

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.policy import protected_path, protected_write

WRITE = operation("write_file")


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
    assert protected_path(path, "/work/project") is not None


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
    assert protected_path(path, "/work/project") is None


@pytest.mark.req("K5a")
def test_a_path_is_read_from_the_calls_working_directory() -> None:
    assert protected_path("pre-commit", "/work/project/.git/hooks") is not None
    assert protected_path("../config", "/work/project/.git/hooks") is not None
    assert protected_path("../../src/x", "/work/project/.git/hooks") is None


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
