"""Which keys of a git configuration are harmless (K7).

All others may make git run programs or reach elsewhere: there are too many of those to list, and
each version of git brings more. A key too few asks once more.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pluggableharness.kernel.policy.shell.options import names

_ANY: Final = frozenset(["*"])


_PLAIN: Final[Mapping[str, frozenset[str]]] = {
    "core": names(
        "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode "
        "symlinks autocrlf safecrlf eol abbrev compression loosecompression bigfilethreshold "
        "quotepath commentchar commentstring untrackedcache checkstat trustctime preloadindex "
        "commitgraph multipackindex sharedrepository splitindex whitespace longpaths protectntfs "
        "protecthfs fscache packedgitlimit packedgitwindowsize deltabasecachelimit fsync "
        "fsyncmethod fsyncobjectfiles sparsecheckout sparsecheckoutcone notesref excludesfile "
        "hidedotfiles warnambiguousrefs maxtreedepth"
    ),
    "user": names("name email signingkey useconfigonly"),
    "author": names("name email"),
    "committer": names("name email"),
    "branch": names("autosetupmerge autosetuprebase sort"),
    "remote": names("pushdefault"),
    "submodule": names("active recurse fetchjobs propagatebranches"),
    "push": names("default followtags autosetupremote recursesubmodules"),
    "pull": names("rebase ff"),
    "fetch": names(
        "prune prunetags parallel recursesubmodules writecommitgraph fsckobjects showforcedupdates"
    ),
    "merge": names("conflictstyle ff renames renamelimit log stat directoryrenames autostash"),
    "rebase": names("autosquash autostash updaterefs stat missingcommitscheck"),
    "commit": names("gpgsign verbose cleanup status template"),
    "tag": names("sort gpgsign forcesignannotated"),
    "log": names("date decorate follow abbrevcommit mailmap diffmerges excludedecoration"),
    "diff": names(
        "algorithm renames renamelimit mnemonicprefix noprefix colormoved colormovedws context "
        "interhunkcontext submodule ignoresubmodules wordregex indentheuristic relative"
    ),
    "grep": names("linenumber patterntype extendedregexp column fullname threads"),
    "init": names("defaultbranch"),
    "credential": names("username usehttppath"),
    "extensions": names(
        "objectformat compatobjectformat partialclone worktreeconfig refstorage preciousobjects "
        "noop relativeworktrees"
    ),
    "lfs": names("repositoryformatversion"),
    "maintenance": names("auto strategy"),
    "receive": names("denycurrentbranch denynonfastforwards denydeletes fsckobjects"),
    "transfer": names("fsckobjects"),
    "http": names("extraheader postbuffer version lowspeedlimit lowspeedtime"),
    "apply": names("whitespace ignorewhitespace"),
    "am": names("threeway keepcr"),
    "checkout": names("defaultremote guess workers"),
    "worktree": names("guessremote userelativepaths"),
    **dict.fromkeys(
        names(
            "advice blame color column commitgraph feature gc i18n index pack rerere stash status"
        ),
        _ANY,
    ),
}
_PLAIN_OF_ONE: Final[Mapping[str, frozenset[str]]] = {
    "branch": names(
        "remote merge rebase pushremote description base vscode-merge-base gh-merge-base "
        "github-pr-owner-number github-pr-base-branch"
    ),
    "remote": names(
        "url pushurl fetch push tagopt prune prunetags mirror promisor partialclonefilter "
        "skipdefaultupdate skipfetchall gh-resolved followremotehead"
    ),
    "submodule": names("url path branch active ignore shallow fetchrecursesubmodules update"),
    "credential": names("username usehttppath"),
    "http": names("extraheader postbuffer version"),
    "lfs": names("access locksverify"),
    "color": _ANY,
    "gc": _ANY,
}
"""As `[branch "main"]` has them: keys of sections with a name of one."""

_HEADER: Final = re.compile(
    r"\s*\[([A-Za-z0-9-]+)(?:\.([A-Za-z0-9.-]+)|[ \t]+\"((?:[^\"\\]|\\.)*)\")?[ \t]*\]"
)
_ENTRY: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*?))?\s*")
_NETWORK: Final = re.compile(r"(?:https?|ssh|git)://|(?:[\w.-]+@)?[\w.-]{2,}:(?!:)")
_OFF: Final = frozenset(["false", "no", "off", "0", ""])


class NotPlain(Exception):
    """What in a configuration is not known to be harmless."""


def entries(text: str) -> Iterator[tuple[str, bool, str, str]]:
    """Section, whether it is one with a name, key and value of every line of a configuration.

    Section and key are in lower case, a value is as written. Raises NotPlain for what git may
    read otherwise: it is stricter than git.
    """
    section, named = "", False
    for line in text.split("\n"):
        rest = line.removesuffix("\r")
        while (header := _HEADER.match(rest)) is not None:
            section, named = header[1].lower(), header[2] is not None or header[3] is not None
            rest = rest[header.end() :]
        if not rest.strip() or rest.lstrip()[0] in "#;":
            continue
        entry = _ENTRY.fullmatch(rest)
        if entry is None or not section or rest.rstrip().endswith("\\"):
            raise NotPlain(f"{rest.strip()[:60]!r}, which is not understood")
        yield section, named, entry[1].lower(), entry[2] or ""


def check(text: str, worktrees: frozenset[str], *, local: bool) -> list[str]:
    """The folders of hooks that a configuration names, as written.

    Raises NotPlain for the first key that is not known to be harmless. `worktrees` are the values
    of core.worktree that lead where git would be anyway. With `local` nothing is sent to another
    repository, so that it does not matter where one is.
    """
    hooks: list[str] = []
    for section, named, key, value in entries(text):
        if (section, named, key) == ("core", False, "hookspath"):
            hooks.append(_folder(value))
            continue
        plain = (_PLAIN_OF_ONE if named else _PLAIN).get(section, frozenset())
        known = plain is _ANY or key in plain or _harmless(section, key, value, worktrees)
        if not known or _odd(section, key, value, local):
            shown = f"{section}.*.{key}" if named else f"{section}.{key}"
            raise NotPlain(f"{shown}, by which git may run other programs")
    return hooks


def _folder(value: str) -> str:
    """The folder that a value names. Raises NotPlain where git would expand it."""
    folder = _unquoted(value)
    if not folder or any(char in folder for char in "~%!#;"):
        raise NotPlain("core.hookspath, by which git may run other programs")
    return folder


def _harmless(section: str, key: str, value: str, worktrees: frozenset[str]) -> bool:
    if (section, key) == ("core", "fsmonitor"):
        return value.lower() in _OFF
    return (section, key) == ("core", "worktree") and _unquoted(value) in worktrees


def _odd(section: str, key: str, value: str, local: bool) -> bool:
    """Whether a value makes more of a key than its name says."""
    if section == "submodule" and key == "update":
        return _unquoted(value).startswith("!")
    if key in ("url", "pushurl"):
        address = _unquoted(value)
        return "::" in address or (not local and _NETWORK.match(address) is None)
    return False


def _unquoted(value: str) -> str:
    """A value as git reads it; one that would have to be read with care begins with `!`."""
    plain = value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value
    return "!::" if '"' in plain or "\\" in plain else plain
