"""Whether git in a directory may run what its words do not show (K7).

Looks at every place of a repository that git would read on its own account: the configuration of
the directory, of its worktree and of its submodules, and their hooks. What the user's own
configuration holds is trusted. Nothing here waits or reads without end: what is no plain file of
moderate size is reason enough.
"""

import os
import re
import stat
from enum import Enum
from pathlib import Path
from typing import Final, assert_never

from pluggableharness.kernel.git import keys
from pluggableharness.kernel.git.index import NotUnderstood, gitlinks
from pluggableharness.kernel.policy.shell.words import names
from pluggableharness.kernel.regular import opened

_LARGEST_CONFIG: Final = 1 << 20
_LARGEST_INDEX: Final = 64 << 20
_LARGEST_LINK: Final = 4096
_MOST_REPOSITORIES: Final = 100
_MOST_HOOKS: Final = 1000
_PATH: Final = re.compile(r"^\s*path\s*=\s*(.*?)\s*$", re.MULTILINE)
_HOOKS_OF_WRITERS: Final = names(
    "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg "
    "commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update "
    "proc-receive post-receive post-update push-to-checkout pre-auto-gc post-rewrite "
    "sendemail-validate reference-transaction"
)
"""Hooks that no command which only reads runs. What else is executable there may be run."""


class Use(Enum):
    """What git is used for: to read; to change the index or refs; or for anything at all."""

    READING = "reading"
    LOCAL = "local"
    ANYTHING = "anything"

    @property
    def runs_no(self) -> frozenset[str]:
        """Hooks that git does not run for it."""
        match self:
            case Use.READING:
                return _HOOKS_OF_WRITERS
            case Use.LOCAL:
                return _HOOKS_OF_WRITERS - {"reference-transaction"}
            case Use.ANYTHING:
                return frozenset()
            case never:
                assert_never(never)


class _Runs(Exception):
    """Why git may run other programs."""


def git_runs(directory: Path, use: Use = Use.ANYTHING) -> list[str]:
    """Everything by which git in a directory may run what its words do not show."""
    looking = _Looking(use)
    try:
        real = Path(os.path.realpath(directory, strict=True))
        # Which of them git takes depends on its version, its owner and what is in each: all count.
        for folder in (real, *real.parents):
            looking.entry(folder)
    except (OSError, ValueError) as failure:
        why = getattr(failure, "strerror", failure)
        return [*looking.found, f"{directory} cannot be looked at: {why}"]
    return looking.found


class _Looking:
    """One look at a repository and at those below it."""

    def __init__(self, use: Use) -> None:
        self._use = use
        self._seen: set[Path] = set()
        self.found: list[str] = []
        """Why git may run other programs, as it is shown."""

    def entry(self, folder: Path) -> None:
        """Look at what a folder holds that might be a repository."""
        try:
            self._entry(folder)
        except _Runs as why:
            self.found.append(str(why))

    def _entry(self, folder: Path) -> None:
        if os.path.lexists(folder / "HEAD"):
            raise _Runs(f"{folder} may itself be a repository, since it has a HEAD")
        path = folder / ".git"
        if not os.path.lexists(path):
            return
        try:
            mode = path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            raise _Runs(f"{path} leads nowhere") from None
        if stat.S_ISREG(mode):
            self._repository(_linked(path), folder, path)
        elif stat.S_ISDIR(mode):
            self._repository(path, folder, path)
        else:
            raise _Runs(f"{path} is neither a directory nor a file")

    def _repository(self, git: Path, worktree: Path, named_by: Path) -> None:
        real = Path(os.path.realpath(git))
        if real in self._seen:
            return
        if len(self._seen) >= _MOST_REPOSITORIES:
            raise _Runs(f"{worktree} is one of too many repositories to look at")
        if not real.is_dir():
            raise _Runs(f"{named_by} leads to {git}, which is no directory")
        self._seen.add(real)
        common = _common(real)
        config = self._config(common / "config", real, worktree)
        config += self._config(real / "config.worktree", real, worktree)
        self._hooks(common / "hooks")
        sizes = (20, 32) if "sha256" in config.lower() else (20,)
        for path in _submodules(real, worktree, sizes):
            self.entry(worktree / path)
        if self._use is Use.ANYTHING:
            self._modules(common / "modules")

    def _modules(self, folder: Path) -> None:
        """What only commits name as a submodule is entered too, where its repository is here."""
        try:
            names = os.listdir(folder)
        except (FileNotFoundError, NotADirectoryError):
            return
        for name in names:
            real = Path(os.path.realpath(folder / name))
            if not any(one.is_relative_to(real) for one in self._seen):
                raise _Runs(f"{folder / name} is a submodule's that nothing here names")

    def _config(self, path: Path, git: Path, worktree: Path) -> str:
        text = _text(path, _LARGEST_CONFIG)
        if text is None:
            return ""
        leads_home = frozenset({str(worktree), os.path.relpath(worktree, git)})
        local = self._use is not Use.ANYTHING
        folders, suspicious = keys.check(text, leads_home, local=local)
        self.found += (f"{path} holds {one}" for one in suspicious)
        for folder in folders:
            self._hooks(worktree / folder)
            self._hooks(git / folder)
        return text

    def _hooks(self, folder: Path) -> None:
        try:
            with os.scandir(folder) as found:
                for count, one in enumerate(found):
                    if count >= _MOST_HOOKS:
                        raise _Runs(f"{folder} holds too much to look at")
                    if self._runs(one):
                        self.found.append(f"{one.path} is a hook, which git may run")
        except (FileNotFoundError, NotADirectoryError):
            return

    def _runs(self, one: "os.DirEntry[str]") -> bool:
        if one.name.endswith(".sample") or one.name in self._use.runs_no:
            return False
        return not one.is_dir() and os.access(one.path, os.X_OK)


def _linked(path: Path) -> Path:
    """Where a `.git` that is a file says that the repository is."""
    text = _text(path, _LARGEST_LINK) or ""
    target = text.removeprefix("gitdir: ").rstrip("\r\n")
    if not text.startswith("gitdir: ") or not target:
        raise _Runs(f"{path} is not understood")
    return path.parent / target


def _common(git: Path) -> Path:
    """Where the repository of a worktree keeps what all of its worktrees share."""
    text = _text(git / "commondir", _LARGEST_LINK)
    if text is None:
        return git
    common = Path(os.path.realpath(git / text.rstrip("\r\n")))
    if not common.is_dir():
        raise _Runs(f"{git / 'commondir'} leads to {common}, which is no directory")
    return common


def _submodules(git: Path, worktree: Path, hash_sizes: tuple[int, ...]) -> set[str]:
    """The folders of the worktree that may be repositories of their own."""
    listed = _PATH.findall(_text(worktree / ".gitmodules", _LARGEST_CONFIG) or "")
    found = {path.strip('"') for path in listed}
    for index in (git / "index", *git.glob("sharedindex.*")):
        data = _bytes(index, _LARGEST_INDEX)
        try:
            for hash_size in hash_sizes:
                found |= set(gitlinks(data or b"", hash_size))
        except NotUnderstood:
            raise _Runs(f"{index} names submodules in a form that is not known here") from None
    return found


def _text(path: Path, most: int) -> str | None:
    """What a plain file holds, each byte as it stands in a path; None when there is none."""
    data = _bytes(path, most)
    if data is None:
        return None
    if b"\0" in data:
        raise _Runs(f"{path} holds NUL")
    return os.fsdecode(data)


def _bytes(path: Path, most: int) -> bytes | None:
    """What a plain file holds; None when there is none. Raises _Runs for any other, and for one
    that is larger than `most` bytes."""
    try:
        with opened(path) as file:
            data = file.read(most + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as failure:
        raise _Runs(f"{path} cannot be read: {failure.strerror}") from None
    if len(data) > most:
        raise _Runs(f"{path} is larger than {most:,} bytes")
    return data
