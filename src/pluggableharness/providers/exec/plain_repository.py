"""What of a repository that a command has made leads git to run programs (C14).

`git init` may well be what was asked for, and what it makes names no program. Of anything else
only what is known to be as harmless stays. Looks by descriptors.
"""

from __future__ import annotations

import os
import re
from typing import Final

CONFIGURATION: Final = "config"
_HOOKS: Final = "hooks"
_ELSEWHERE: Final = frozenset({"commondir", "config.worktree"})
_KEYS: Final = {
    "core": "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode"
    " symlinks autocrlf eol safecrlf",
    "user": "name email",
    "init": "defaultbranch",
    "remote": "url fetch",
    "branch": "remote merge rebase",
}
_SECTION: Final = re.compile(r'\s*\[\s*([a-z]+)(?:\s+"[^"\\]*")?\s*\]\s*', re.IGNORECASE)
_SETTING: Final = re.compile(r"\s*([a-z]+)\s*=\s*(.*)", re.IGNORECASE)
_NOTHING: Final = re.compile(r"\s*(?:[#;].*)?")
_TRANSPORT: Final = re.compile(r"[a-z0-9+.-]*::", re.IGNORECASE)
"""An address that git hands to a program of that name."""


def risky_names(git: int) -> list[str]:
    """The names in an open `.git` that lead git to run something, its configuration aside."""
    names = os.listdir(git)
    found = [name for name in names if name in _ELSEWHERE]
    if _HOOKS in names and not _only_samples(git):
        found.append(_HOOKS)
    return found


def plain_lines(text: str) -> str:
    """A configuration without the lines that are not known to name no program."""
    kept: list[str] = []
    allowed: list[str] = []
    continued = False
    for line in text.split("\n"):
        section, setting = _SECTION.fullmatch(line), _SETTING.fullmatch(line)
        goes_on = line.endswith("\\")
        if not continued and not goes_on:
            if section:
                allowed = _KEYS.get(section[1].lower(), "").split()
            harmless = setting is not None and setting[1].lower() in allowed
            to_a_program = setting is not None and _TRANSPORT.match(setting[2].strip('"'))
            if _NOTHING.fullmatch(line) or (section and allowed) or (harmless and not to_a_program):
                kept.append(line)
            elif not setting:
                allowed = []  # a section that is not known, or not understood
        continued = goes_on
    return "\n".join(kept)


def _only_samples(git: int) -> bool:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(_HOOKS, flags, dir_fd=git)
    except OSError:
        return False
    try:
        return all(name.endswith(".sample") for name in os.listdir(descriptor))
    finally:
        os.close(descriptor)
