"""Whether a project's own git configuration makes git run other programs (K7).

`git status` reads `.git/config`, which whoever could write there has a say in. Read as text:
a word too many asks once more, and git's own parser is not to be trusted with it either.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

_RUNS: Final = re.compile(
    r"^\s*(?:fsmonitor|hookspath|pager|editor|sshcommand|external|command|textconv|clean|smudge"
    r"|process|program|helper|askpass|gitproxy|attributesfile|path|worktree|driver"
    r"|diff|log|show|status|alias)\s*="
    r"|^\s*\[\s*(?:include|includeif|alias|pager|filter|diff\s|merge\s|gpg|credential)",
    re.IGNORECASE | re.MULTILINE,
)
_LARGEST: Final = 1 << 20


class Distrusted(Mapping[str, str]):
    """The programs that do more in a directory than their words say, each with the reason.

    Looked at when it is asked about: most calls are no commands, and reading a repository's
    configuration for each of them costs more than deciding about it.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __getitem__(self, program: str) -> str:
        why = git_runs(self._directory) if program == "git" else ""
        if not why:
            raise KeyError(program)
        return why

    def __iter__(self) -> Iterator[str]:
        return iter([name for name in ("git",) if name in self])

    def __len__(self) -> int:
        return len(list(self))


def git_runs(directory: Path) -> str:
    """Why git in a directory may run what its words do not show; "" when nothing says so."""
    for folder in (directory, *directory.parents):
        found = folder / ".git"
        if found.is_file():
            return f"{found} leads elsewhere, and that configuration was not looked at"
        if found.is_dir():
            return _says(found / "config") or _says(found / "config.worktree")
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
            return f"{folder} is itself a repository"
    return ""


def _says(path: Path) -> str:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST).decode(errors="replace")
    except FileNotFoundError:
        return ""
    except OSError as failure:
        return f"{path} cannot be read: {failure.strerror}"
    # A value may be written over several lines, and a key may follow its section's bracket.
    found = _RUNS.search(text.replace("]", "]\n"))
    if found is None:
        return ""
    return f"{path} sets {found[0].strip()!r}, by which git runs other programs"
