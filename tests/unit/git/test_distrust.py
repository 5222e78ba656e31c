"""Repositories that make git run programs: git itself runs them, and they are seen beforehand."""

import os
import shutil
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from unit.git.repositories import BASE, HOSTILE, PLAIN
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.call import CallContext
from pluggableharness.kernel.domain.operation import Risk
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.first_party import confined, first_party
from pluggableharness.kernel.git.distrust import distrust
from pluggableharness.kernel.git.repository import Use, git_runs
from pluggableharness.kernel.policy import Action, Asking, Rule, RuleBook, Terms, decide

BASH = operation("bash", provider="exec", risk=Risk.HIGH)
ALLOW = RuleBook(
    [
        Rule(
            "git",
            Action.ALLOW,
            frozenset(["bash"]),
            when="commands.all(c, c.program in ['git', 'cd', 'ls', 'pushd', 'popd', 'mkdir']) "
            "&& commands.all(c, c.substitutes || !c.substitutes)",
        )
    ]
)
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def environment(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "EVIL": str(home / "evil"),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_NAME": "a" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "a@b" for who in ("AUTHOR", "COMMITTER")},
    }


def shell(line: str, directory: Path, home: Path) -> None:
    subprocess.run(
        ["bash", "-c", line],
        cwd=directory,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


def made(home: Path, setup: str) -> Path:
    """A repository below `home`, whose programs leave a mark when they are run."""
    evil = home / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {home}/MARK\n")
    evil.chmod(0o755)
    shell(BASE + setup, home, home)
    (home / "MARK").unlink(missing_ok=True)
    return home / "repo"


def decision(
    command: str, directory: Path, held: frozenset[str] = frozenset(), **arguments: str
) -> Decision:
    place = CallContext("session", "turn", str(directory))
    one = replace(call(BASH, command=command, **arguments), context=place)
    looked_at = replace(one, distrusted=distrust(one, held))
    return decide(ALLOW, looked_at, Terms(Asking.PERSON)).decision


@needs_git
@pytest.mark.req("K7")
@pytest.mark.parametrize("what", HOSTILE)
def test_git_is_asked_about_wherever_a_repository_makes_it_run_programs(
    what: str, tmp_path: Path
) -> None:
    setup, command = HOSTILE[what]
    repository = made(tmp_path, setup)
    assert decision(command or "git fetch", repository) is Decision.ASK
    if command:
        shell(command, repository, tmp_path)
        assert (tmp_path / "MARK").exists(), "git does not run it, so that the case is none"


@needs_git
@pytest.mark.req("K7")
@pytest.mark.parametrize("what", PLAIN)
def test_git_is_taken_at_its_word_in_a_repository_that_runs_nothing(
    what: str, tmp_path: Path
) -> None:
    setup, command = PLAIN[what]
    repository = made(tmp_path, setup)
    assert decision(command, repository) is Decision.ALLOW
    if "fetch" not in command:  # which would look for a network
        shell(command, repository, tmp_path)
        assert not (tmp_path / "MARK").exists()


@needs_git
@pytest.mark.req("K7")
def test_the_directory_that_a_call_names_is_looked_at(tmp_path: Path) -> None:
    setup = "git init -q s; git -C s config core.fsmonitor $EVIL"
    repository = made(tmp_path, setup)
    assert decision("git status", repository) is Decision.ALLOW
    for path in ("s", "sub/../s", str(repository / "s")):
        assert decision("git status", repository, working_directory=path) is Decision.ASK
    assert decision("cd .. && git status", repository / "sub", working_directory="../s/.git") is (
        Decision.ASK
    )


@needs_git
@pytest.mark.req("K7")
@pytest.mark.parametrize(
    "command",
    [
        *("cd && git status", "cd - && git status", "popd; git status", "cd s* && git log"),
        *("cd $(ls) && git status", "cd nowhere && git status"),
        *("; ".join(["cd sub; cd .."] * 10) + "; git log", "pushd +1 && git status"),
    ],
)
def test_git_in_a_place_that_is_not_known_is_asked_about(command: str, tmp_path: Path) -> None:
    assert decision(command, made(tmp_path, "")) is Decision.ASK


@needs_git
@pytest.mark.req("K7")
def test_commands_without_git_are_not_asked_about(tmp_path: Path) -> None:
    repository = made(tmp_path, "git config core.fsmonitor $EVIL")
    assert decision("ls", repository) is Decision.ALLOW
    assert decision("ls && git log", repository) is Decision.ASK


@pytest.mark.req("K7")
@pytest.mark.parametrize(
    ("where", "what"),
    [
        *product([".git"], ["pipe", "device", "huge", "loop"]),  # a directory is what it should be
        *product(
            [".git/config", ".git/config.worktree", ".git/index"],
            ["pipe", "device", "directory", "huge", "loop"],
        ),
    ],
)
def test_what_is_no_plain_file_is_reason_enough_and_never_waits(
    where: str, what: str, tmp_path: Path
) -> None:
    path = tmp_path / where
    path.parent.mkdir(exist_ok=True)
    match what:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "directory":
            path.mkdir()
        case "huge":
            path.touch()
            os.truncate(path, 1 << 40)
        case _:
            path.symlink_to(path.name)
    assert git_runs(tmp_path)
    assert git_runs(tmp_path, Use.READING)


@pytest.mark.req("K7")
def test_a_hook_folder_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    hooks = tmp_path / ".git" / "hooks"
    hooks.mkdir(parents=True)
    for number in range(1001):
        (hooks / f"{number}.sample").touch()
    assert any("too much" in one for one in git_runs(tmp_path))


@pytest.mark.req("K7")
@pytest.mark.parametrize(
    "text",
    [
        *("[core]\n\tfsmonitor = ./x\n", "[core] FsMonitor=./x\n", "[CORE]\nHooksPath = ~/x\n"),
        *(
            "[include]\n\tpath = ../x\n",
            '[includeIf "gitdir:x"]\n\tpath = x\n',
            "[core]\npager = x\n",
        ),
        *('[diff "x"]\n\ttextconv = x\n', '[diff "x"]\ncommand = x\n', "[diff]\nexternal = x\n"),
        *('[filter "x"]\n\tclean = x\n', '[merge "x"]\ndriver = x\n', "[alias]\n\tst = !rm x\n"),
        *("[core]\neditor = x\n", "[sequence]\neditor = x\n", "[core]\nsshcommand = x\n"),
        *("[gpg]\nprogram = x\n", '[gpg "ssh"]\nprogram = x\n', "[credential]\nhelper = x\n"),
        *('[credential "https://h"]\nhelper = x\n', '[url "ext::x"]\ninsteadof = https:\n'),
        *(
            '[remote "o"]\nuploadpack = x\n',
            '[remote "o"]\nreceivepack = x\n',
            "[protocol]\nallow = x\n",
        ),
        *(
            '[protocol "ext"]\nallow = always\n',
            '[remote "o"]\nvcs = x\n',
            '[remote "o"]\nurl = ext::x\n',
        ),
        *(
            '[submodule "s"]\nupdate = !x\n',
            "[init]\ntemplatedir = x\n",
            '[difftool "x"]\ncmd = x\n',
        ),
        *('[mergetool "x"]\npath = x\n', '[browser "x"]\ncmd = x\n', '[man "x"]\npath = x\n'),
        *("[sendemail]\nsmtpserver = /x\n", '[trailer "x"]\ncmd = x\n', "[pager]\nlog = x\n"),
        *(
            "[uploadpack]\npackobjectshook = x\n",
            "[interactive]\ndifffilter = x\n",
            "[core]\naskpass = x\n",
        ),
        *("[core]\ngitproxy = x\n", "[core]\nworktree = /\n", "[core]\nalternaterefscommand = x\n"),
        *(
            "[web]\nbrowser = x\n",
            "[instaweb]\nhttpd = x\n",
            "[something]\nnew = x\n",
            "[core]\nnew=x\n",
        ),
        *(
            '[branch "m"]\nmergeoptions = -s x\n',
            "[branch.m]\nmergeoptions = x\n",
            "[core\nx",
            "x = y\n",
        ),
        *(
            "[extensions]\npartialclone = o\n",
            '[remote "o"]\npromisor = true\n',
            '[remote "o"]\npartialclonefilter = blob:none\n',
            "[gc]\nrecentObjectsHook = x\n",
        ),
        *(
            "[diff]\nsubmodule = log\n",
            "[submodule]\nrecurse = true\n",
            "[status]\nsubmoduleSummary = true\n",
            "[core]\nfsmonitor\n",
            "[core]\nfsmonitor = short\n",
        ),
        *("[user]\nname = a\\\n b\n", '[core]\nfsmonitor = "\n', "[core]\n\x0bfsmonitor = x\n"),
        *(
            "[core]#\nfsmonitor=x\n",
            "[core];x\nfsmonitor=x\n",
            '[core "a"]\nbare=x\n',
            "[core]\n\tä=x\n",
        ),
    ],
)
def test_a_key_that_is_not_known_to_be_harmless_is_reason_enough(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(text)
    (tmp_path / "sub").mkdir()
    assert git_runs(tmp_path / "sub", Use.READING)


WHAT_RUNS = {
    "nothing": "",
    "a program": "[core]\n\tfsmonitor = good\n",
    "another program": "[core]\n\tfsmonitor = evil\n",
    "another behind it": "[core]\n\tfsmonitor = good\n\tpager = evil\n",
    "the last of many": "[core]\n\tfsmonitor = good\n" * 40 + "\tpager = good\n",
    "another as the last of many": "[core]\n\tfsmonitor = good\n" * 40 + "\tpager = evil\n",
    "a long program": "[core]\n\tpager = " + "x" * 300 + " good\n",
    "another long program": "[core]\n\tpager = " + "x" * 300 + " evil\n",
    "an address": '[remote "o"]\n\turl = ext::good\n',
    "another address": '[remote "o"]\n\turl = ext::evil\n',
    "what is not understood": "[core\nx = good\n",
    "another of that": "[core\nx = evil\n",
}


@pytest.mark.req("K7", "K10a")
def test_another_program_that_git_would_run_is_said_in_other_words(tmp_path: Path) -> None:
    """What is shown is what is compared before the call runs."""
    git = tmp_path / ".git"
    (git / "hooks").mkdir(parents=True)
    one = replace(
        call(BASH, command="git status"), context=CallContext("session", "turn", str(tmp_path))
    )
    told = []
    for config in WHAT_RUNS.values():
        (git / "config").write_text(config)
        told.append(distrust(one, frozenset()))
    hook = git / "hooks" / "fsmonitor-watchman"
    hook.touch(mode=0o700)
    told.append(distrust(one, frozenset()))
    assert len(set(told)) == len(told)
    assert told[0] == ""
    assert f"{git}/config holds core.fsmonitor = 'good'," in told[1]
    assert str(hook) in told[-1] and "core" in told[-1]
    assert max(map(len, told)) < 2_000


@pytest.mark.req("K7")
@pytest.mark.parametrize(
    "text",
    ["gitdir: /elsewhere\n", "gitdir: \n", "gitdir: .git\n", "nothing\n", "", "gitdir: a\0b\n"],
)
def test_a_git_that_leads_nowhere_is_not_taken_at_its_word(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert git_runs(tmp_path)


@needs_git
@pytest.mark.req("K7")
@pytest.mark.parametrize(
    ("settings", "held"),
    [
        ({}, False),
        ({"sandbox": "none"}, False),
        ({"sandbox": "workspace"}, True),
        ({"sandbox": "read_only"}, True),
        ({"sandbox": "workspace", "network": True}, False),
        ({"sandbox": "workspace", "roots": ["."]}, True),
        ({"sandbox": "workspace", "roots": ["."], "network": False}, True),
        ({"sandbox": "workspace", "roots": ["/"]}, False),
        ({"sandbox": "workspace", "roots": [".", "//x/.."]}, False),
    ],
)
def test_only_a_sandbox_that_is_demanded_makes_up_for_a_configuration(
    settings: dict[str, object], held: bool, tmp_path: Path
) -> None:
    repository = made(tmp_path, "git config core.fsmonitor $EVIL")
    ours = first_party("exec", settings)  # type: ignore[arg-type]
    expected = Decision.ALLOW if held else Decision.ASK
    assert decision("git status", repository, confined([ours])) is expected
    theirs = replace(ours, command=("/usr/bin/their-exec",))
    assert decision("git status", repository, confined([theirs])) is Decision.ASK
