"""What a command repeats of its own arguments can move no cursor and fill no screen (P16)."""

import pytest
from process.harness import Harness

pytestmark = pytest.mark.req("P16", "K33")

HOSTILE = "\x1b[2J\x9b31m\u202eevil\rover" + "y" * 50_000

COMMANDS = [
    [HOSTILE],
    ["call", HOSTILE],
    ["call", "filesystem.read_file", HOSTILE],
    ["call", "filesystem.read_file", f"path={HOSTILE}"],
    ["call", f"filesystem.{HOSTILE}", "path=x"],
    ["call", "filesystem.read_file", "--args", f"@{HOSTILE}"],
    ["call", "filesystem.read_file", "path=x", "--cwd", HOSTILE],
    ["call", "filesystem.read_file", "path=x", "--provider", f"'{HOSTILE}"],
    ["call", "filesystem.read_file", "path=x", "--provider", HOSTILE],
    ["call", "filesystem.read_file", "path=x", f"--{HOSTILE}"],
    ["run", "--script", HOSTILE],
    ["run", "--cwd", HOSTILE],
    ["sessions", HOSTILE],
    ["sessions", "show", HOSTILE],
    ["sessions", "list", "--limit", HOSTILE],
    ["sessions", "verify", f"/{HOSTILE}"],
    ["sessions", "export", "x", HOSTILE],
    ["policy", "explain", HOSTILE],
    ["policy", "explain", "exec.bash", HOSTILE],
    ["config", "check", "--cwd", HOSTILE],
    ["config", HOSTILE],
    ["check", HOSTILE],
    ["tools", HOSTILE],
    ["init", "--cwd", HOSTILE],
]


@pytest.mark.parametrize("words", [["doctor"], ["tools"], ["config", "check"]])
def test_what_a_project_holds_is_not_repeated_raw(harness: Harness, words: list[str]) -> None:
    source = HOSTILE.encode("unicode_escape").decode().replace("\\x", "\\u00")
    (harness.project / "agent.hcl").write_text(
        f'required_providers {{\n  x = {{ source = "./{source[:200]}" }}\n}}\n'
    )
    done = harness.run(*words)
    said = done.stdout + done.stderr
    assert r"\x1b" in said, "it is repeated, and shown for what it is"
    assert not set(said) & {"\x1b", "\x9b", "\u202e", "\r"}


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words).split("\x1b")[0])
def test_no_argument_is_repeated_raw_or_whole(harness: Harness, words: list[str]) -> None:
    done = harness.run(*words)
    said = done.stdout + done.stderr
    assert done.returncode in (1, 2)
    assert said and not set(said) & {"\x1b", "\x9b", "\u202e", "\r"}
    assert len(said) < 25_000
