"""Repositories that make git run programs: git itself runs them, and they are seen beforehand."""

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.config.git_config import Distrusted
from pluggableharness.kernel.config.git_repository import Use, git_runs
from pluggableharness.kernel.domain.call import CallContext
from pluggableharness.kernel.domain.operation import Risk
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.first_party import confined, first_party
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

BASE = """
git init -q -b main repo && cd repo && echo a > f && mkdir sub && echo b > sub/g && git add -A
git commit -q -m one && echo more >> f
"""
HOSTILE = {
    "core.fsmonitor": ("git config core.fsmonitor $EVIL", "git status"),
    "a key behind its section": ('printf "[core] fsMonitor=$EVIL\\n" >> .git/config', "git status"),
    "several sections in a line": (
        'printf "[a][core]fsmonitor=$EVIL\\n" >> .git/config',
        "git diff",
    ),
    "carriage returns": (
        'printf "[core]\\r\\n\\tfsmonitor=$EVIL\\r\\n" >> .git/config',
        "git status",
    ),
    "a value in quotes": (
        'printf "[core]\\nfsmonitor=\\"$EVIL\\"\\n" >> .git/config',
        "git status",
    ),
    "a continued line": (
        'printf "[core]\\nfsmoni\\\\\\ntor=x\\nfsmonitor=\\\\\\n$EVIL\\n">>.git/config',
        "",
    ),
    "a mark of the order of bytes": (
        'printf "\\xef\\xbb\\xbf[core]\\nfsmonitor=$EVIL\\n" | cat - .git/config > c; '
        "mv c .git/config",
        "git status",
    ),
    "include.path": (
        "git config -f x core.fsmonitor $EVIL; git config include.path ../x",
        "git status",
    ),
    "includeIf": (
        'git config -f x core.fsmonitor $EVIL; git config "includeIf.gitdir:**.path" ../x',
        "git status",
    ),
    "behind a megabyte of comments": (
        'head -c 1100000 /dev/zero | tr "\\0" "#" >> .git/config; echo >> .git/config; '
        "git config core.fsmonitor $EVIL",
        "git status",
    ),
    "config.worktree": (
        "git config extensions.worktreeConfig true; git config --worktree core.fsmonitor $EVIL",
        "git status",
    ),
    "a .git that is a link": (
        "mv .git ../g; ln -s ../g .git; git config core.fsmonitor $EVIL",
        "git log; git status",
    ),
    "a .git that is a file": (
        'mv .git ../g; echo "gitdir: ../g" > .git; git config core.fsmonitor $EVIL',
        "git status",
    ),
    "commondir": (
        "cp -r .git ../g; git config -f ../g/config core.fsmonitor $EVIL; "
        "echo ../../g > .git/commondir",
        "git status",
    ),
    "a linked worktree": (
        "git worktree add -q ../w -b w; git config core.fsmonitor $EVIL",
        "cd ../w && git status",
    ),
    "a submodule's configuration": (
        "git init -q s; git -C s commit -q --allow-empty -m s; "
        "git -c protocol.file.allow=always submodule add -q ./s t >/dev/null; "
        "git -C t config core.fsmonitor $EVIL",
        "git status",
    ),
    "an embedded repository": (
        "git init -q s; git -C s commit -q --allow-empty -m s; git add s 2>/dev/null; "
        "git -C s config core.fsmonitor $EVIL",
        "git status",
    ),
    "an embedded repository in an index of version 4": (
        "git init -q s; git -C s commit -q --allow-empty -m s; git add s 2>/dev/null; "
        "git update-index --index-version 4; git -C s config core.fsmonitor $EVIL",
        "git status",
    ),
    "an embedded repository in a split index": (
        "git init -q s; git -C s commit -q --allow-empty -m s; git add s 2>/dev/null; "
        "git update-index --split-index; git -C s config core.fsmonitor $EVIL",
        "git status",
    ),
    "an embedded repository in an embedded one": (
        "git init -q s; git init -q s/t; git -C s/t commit -q --allow-empty -m s; "
        "git -C s add t 2>/dev/null; git -C s commit -q -m s; git add s 2>/dev/null; "
        "git -C s/t config core.fsmonitor $EVIL",
        "git status",
    ),
    "another directory": (
        "git init -q s; git -C s config core.fsmonitor $EVIL",
        "cd s && git status",
    ),
    "two steps down": (
        "git init -q sub/s; git -C sub/s config core.fsmonitor $EVIL",
        "cd sub; cd s; git status",
    ),
    "through a link and back": (
        "mkdir ../o; git init -q ../o/s; ln -s ../o/s l; git -C ../o/s config core.fsmonitor $EVIL",
        "cd l && git status",
    ),
    "a hook of every command": (
        "cp $EVIL .git/hooks/post-index-change; touch f",
        "git status",
    ),
    "a hook of commits": ("cp $EVIL .git/hooks/pre-commit", "git commit -q -a -m two"),
    "a hook of any name": ("cp $EVIL .git/hooks/reference-transaction", "git branch x"),
    "core.hooksPath": (
        "mkdir h; cp $EVIL h/post-checkout; git config core.hooksPath h",
        "git checkout -q -b x",
    ),
    "a hook of every command, elsewhere": (
        "mkdir h; cp $EVIL h/post-index-change; git config core.hooksPath h; touch f",
        "git status",
    ),
    "a hook of refs": ("cp $EVIL .git/hooks/reference-transaction", "git tag x"),
    "hooks behind a link": (
        "mkdir h; cp $EVIL h/post-checkout; rm -r .git/hooks; ln -s ../h .git/hooks",
        "git checkout -q -b x",
    ),
    "a filter": (
        'echo "* filter=x" > .gitattributes; git config filter.x.clean $EVIL',
        "git diff",
    ),
    "a process of a filter": (
        'echo "* filter=x" > .gitattributes; git config filter.x.process $EVIL',
        "git add f",
    ),
    "a driver of diff": (
        'echo "* diff=x" > .gitattributes; git config diff.x.command $EVIL',
        "git diff",
    ),
    "text conversion": (
        'echo "* diff=x" > .git/info/attributes; git config diff.x.textconv $EVIL',
        "git diff",
    ),
    "a driver of merge": (
        'echo "* merge=x" > .gitattributes; git config merge.x.driver $EVIL; git commit -qam m; '
        "git checkout -q -b x HEAD~; echo c > f; git commit -qam c; git checkout -q -f main",
        "git merge -q x",
    ),
    "diff.external": ("git config diff.external $EVIL", "git diff"),
    "an alias": ('git config alias.st "!$EVIL"', "git st"),
    "a signature's program": (
        "git config gpg.program $EVIL; git config commit.gpgSign true",
        "git commit -q -a -m two",
    ),
    "core.sshCommand": (
        "git config core.sshCommand $EVIL; git remote add origin ssh://h/x",
        "git fetch -q origin",
    ),
    "url.insteadOf and a helper": (
        'git config protocol.ext.allow always; git config "url.ext::$EVIL .insteadOf" https:; '
        "git remote add origin https://h/x",
        "git fetch -q origin",
    ),
    "remote.uploadpack": (
        "git remote add origin ../repo; git config remote.origin.uploadpack $EVIL",
        "git fetch -q origin",
    ),
    "remote.vcs": (
        "git remote add origin ssh://h/x; git config remote.origin.vcs ext; "
        'git config protocol.ext.allow always; git config remote.origin.url "$EVIL"',
        "git fetch -q origin",
    ),
    "core.editor": ("git config core.editor $EVIL", "git commit -q -a"),
    "sequence.editor": (
        "git stash -q; git config sequence.editor $EVIL",
        "git rebase -q -i --root",
    ),
    "a trailer's command": (
        "git config trailer.x.command $EVIL; git config trailer.x.key X",
        "git commit -q -a -m two --trailer x=y",
    ),
    "credential.helper": (
        'git config credential.helper "!$EVIL"; git config core.askPass true',
        "",
    ),
    "a remote that is a directory, with hooks": (
        "git init -q --bare ../b; cp $EVIL ../b/hooks/update; git remote add origin ../b",
        "git push -q origin main",
    ),
    "a push to a directory with hooks": (
        "git init -q --bare ../b; cp $EVIL ../b/hooks/update",
        "git push -q ../b main",
    ),
    "a bare repository": (
        "git clone -q --bare . b; git -C b config core.fsmonitor $EVIL; "
        "git -C b config alias.st '!'$EVIL",
        "cd b && git st",
    ),
    "a template's hooks": (
        "mkdir -p t/hooks; cp $EVIL t/hooks/post-checkout; git config init.templateDir $PWD/t",
        "",
    ),
}


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
    command: str, directory: Path, distrusted: Distrusted | None = None, **arguments: str
) -> Decision:
    place = CallContext("session", "turn", str(directory))
    one = replace(call(BASH, command=command, **arguments), context=place)
    terms = Terms(Asking.PERSON, distrusted=distrusted or Distrusted())
    return decide(ALLOW, one, terms).decision


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


PLAIN = {
    "a fresh one": ("", "git status"),
    "with a remote and branches": (
        "git remote add origin https://h/x; git config branch.main.remote origin; "
        "git config branch.main.merge refs/heads/main; git config branch.main.description d; "
        "git config user.email a@b; git config pull.rebase true; git config color.ui auto",
        "git fetch; git push -q origin main; git log",
    ),
    "an address as scp has it": ("git remote add origin git@host:a/b.git", "git fetch"),
    "a clone of a directory, to read": (
        "cd ..; git clone -q repo c; cd c",
        "git status && git log",
    ),
    "hooks of commits, to read": (
        "for h in pre-commit commit-msg pre-push; do cp $EVIL .git/hooks/$h; done",
        "git status; git log -p; git diff",
    ),
    "hooks of commits elsewhere, to read": (
        "mkdir -p .husky/_; cp $EVIL .husky/_/pre-commit; git config core.hooksPath .husky/_",
        "git status; git log; git add f; git branch x",
    ),
    "hooks of commits, to work here": (
        "cp $EVIL .git/hooks/pre-commit; git remote add origin ../b",
        "git add f; git branch x; git tag t; git reset -q; git --no-pager log",
    ),
    "hooks that are no programs": (
        "echo x > .git/hooks/post-index-change",
        "git commit -q -a -m x",
    ),
    "a submodule": (
        "git init -q ../s; git -C ../s commit -q --allow-empty -m s; "
        "git -c protocol.file.allow=always submodule add -q ../s t >/dev/null",
        "git status; git diff",
    ),
    "a linked worktree": ("git worktree add -q ../w -b w", "cd ../w && git status"),
    "an index of version 4": ("git update-index --index-version 4", "git status"),
    "below it": ("", "cd sub && git log; cd .. && git diff"),
    "fsmonitor turned off": ("git config core.fsmonitor false", "git status"),
}


@needs_git
@pytest.mark.req("K7")
@pytest.mark.parametrize("what", PLAIN)
def test_git_is_taken_at_its_word_in_a_repository_that_runs_nothing(
    what: str, tmp_path: Path
) -> None:
    setup, command = PLAIN[what]
    assert decision(command, made(tmp_path, setup)) is Decision.ALLOW


@needs_git
@pytest.mark.req("K7")
def test_the_directory_that_a_call_names_is_looked_at(tmp_path: Path) -> None:
    setup = "git init -q s; git -C s config core.fsmonitor $EVIL"
    repository = made(tmp_path, setup)
    assert decision("git status", repository) is Decision.ALLOW
    for path in ("s", "sub/../s", str(repository / "s")):
        assert decision("git status", repository, working_directory=path) is Decision.ASK
    assert decision("cd .. && git status", repository / "sub", working_directory="../s/.git")


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
@pytest.mark.parametrize("where", [".git", ".git/config", ".git/config.worktree", ".git/index"])
@pytest.mark.parametrize("what", ["pipe", "device", "directory", "huge", "loop"])
def test_what_is_no_plain_file_is_reason_enough_and_never_waits(
    where: str, what: str, tmp_path: Path
) -> None:
    if (where, what) == (".git", "directory"):
        pytest.skip("that is what it should be")
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
    assert "too much" in git_runs(tmp_path)


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
    distrusted = Distrusted(confined([ours]))
    expected = Decision.ALLOW if held else Decision.ASK
    assert decision("git status", repository, distrusted) is expected
    theirs = replace(ours, command=("/usr/bin/their-exec",))
    assert decision("git status", repository, Distrusted(confined([theirs]))) is Decision.ASK
