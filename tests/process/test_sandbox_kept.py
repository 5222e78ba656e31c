"""What the harness and git act on later is not for a sandboxed command to change (K5a, C14)."""

import asyncio
import json
import os
from pathlib import Path

import pytest
from process.sandboxes import bash, kind, output, tool  # noqa: F401  # fixtures

from pluggableharness.kernel.config.finding import find
from pluggableharness.providers.exec.provider import provider
from pluggableharness.sdk.testing import Tool, opened

pytestmark = pytest.mark.req("C14", "K5a", "R8")

OURS = ["agent.hcl", ".agent/granted.hcl"]
GITS = [".git/config", ".git/hooks/pre-commit", ".git/config.worktree", ".git/commondir"]
TRIES = [
    "echo x >{path}",
    "rm -rf {path}; mkdir -p $(dirname {path}); echo x >{path}",
    "mv {top} other; mkdir -p $(dirname {path}); echo x >{path}",
    "ln -sf /etc/passwd {path}",
    "mkdir -p deep && ln -s deep new && mv -T new {top}; echo x >deep/config",
    'chmod 777 {path}; python3 -c \'open("{path}", "w").write("x")\'',
]


def tree(folder: Path) -> dict[str, str]:
    """What is at the names that count; nothing for what is not there."""
    found = {}
    for name in (*OURS, *GITS):
        path = folder / name
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        elif path.is_file():
            found[name] = f"{path.read_text()} {path.stat().st_mode:o}"
    return found


@pytest.mark.parametrize("attempt", TRIES)
@pytest.mark.parametrize("path", OURS + GITS)
async def test_what_is_there_stays_as_it_is(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
    path: str,
    attempt: str,
) -> None:
    for name in (*OURS, *GITS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{name} as it was")
    before = tree(tmp_path)
    await bash(tool, attempt.format(path=path, top=path.partition("/")[0]))
    assert tree(tmp_path) == before


@pytest.mark.parametrize("attempt", TRIES)
@pytest.mark.parametrize("path", OURS + GITS[1:])
async def test_what_is_not_there_cannot_be_made(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
    path: str,
    attempt: str,
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text("[core]\n")
    before = tree(tmp_path)
    await bash(tool, attempt.format(path=path, top=path.partition("/")[0]))
    assert tree(tmp_path) == before
    assert find(tmp_path) is None


async def test_nothing_is_left_of_what_stood_in(tool: Tool, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / ".git").mkdir()
    await output(tool, "ls -a; git status; true")
    assert [one.name for one in tmp_path.iterdir()] == [".git"]
    assert list((tmp_path / ".git").iterdir()) == []


@pytest.mark.parametrize("folder", [".", "sub", "sub/deep"])
async def test_every_folder_from_a_root_to_the_working_directory_is_held(
    kind: str,  # noqa: F811
    tmp_path: Path,
    folder: str,
) -> None:
    (tmp_path / "sub/deep").mkdir(parents=True)
    settings = {"sandbox": "workspace", "roots": [str(tmp_path)]}
    async with opened(provider, cwd=tmp_path / "sub/deep", settings=settings) as tool:  # noqa: F811
        await bash(tool, f"echo x >{tmp_path}/{folder}/agent.hcl", working_directory=str(tmp_path))
    assert find(tmp_path / "sub/deep") is None


async def test_a_link_stays_a_link_and_what_it_leads_to_is_held(
    kind: str,  # noqa: F811
    tool: Tool,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/agent.hcl").write_text("as it was")
    (tmp_path / "agent.hcl").symlink_to("rules/agent.hcl")
    await bash(tool, "rm agent.hcl; echo x >agent.hcl")
    assert os.readlink(tmp_path / "agent.hcl") == "rules/agent.hcl"
    if kind == "bubblewrap":
        await bash(tool, "echo x >rules/agent.hcl")
        assert (tmp_path / "agent.hcl").read_text() == "as it was"


@pytest.mark.parametrize("kind", ["Landlock"], indirect=True)
async def test_what_was_undone_is_told_and_still_there_to_be_looked_at(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "agent.hcl").write_text("mine")
    note = (await bash(tool, "echo theirs >agent.hcl")).payload["note"]
    assert f"{tmp_path}/agent.hcl was changed by the command" in note
    (aside,) = (one for one in tmp_path.iterdir() if one.name.startswith("agent.hcl.refused-"))
    assert aside.name in note and aside.read_text() == "theirs\n"
    assert (tmp_path / "agent.hcl").read_text() == "mine"


async def test_it_is_undone_after_a_command_that_ran_out_of_time_too(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
) -> None:
    outcome = await tool("bash", command="echo x >agent.hcl; sleep 600", timeout_s=1)
    assert outcome.error and not (tmp_path / "agent.hcl").exists()


BARE = (
    "printf '[core]\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = touch ran\\n"
    "[alias]\\n\\tst = !touch ran\\n' >config;"
)
EVIL = [
    "mkdir -p .git/hooks && echo 'touch ran' >.git/hooks/post-checkout && chmod +x .git/hooks/*",
    "git config core.fsmonitor 'touch ran'",
    "git config core.pager 'touch ran'; git config alias.status '!touch ran'",
    "printf '[core]\\n\\tfsmonitor = touch ran\\n' >>.git/config",
    "printf '[core] fsmonitor = touch ran\\n' >>.git/config",
    "printf '[core]\\n\\tbare = \\\\\\n\\tfalse\\n\\tfsmonitor = touch ran\\n' >>.git/config",
    "printf '[include]\\n\\tpath = ../evil\\n' >>.git/config",
    "git config remote.origin.url 'ext::sh -c touch% ran'",
    "git config remote.origin.uploadpack 'touch ran'",
    "mkdir elsewhere; cp -r .git/. elsewhere; echo ../elsewhere >.git/commondir",
    "mv .git real; echo 'gitdir: real' >.git; git config core.fsmonitor 'touch ran'",
    "mv .git real; ln -s real .git; git config core.fsmonitor 'touch ran'",
    "mv .git/* .; rmdir .git; git config core.bare false; git config core.fsmonitor 'touch ran'",
    f"rm -r .git; {BARE} mkdir objects refs; ln -s refs/heads/nope HEAD",
    f"rm -r .git; {BARE} mkdir -p c/objects c/refs; mv config c; echo c >commondir; "
    "ln -s refs/heads/nope HEAD",
    f"rm -r .git; {BARE} mkdir -p c/objects c/refs; cp config c; mv config config.worktree; "
    "git config -f c/config extensions.worktreeConfig true; echo c >commondir; "
    "echo 'ref: refs/heads/x' >HEAD",
]


@pytest.mark.parametrize("evil", EVIL)
async def test_a_repository_that_a_command_makes_runs_nothing(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
    evil: str,
) -> None:
    note = (await bash(tool, f"git init -q && {evil}; true")).payload.get("note", "")
    assert "refused-" in note
    for command in ("status", "st", "log", "fetch origin", "checkout -b x"):
        process = await asyncio.create_subprocess_exec(
            "git", "-C", str(tmp_path), *command.split(),
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        await asyncio.wait_for(process.wait(), 60)
    assert not (tmp_path / "ran").exists()


async def test_git_goes_on_working(tool: Tool, tmp_path: Path) -> None:  # noqa: F811
    who = "-c user.name=a -c user.email=a@b"
    first = await bash(tool, "git init -q && git config user.name me && echo a >a && git add a")
    assert first.payload["exit_code"] == 0 and "note" not in first.payload
    assert "one" in await output(tool, f"git {who} commit -qm one && git log -1")
    await output(tool, f"git checkout -qb b && echo b >a && git {who} commit -qam two && git gc -q")
    await output(tool, "git stash list && git tag v1 && git worktree add -q ../wt 2>&1 || true")
    await output(tool, "mkdir sub && cd sub && git init -q && git config user.name b && git status")
    assert await output(tool, "git config user.name") == "me\n"
    assert (tmp_path / ".git/config").read_text().count("= me\n") == 1


@pytest.mark.parametrize("kind", ["bubblewrap"], indirect=True)
@pytest.mark.parametrize(
    "command", ["git config user.name x", "touch agent.hcl", "echo x >.git/hooks/pre-push"]
)
async def test_a_refusal_says_why(tool: Tool, command: str) -> None:  # noqa: F811
    await output(tool, "git init -q")
    failed = (await bash(tool, command)).payload
    if "agent.hcl" not in command:
        assert failed["exit_code"] != 0
        assert "cannot change" in failed["note"] and "git -c NAME=VALUE" in failed["note"]
    fine = (await bash(tool, "cat .git/config; ls agent.hcl; true")).payload
    assert "note" not in fine


@pytest.mark.parametrize("kind", ["bubblewrap"], indirect=True)
async def test_two_sandboxes_in_one_folder_hold_it_until_the_last_has_ended(
    kind: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    """The first one to end must not take away what the other still stands on."""
    settings = {"sandbox": "workspace"}
    os.mkfifo(tmp_path / "go")
    async with (
        opened(provider, cwd=tmp_path, settings=settings) as one,
        opened(provider, cwd=tmp_path, settings=settings) as two,
    ):
        waiting = one.start("bash", command="echo there; read <go; echo x >agent.hcl", timeout_s=60)
        await waiting.until(lambda event: b"there" in getattr(event, "data", b""))
        await output(two, "true")
        await asyncio.to_thread((tmp_path / "go").write_text, "go\n")
        await waiting
    assert [one.name for one in tmp_path.iterdir()] == ["go"]


@pytest.mark.parametrize("kind", ["bubblewrap"], indirect=True)
@pytest.mark.parametrize("there", [False, True])
async def test_what_the_harness_itself_writes_meanwhile_stays(
    kind: str,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    there: bool,
) -> None:
    """An answer for always, given while a command runs."""
    granted = tmp_path / ".agent/granted.hcl"
    monkeypatch.setenv("PLUGGABLEHARNESS_GUARDED", json.dumps([str(granted)]))
    if there:
        granted.parent.mkdir()
    os.mkfifo(tmp_path / "go")
    async with opened(provider, cwd=tmp_path, settings={"sandbox": "workspace"}) as tool:  # noqa: F811
        waiting = tool.start("bash", command="echo there; read <go; echo x >>.agent/granted.hcl")
        await waiting.until(lambda event: b"there" in getattr(event, "data", b""))
        granted.write_text("mine")
        await asyncio.to_thread((tmp_path / "go").write_text, "go\n")
        await waiting
    assert granted.read_text() == "mine"
    assert sorted(one.name for one in granted.parent.iterdir()) == ["granted.hcl"]


@pytest.mark.parametrize("kind", ["bubblewrap"], indirect=True)
async def test_what_a_killed_sandbox_left_counts_as_nothing_and_is_cleared(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "agent.hcl").mkdir()
    (tmp_path / "agent.hcl").chmod(0o1755)
    assert find(tmp_path) is None
    await bash(tool, "rmdir agent.hcl; echo x >agent.hcl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["echo x >.git", "rm -f .git; echo 'gitdir: evil' >.git"])
async def test_a_file_that_leads_to_a_repository_elsewhere_stays_as_it_is(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
    command: str,
) -> None:
    (tmp_path / ".git").write_text("gitdir: /elsewhere/.git/worktrees/x\n")
    await bash(tool, command)
    assert (tmp_path / ".git").read_text() == "gitdir: /elsewhere/.git/worktrees/x\n"


@pytest.mark.parametrize("kind", ["Landlock"], indirect=True)
async def test_what_cannot_be_put_back_is_told(tool: Tool, tmp_path: Path) -> None:  # noqa: F811
    """A file too large to be kept, and a name that only looks like one that was moved aside."""
    (tmp_path / "agent.hcl").write_bytes(b"#" * (5 << 20))
    note = (await bash(tool, "echo x >>agent.hcl")).payload["note"]
    assert "too large" in note and "look at it" in note
    await bash(tool, "mkdir .agent; echo x >.agent/x.refused-1.hcl")
    assert not (tmp_path / ".agent/x.refused-1.hcl").exists()


async def test_another_name_of_a_guarded_file_changes_nothing(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
) -> None:
    await output(tool, "git init -q")
    before = (tmp_path / ".git/config").read_text()
    await bash(tool, "ln .git/config x && printf '[core]\\n\\tpager = evil\\n' >>x")
    assert (tmp_path / ".git/config").read_text() == before


async def test_a_folder_with_a_head_of_its_own_becomes_no_repository(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
) -> None:
    """What was there stays; what makes a repository of it does not."""
    (tmp_path / "HEAD").write_text("ref: refs/heads/x\n")
    await bash(tool, "mkdir objects refs; echo . >commondir")
    assert (tmp_path / "HEAD").exists()
    assert not (tmp_path / "commondir").exists()
    assert not ((tmp_path / "objects").exists() and (tmp_path / "refs").exists())


ELSEWHERE = {
    "a file": "git init -q; mv .git .bare; echo 'gitdir: ./.bare' >.git",
    "a file that leads two steps down": "git init -q; mkdir a; mv .git a/.bare; "
    "echo 'gitdir: a/.bare' >.git",
    "a link": "git init -q; mv .git .bare; ln -s .bare .git",
    "a worktree's": "git init -q .bare; git -C .bare -c user.name=a -c user.email=a@b commit -q "
    "--allow-empty -m x; mv .bare/.git x; rmdir .bare; mv x .bare; "
    "mkdir -p .bare/worktrees/w; echo ../.. >.bare/worktrees/w/commondir; "
    "cp .bare/HEAD .bare/worktrees/w; echo 'gitdir: .bare/worktrees/w' >.git",
    "the folder itself": "git init -q --bare .; git config core.bare false; "
    "git config core.worktree .; mkdir -p .bare; cp config .bare",
}
SPOILING = [
    "printf '[core]\\n\\tfsmonitor = touch ran\\n' | tee -a {git}/config",
    "mkdir -p {git}/hooks; printf '#!/bin/sh\\ntouch ran\\n' >{git}/hooks/post-index-change; "
    "chmod +x {git}/hooks/post-index-change",
    "cp -r {git} other; rm -rf {git}; mv {git} gone; mv other {git}; "
    "git config -f {git}/config core.fsmonitor 'touch ran'",
    "cp -r {top} other; mv {top} gone; mv other {top}; "
    "git config -f {git}/config core.fsmonitor 'touch ran'",
    "mkdir -p evil; cp -r {git}/. evil; git config -f evil/config core.fsmonitor 'touch ran'; "
    "echo $PWD/evil >{git}/commondir",
]


@pytest.mark.parametrize("spoiling", SPOILING)
@pytest.mark.parametrize("what", ELSEWHERE)
async def test_a_repository_that_git_leads_to_is_held_where_it_is(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
    what: str,
    spoiling: str,
) -> None:
    await run("bash", "-c", ELSEWHERE[what], cwd=tmp_path)
    git = "a/.bare" if "two" in what else "." if "itself" in what else ".bare"
    top = "a" if "two" in what else "config" if "itself" in what else ".bare"
    await bash(tool, spoiling.format(git=git, top=top))
    await run("bash", "-c", "touch f; git add f; git status; git status", cwd=tmp_path)
    assert not (tmp_path / "ran").exists()


STARTED = "tools/deep/review.sh"
REWRITING = [
    "echo theirs >{path}",
    "rm {path}; echo theirs >{path}",
    "mv {path} x; echo theirs >{path}",
    "mkdir y; echo theirs >y/review.sh; mv tools/deep z; mv y tools/deep",
    "mv tools z; mkdir -p tools/deep; echo theirs >{path}",
    "mv tools z; ln -s z tools; echo theirs >z/deep/review.sh",
    "ln {path} x; echo theirs >x",
]


@pytest.mark.parametrize("rewriting", REWRITING)
async def test_what_the_harness_starts_is_not_rewritten(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rewriting: str,
) -> None:
    path = tmp_path / STARTED
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    monkeypatch.setenv("PLUGGABLEHARNESS_GUARDED", json.dumps([str(path), "/elsewhere/x"]))
    await bash(tool, rewriting.format(path=STARTED))
    assert path.read_text() == "mine"


async def test_what_the_harness_would_start_is_not_put_there(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLUGGABLEHARNESS_GUARDED", json.dumps([str(tmp_path / STARTED)]))
    await bash(tool, f"mkdir -p tools/deep; echo theirs >{STARTED}")
    assert not (tmp_path / STARTED).exists()


async def run(*argv: str, cwd: Path) -> None:
    """A command of the person's own, outside of every sandbox."""
    process = await asyncio.create_subprocess_exec(
        *argv, cwd=cwd, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    await asyncio.wait_for(process.wait(), 60)
