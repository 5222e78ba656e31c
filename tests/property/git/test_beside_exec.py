"""What the kernel and the exec provider know of git: neither imports the other, and they agree."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.kernel.git.directories import git_directories
from pluggableharness.kernel.git.keys import check
from pluggableharness.providers.exec import git_places as of_exec
from pluggableharness.providers.exec.plain_repository import plain_lines

sections = st.sampled_from(["core", "user", "init", "remote", "branch", "alias", "include", "url"])
names = st.sampled_from(["", ' "a"', ' "a" ', ".a", ' "a\\"b"', " a", ' "'])
keys = st.sampled_from(
    [
        *(
            "bare",
            "filemode",
            "fsmonitor",
            "hooksPath",
            "worktree",
            "name",
            "email",
            "url",
            "fetch",
        ),
        *("remote", "merge", "rebase", "defaultBranch", "path", "st", "insteadOf", "symlinks"),
    ]
)
values = st.sampled_from(
    [
        *("true", "x", "", "ext::sh -c x", '"ext::sh"', 'ex"t::sh"', "https://[::1]/a", "!sh"),
        *("a ; b", '"', "x\\", 'e\\x"t', "+refs/heads/*:refs/remotes/a/*", "git@host:a.git"),
    ]
)
odd = st.sampled_from(["", "# x", "; x", "]", "\ufeff", "\x0b", "\x0c", "\r", "\\", "\u00a0", "[a"])
lines = st.one_of(
    st.builds("[{}{}]".format, sections, names),
    st.builds("[{}{}] {} = {}".format, sections, names, keys, values),
    st.builds("{}{} = {}{}".format, odd, keys, values, odd),
    st.builds("\t{}={}".format, keys, values),
    odd,
)


@pytest.mark.req("C14", "K7")
@given(st.lists(lines, max_size=12).map("\n".join))
def test_what_a_command_may_leave_in_a_new_repository_the_kernel_takes_for_harmless(
    text: str,
) -> None:
    _, suspicious = check(plain_lines(text), frozenset(), local=True)
    assert suspicious == []


plain = {
    "core": ["repositoryformatversion = 0", "filemode = true", "bare=false", "symlinks = false"],
    "init": ["defaultBranch = main"],
    "user": ["name = Ann", 'name = "Ann ; B"', "email = a@b"],
    'remote "a"': ["url = git@host:a.git", "fetch = +refs/heads/*:refs/remotes/a/*"],
    'branch "a/b"': ["remote = a", "merge = refs/heads/b", "rebase = true"],
}
plain_sections = st.sampled_from(sorted(plain)).flatmap(
    lambda name: st.lists(st.sampled_from([*plain[name], "", "# x"]), max_size=4).map(
        lambda settings: "\n\t".join([f"[{name}]", *settings])
    )
)


@pytest.mark.req("C14")
@given(st.lists(plain_sections, max_size=5).map("\n".join))
def test_what_is_known_to_be_harmless_stays_as_it_was_written(text: str) -> None:
    assert plain_lines(text) == text


@pytest.mark.req("C14")
def test_what_git_itself_writes_into_a_new_repository_stays() -> None:
    text = (
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
        '[remote "origin"]\n\turl = https://example.com/a.git\n'
        "\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
        '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n'
        '[user]\n\tname = "Ann ; B"\n'
    )
    assert plain_lines(text) == text


@pytest.mark.req("C14", "K5a")
@pytest.mark.parametrize(
    "layout",
    [
        {".git/HEAD": "x"},
        {".git": "gitdir: elsewhere\n"},
        {".git": "gitdir: ../up\r\n\n"},
        {".git": "gitdir: /absolute"},
        {".git": "gitdir:without"},
        {".git": "gitdir: linked", "linked": Path("real")},
        {".git": Path("real"), "real/HEAD": ""},
        {".git": Path("real"), "real/commondir": "../common\n"},
        {".git/commondir": "/common"},
        {".git/commondir": "../main/.git\n"},
        {".git": "gitdir: main/worktrees/a\n", "main/worktrees/a/commondir": "../..\n"},
        {},
    ],
    ids=str,
)
def test_both_follow_a_git_to_the_same_places(
    tmp_path: Path, layout: dict[str, str | Path]
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    for name, content in layout.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            (folder / name).symlink_to(content)
        else:
            (folder / name).write_text(content, newline="")
    usual = {str(folder / ".git"), os.path.realpath(folder / ".git")}
    kernels = set(git_directories(folder))
    execs = {str(one) for one in of_exec.git_directories(folder)}
    assert kernels <= execs
    assert execs - kernels <= (usual if (folder / ".git").is_dir() else set())
