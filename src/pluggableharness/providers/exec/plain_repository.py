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
    ("core", False): "repositoryformatversion filemode bare logallrefupdates ignorecase"
    " precomposeunicode symlinks autocrlf eol safecrlf",
    ("user", False): "name email",
    ("init", False): "defaultbranch",
    ("remote", True): "url fetch",
    ("branch", True): "remote merge rebase",
}
"""By section, and whether it is one with a name. The kernel asks about git by a longer list of its
own: the tests hold that whatever stays here is harmless there."""

_SECTION: Final = re.compile(r'[ \t]*\[([A-Za-z]+)(?:[ \t]+"([^"\\]*)")?\][ \t]*')
_SETTING: Final = re.compile(r"[ \t]*([A-Za-z]+)[ \t]*=[ \t]*(.*?)[ \t]*")
_NOTHING: Final = re.compile(r"[ \t]*(?:[#;].*)?")
_ADDRESS: Final = re.compile(r'(?!.*::)(?:[^"\\]*|"[^"\\]*")')
"""An address that git hands to no program of its own choosing, as `ext::program` would be."""


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
        goes_on = line.endswith("\\")
        if not continued and not goes_on:
            said = line.removesuffix("\r")
            section = _SECTION.fullmatch(said)
            if section:
                allowed = _KEYS.get((section[1].lower(), section[2] is not None), "").split()
            setting = _SETTING.fullmatch(said)
            harmless = bool(allowed) if section else _is_harmless(setting, allowed)
            if (harmless or _NOTHING.fullmatch(said)) and said.replace("\t", "").isprintable():
                kept.append(line)
            elif not setting:
                allowed = []  # a section that is not known, or not understood
        continued = goes_on
    return "\n".join(kept)


def _is_harmless(setting: re.Match[str] | None, allowed: list[str]) -> bool:
    if setting is None or setting[1].lower() not in allowed:
        return False
    return setting[1].lower() != "url" or _ADDRESS.fullmatch(setting[2]) is not None


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
