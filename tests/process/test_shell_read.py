"""shell_read with real programs: every option of the table, and a repository that means harm."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from process.sandboxes import kind  # noqa: F401  # a fixture

from pluggableharness.providers.exec.provider import provider
from pluggableharness.providers.exec.readers import GIT, PROGRAMS, Program
from pluggableharness.sdk import Category
from pluggableharness.sdk.testing import Outcome, Tool, opened

pytestmark = pytest.mark.req("C15")

ON = {"shell_read": True}
MARK = "program-was-run"
GIT_AS = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits, and a configuration that names a program wherever one can be named."""
    made = tmp_path / "repository"
    made.mkdir()
    (made / "file").write_text("one\ntwo\n")
    git(made, "init", "-q")
    commit(made)
    (made / "file").write_text("one\ntwo\nthree\n")
    commit(made)
    program = made / "run.sh"
    program.write_text(f"#!/bin/sh\necho {MARK}; echo {MARK} >&2; touch {made}/touched\n")
    program.chmod(0o755)
    for name in (
        *("core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command", "core.pager"),
        *("gpg.program", "core.editor", "core.sshCommand", "pager.log", "pager.diff"),
    ):
        git(made, "config", name, str(program))
    git(made, "config", "log.showSignature", "true")
    (made / ".git/info/attributes").write_text("file diff=x\n")
    (made / "file").write_text("changed\n")
    return made


def git(folder: Path, *arguments: str) -> None:
    subprocess.run([*GIT_AS, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "a commit")


def snapshot(folder: Path) -> dict[str, Any]:
    """Everything below a folder but the times of access."""
    found = {}
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        text = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (state.st_mode, state.st_mtime_ns, hashlib.sha256(text).digest())
    return found


@pytest.fixture
async def tool(kind: str, repository: Path) -> AsyncIterator[Tool]:  # noqa: F811
    async with opened(provider, cwd=repository, settings=ON) as tool:
        yield tool


async def read(tool: Tool, *argv: str) -> Outcome:
    return await tool("shell_read", argv=list(argv), timeout_s=60)


@pytest.mark.parametrize(
    ("argv", "part"),
    [
        (("git", "log", "--oneline"), "a commit"),
        (("git", "diff"), "+changed"),
        (("git", "status", "--short"), "M file"),
        (("git", "show", "HEAD:file"), "three"),
        (("git", "blame", "file"), "changed"),
        (("git", "log", "-p", "--format=%G? %s"), "+three"),
        (("ls", "-a"), ".git"),
        (("find", ".", "-name", "fil*"), "./file"),
        (("grep", "-n", "chang", "file"), "1:changed"),
        (("cat", "file"), "changed"),
    ],
)
async def test_it_reads(tool: Tool, repository: Path, argv: tuple[str, ...], part: str) -> None:
    before = snapshot(repository)
    outcome = await read(tool, *argv)
    assert outcome.error is None and part in outcome.payload["output"]
    assert MARK not in outcome.payload["output"]
    assert snapshot(repository) == before


@pytest.mark.req("C14", "R8")
@pytest.mark.parametrize("path", ["/etc/shadow", "~/.ssh", "/proc/1/environ", "{above}/secret"])
async def test_what_is_not_the_project_s_is_not_there(
    tool: Tool, repository: Path, path: str
) -> None:
    (repository.parent / "secret").write_text("secret")
    named = os.path.expanduser(path.format(above=repository.parent))
    outcome = await read(tool, "cat", named)
    assert outcome.payload["exit_code"] != 0 and "secret\n" not in outcome.payload["output"]


async def test_what_is_refused_is_not_run(tool: Tool, repository: Path) -> None:
    outcome = await read(tool, "find", ".", "-delete")
    assert outcome.error and outcome.error.category is Category.PERMISSION_DENIED
    assert (repository / "file").exists()
    shown = str(await tool.preview("shell_read", argv=["find", ".", "-delete"]))
    assert "would fail" in shown and "-delete" in shown


async def test_a_folder_elsewhere_is_refused(tool: Tool) -> None:
    outcome = await tool("shell_read", argv=["ls"], working_directory="/etc")
    assert outcome.error and outcome.error.category is Category.PERMISSION_DENIED


async def test_it_is_off_until_it_is_turned_on(repository: Path) -> None:
    async with opened(provider, cwd=repository) as tool:
        outcome = await read(tool, "ls")
        assert "off" in str(await tool.preview("shell_read", argv=["ls"]))
    assert outcome.error and outcome.error.category is Category.PERMISSION_DENIED
    assert "shell_read = true" in outcome.error.message


UNKNOWN = ("unrecognized option", "invalid option", "unknown option", "unknown predicate")
UNKNOWN_IN_GIT = ("unknown switch", "unrecognized argument", "unknown argument")
VALUES = {"--type": "f", "-type": "f", "-xtype": "f", "-newermt": "2001-01-01", "-printf": "%p"}


def every_option(program: Program) -> list[list[str]]:
    """Each option as it may be given, with a value where it needs one."""
    # --format is one that git log knows only together with its value.
    alone = [[one] for one in sorted(program.flags | program.optional - {"--format"})]
    alone += [[f"{one}=1"] for one in sorted(program.optional) if one.startswith("--")]
    return alone + [[one, VALUES.get(one, "1")] for one in sorted(program.valued)]


TABLES = {name: program for name, program in PROGRAMS.items() if not program.subcommands}
TABLES |= {f"git {name}": program for name, program in GIT.items()}
INSTALLED = [name for name in TABLES if shutil.which(name.split()[0], path="/usr/bin:/bin")]
"""What is not there cannot be called either: each program is proved where it exists."""


@pytest.mark.parametrize("name", INSTALLED)
async def test_each_option_is_the_program_s_own_and_changes_nothing(
    repository: Path, name: str
) -> None:
    before = snapshot(repository)
    operands = ["file"] if TABLES[name].operands else []
    async with opened(provider, cwd=repository, settings=ON) as tool:
        for option in every_option(TABLES[name]):
            outcome = await read(tool, *name.split(), *option, *operands)
            assert outcome.error is None, outcome.error
            said = outcome.payload["output"]
            assert not any(one in said for one in (*UNKNOWN, *UNKNOWN_IN_GIT)), (option, said)
            assert MARK not in said, option
    assert snapshot(repository) == before
