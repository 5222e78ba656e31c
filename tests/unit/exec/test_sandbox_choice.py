"""Which sandbox there is: what was asked for, what the machine has, and never less unsaid."""

from pathlib import Path

import pytest

from pluggableharness.providers.exec import bubblewrap, sandbox, seccomp
from pluggableharness.providers.exec.private import PREFIX, private_directory
from pluggableharness.providers.exec.provider import provider
from pluggableharness.providers.exec.sandbox import (
    Mechanism,
    Mode,
    Sandbox,
    Unavailable,
    ability,
    chosen,
    mechanism,
)
from pluggableharness.sdk import InvalidArguments
from pluggableharness.sdk.testing import opened

pytestmark = pytest.mark.req("C14")

MACHINE = seccomp.Machine(0, (), 0, 0, 0, 0, 0)
"""A filter that is never assembled here."""


@pytest.fixture
def nothing_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "mechanism", mechanism.__wrapped__)
    monkeypatch.setattr(bubblewrap, "find", lambda: None)
    monkeypatch.setattr(sandbox, "version", lambda: 0)


async def test_where_nothing_is_possible_the_default_is_none_and_says_so(
    nothing_works: None, tmp_path: Path
) -> None:
    async with opened(provider, cwd=tmp_path) as tool:
        assert "not sandboxed" in str(await tool.preview("bash", command="ls"))
        assert (await tool("bash", command="echo hi")).payload["output"] == "hi\n"
    assert "cannot be sandboxed" in ability() and "bubblewrap is not installed" in ability()


@pytest.mark.parametrize("asked", ["workspace", "read_only"])
async def test_what_was_asked_for_and_is_not_possible_is_an_error(
    nothing_works: None, asked: str
) -> None:
    with pytest.raises(InvalidArguments, match=f'"{asked}" is not possible here: bubblewrap'):
        async with opened(provider, settings={"sandbox": asked}):
            pass


def test_no_filter_for_the_processor_is_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "machine", lambda: None)
    assert isinstance(mechanism.__wrapped__(), Unavailable)


def test_a_bubblewrap_that_does_not_work_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho no permission >&2; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(sandbox, "version", lambda: 2)
    found = mechanism.__wrapped__()
    assert isinstance(found, Unavailable)
    assert "no permission" in found.why and "Landlock is at version 2" in found.why


def test_the_system_s_bubblewrap_comes_before_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ours = bubblewrap.find()
    (tmp_path / "bwrap").touch(0o755)
    assert bubblewrap.find() == str(tmp_path / "bwrap") != ours


async def test_a_preview_says_how_a_command_is_confined(tmp_path: Path) -> None:
    if isinstance(mechanism(), Unavailable):
        pytest.skip("this machine has no sandbox")
    settings = {"roots": ["/srv/a"], "network": True}
    async with opened(provider, cwd=tmp_path, settings=settings) as tool:
        shown = str(await tool.preview("bash", command="ls"))
    assert "sandboxed (writes only below /srv/a, network)" in shown


def test_none_is_none_whatever_the_machine_can_do() -> None:
    assert chosen("none", [], network=False).mode is Mode.NONE


def test_what_a_killed_process_left_is_cleared_by_the_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    abandoned = tmp_path / f"{PREFIX}abandoned"
    abandoned.mkdir()
    (abandoned / "lock").touch()
    (abandoned / "files").mkdir()
    first = private_directory.__wrapped__()
    assert not abandoned.exists()
    second = private_directory.__wrapped__()
    assert first.is_dir() and second.is_dir() and first != second
    assert first.stat().st_mode & 0o777 == 0o700


@pytest.mark.req("K5a")
@pytest.mark.parametrize(
    ("mode", "mechanism_", "always", "words"),
    [
        (
            Mode.WORKSPACE,
            Mechanism("b", MACHINE, ("bwrap",)),
            True,
            ["mounts", "A new .git", "deeper"],
        ),
        (
            Mode.WORKSPACE,
            Mechanism("l", MACHINE),
            False,
            ["put back", "no git", "killed", "deeper"],
        ),
        (Mode.READ_ONLY, Mechanism("l", MACHINE), True, ["write nothing"]),
        (Mode.NONE, Unavailable("why"), False, ["nothing", "agent.hcl", ".git/hooks"]),
    ],
)
def test_what_is_not_held_is_said(
    mode: Mode, mechanism_: Mechanism | Unavailable, always: bool, words: list[str]
) -> None:
    made = Sandbox(mode, (), False, mechanism_)
    assert made.holds_at_all_times is always
    assert all(word in made.holds() for word in words)
