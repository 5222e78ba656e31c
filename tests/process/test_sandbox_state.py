"""The user's state, records and what they allowed, is for no sandboxed command to write (C14)."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from process.sandboxes import bash, kind, output, tool  # noqa: F401  # fixtures

from pluggableharness.providers.exec.provider import provider
from pluggableharness.sdk.testing import Tool, opened

pytestmark = pytest.mark.req("C14", "K5a")

WAY = Path(".local/state/pluggableharness")
TRIES = [
    "echo theirs >{state}/sessions/1.sqlite",
    "echo theirs >{state}/granted/other",
    "mkdir -p {state}/granted; echo theirs >{state}/granted/new",
    "rm -rf {state}/sessions",
    "mv {state} gone; mkdir -p {state}/granted; echo theirs >{state}/granted/other",
    "mv .local gone; mkdir -p {state}/granted; echo theirs >{state}/granted/other",
    "mv .local gone; ln -s gone .local; echo theirs >{state}/granted/other",
    "mkdir elsewhere; echo theirs >elsewhere/other; rm -rf {state}/granted; "
    "ln -s $PWD/elsewhere {state}/granted",
    "ln {state}/sessions/1.sqlite x && echo theirs >x",
    "cd {state}/sessions && mv 1.sqlite 2.sqlite",
]


def tree(state: Path) -> dict[str, str]:
    return {
        str(path.relative_to(state)): path.read_text() if path.is_file() else ""
        for path in sorted(state.rglob("*"))
    }


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A state directory in the working directory, as in a session in the person's home."""
    made = tmp_path / WAY
    monkeypatch.setenv("PLUGGABLEHARNESS_GUARDED", json.dumps([str(made)]))
    yield made
    assert not made.is_symlink()


def filled(state: Path) -> dict[str, str]:
    for name in ("sessions/1.sqlite", "granted/other"):
        (state / name).parent.mkdir(parents=True, exist_ok=True)
        (state / name).write_text("mine")
    return tree(state)


@pytest.mark.parametrize("attempt", TRIES)
async def test_nothing_of_it_is_changed(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
    state: Path,
    attempt: str,
) -> None:
    before = filled(state)
    await bash(tool, attempt.format(state=WAY))
    assert tree(state) == before
    assert not (tmp_path / ".local").is_symlink()


@pytest.mark.parametrize("there", [".", ".local", ".local/state"])
@pytest.mark.parametrize("attempt", TRIES)
async def test_it_is_not_made_where_it_is_not(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
    state: Path,
    attempt: str,
    there: str,
) -> None:
    (tmp_path / there).mkdir(parents=True, exist_ok=True)
    await bash(tool, attempt.format(state=WAY))
    assert not state.exists()


@pytest.mark.parametrize("step", [".local", ".local/state", str(WAY)])
async def test_no_link_is_put_where_the_way_to_it_would_be(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
    state: Path,
    step: str,
) -> None:
    rest = WAY.relative_to(step)
    made = f"mkdir -p e/{rest}/granted $(dirname {step}); echo x >e/{rest}/granted/other"
    await bash(tool, f"{made}; ln -s $PWD/e {step}")
    assert not state.exists()


@pytest.mark.parametrize("link", [".local", ".local/state", str(WAY)])
@pytest.mark.parametrize("outside", [False, True])
async def test_it_is_held_where_links_lead_to_it(
    kind: str,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    link: str,
    outside: bool,
) -> None:
    home = tmp_path / "home"
    real = (tmp_path if outside else home) / "real"
    (home / link).parent.mkdir(parents=True)
    real.mkdir()
    (home / link).symlink_to(real)
    monkeypatch.setenv("PLUGGABLEHARNESS_GUARDED", json.dumps([str(home / WAY)]))
    before = filled(home / WAY)
    attempts = (f"rm {link}; mkdir -p {WAY}/granted; echo theirs >{WAY}/granted/other", *TRIES)
    async with opened(provider, cwd=home, settings={"sandbox": "workspace"}) as tool:  # noqa: F811
        for attempt in (*attempts, f"echo theirs >{(home / WAY).resolve()}/granted/other"):
            await bash(tool, attempt.format(state=WAY))
            assert tree(home / WAY) == before, attempt
            assert os.readlink(home / link) == str(real)


@pytest.mark.parametrize("root", [".", "sessions"])
async def test_a_session_within_it_writes_nothing(
    kind: str,  # noqa: F811
    state: Path,
    root: str,
) -> None:
    before = filled(state)
    settings = {"sandbox": "workspace"}
    async with opened(provider, cwd=state / root, settings=settings) as tool:  # noqa: F811
        await bash(tool, "echo theirs >x; rm -rf *; echo theirs >../granted/other")
    assert tree(state) == before


async def test_what_lies_beside_it_can_be_written(
    kind: str,  # noqa: F811
    tool: Tool,  # noqa: F811
    tmp_path: Path,
    state: Path,
) -> None:
    filled(state)
    (tmp_path / "project").mkdir()
    (tmp_path / ".local/share").mkdir()
    (tmp_path / "notes").write_text("")
    await output(tool, "echo x >project/x; echo x >.local/share/x; echo x >notes")
    if kind == "bubblewrap":
        await output(tool, "echo x >new; mkdir .local/new")
