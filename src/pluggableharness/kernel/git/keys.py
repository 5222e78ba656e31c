"""Which keys of a git configuration are harmless (K7).

All others may make git run programs or reach elsewhere: there are too many of those to list, and
each version of git brings more. A key too few asks once more.
"""

import os
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Final

from pluggableharness.kernel.policy.shell.words import names

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
    "submodule": names("active fetchjobs"),
    "push": names("default followtags autosetupremote"),
    "pull": names("rebase ff"),
    "fetch": names("prune prunetags parallel writecommitgraph fsckobjects showforcedupdates"),
    "merge": names("conflictstyle ff renames renamelimit log stat directoryrenames autostash"),
    "rebase": names("autosquash autostash updaterefs stat missingcommitscheck"),
    "commit": names("gpgsign verbose cleanup status template"),
    "tag": names("sort gpgsign forcesignannotated"),
    "log": names("date decorate follow abbrevcommit mailmap diffmerges excludedecoration"),
    "diff": names(
        "algorithm renames renamelimit mnemonicprefix noprefix colormoved colormovedws context "
        "interhunkcontext ignoresubmodules wordregex indentheuristic relative"
    ),
    "grep": names("linenumber patterntype extendedregexp column fullname threads"),
    "init": names("defaultbranch"),
    "credential": names("username usehttppath"),
    "extensions": names(
        "objectformat compatobjectformat worktreeconfig refstorage preciousobjects "
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
    "blame": names(
        "blankboundary coloring date showemail showroot ignorerevsfile markunblamablelines "
        "markignoredlines"
    ),
    "column": names("ui branch clean status tag"),
    "commitgraph": names("generationversion maxnewfilters readchangedpaths changedpathsversion"),
    "feature": names("manyfiles"),
    "gc": names(
        "aggressivedepth aggressivewindow auto autopacklimit autodetach bigpackthreshold "
        "writecommitgraph logexpiry packrefs cruftpacks maxcruftsize pruneexpire "
        "worktreepruneexpire reflogexpire reflogexpireunreachable rerereresolved "
        "rerereunresolved"
    ),
    "i18n": names("commitencoding logoutputencoding"),
    "index": names("recordendofindexentries recordoffsettable threads version skiphash"),
    "pack": names(
        "window depth windowmemory compression threads indexversion packsizelimit writebitmaps "
        "writebitmaphashcache writebitmaplookuptable deltacachesize deltacachelimit usebitmaps "
        "usesparse allowpackreuse preferbitmaptips readreverseindex writereverseindex"
    ),
    "rerere": names("autoupdate enabled"),
    "stash": names("showincludeuntracked showpatch showstat useindex"),
    "status": names(
        "relativepaths short branch aheadbehind displaycommentprefix renamelimit renames "
        "showstash showuntrackedfiles"
    ),
    # A word of advice or a color, whatever it is called.
    **dict.fromkeys(names("advice color"), _ANY),
}
_PLAIN_OF_ONE: Final[Mapping[str, frozenset[str]]] = {
    "branch": names(
        "remote merge rebase pushremote description base vscode-merge-base gh-merge-base "
        "github-pr-owner-number github-pr-base-branch"
    ),
    "remote": names(
        "url pushurl fetch push tagopt prune prunetags mirror "
        "skipdefaultupdate skipfetchall gh-resolved followremotehead"
    ),
    "submodule": names("url path branch active ignore shallow update"),
    "credential": names("username usehttppath"),
    "http": names("extraheader postbuffer version"),
    "lfs": names("access locksverify"),
    "color": _ANY,
    "gc": names("reflogexpire reflogexpireunreachable"),
}
"""As `[branch "main"]` has them: keys of sections with a name of one."""

_UNLESS_OFF: Final = frozenset(
    [
        *(("core", "fsmonitor"), ("submodule", "recurse"), ("push", "recursesubmodules")),
        *(("fetch", "recursesubmodules"), ("submodule", "fetchrecursesubmodules")),
        *(("status", "submodulesummary"), ("index", "sparse")),
    ]
)
"""Keys that run a program, or lead git into repositories that only commits name."""

_HEADER: Final = re.compile(
    r"[ \t]*\[([A-Za-z0-9-]+)(?:\.([A-Za-z0-9.-]+)|[ \t]+\"((?:[^\"\\]|\\.)*)\")?[ \t]*\]"
)
_ENTRY: Final = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*?))?[ \t]*")
_CONTROL: Final = re.compile(r"[\0-\x08\x0a-\x1f]")
_MARK: Final = os.fsdecode(b"\xef\xbb\xbf")
"""What git passes over where a file begins with it."""

_NETWORK: Final = re.compile(r"(?:https?|ssh|git)://|(?:[\w.-]+@)?[\w.-]{2,}:(?!:)")
_OFF: Final = frozenset(["false", "no", "off", "0"])
_ADDRESSES: Final = frozenset(["url", "pushurl"])
_LONGEST_SHOWN: Final = 200


class NotPlain(Exception):
    """What in a configuration is not known to be harmless."""


def entries(text: str) -> Iterator[tuple[str, bool, str, str]]:
    """Section, whether it is one with a name, key and value of every line of a configuration.

    Section and key are in lower case, a value is as written. Raises NotPlain for what git may
    read otherwise: it is stricter than git.
    """
    section, named = "", False
    for line in text.removeprefix(_MARK).split("\n"):
        rest = line.removesuffix("\r")
        if _CONTROL.search(rest):
            raise NotPlain(f"{rest.strip()[:60]!r}, which is not understood")
        while (header := _HEADER.match(rest)) is not None:
            section, named = header[1].lower(), header[2] is not None or header[3] is not None
            rest = rest[header.end() :]
        said = rest.strip(" \t")
        if not said or said[0] in "#;":
            continue
        entry = _ENTRY.fullmatch(rest)
        if entry is None or not section or said.endswith("\\"):
            raise NotPlain(f"{rest.strip()[:60]!r}, which is not understood")
        yield section, named, entry[1].lower(), entry[2] or ""


def check(text: str, worktrees: frozenset[str], *, local: bool) -> tuple[list[str], list[str]]:
    """The folders of hooks that a configuration names, as written, and all in it that is not known
    to be harmless, with its value: other words say that another thing is there (K10a).

    `worktrees` are the values of core.worktree that lead where git would be anyway. With `local`
    nothing is sent to another repository, so that it does not matter where one is.
    """
    hooks: list[str] = []
    suspicious: list[str] = []
    try:
        for section, named, key, value in entries(text):
            if (section, named, key) == ("core", False, "hookspath") and _names_folder(value):
                hooks.append(_unquoted(value))
                continue
            plain = (_PLAIN_OF_ONE if named else _PLAIN).get(section, frozenset())
            known = plain is _ANY or key in plain or _harmless(section, key, value, worktrees)
            if not known or _odd(section, key, value, local):
                shown = f"{section}.*.{key}" if named else f"{section}.{key}"
                said = f"{shown} = {_shown(key, value)}"
                suspicious.append(f"{said}, by which git may run other programs")
    except NotPlain as why:
        suspicious.append(f"{why} ({digest(text)})")
    return hooks, suspicious


def digest(text: str) -> str:
    """What tells a text from another that is not shown."""
    return sha256(os.fsencode(text)).hexdigest()[:12]


def _shown(key: str, value: str) -> str:
    """A value, unless it is long or an address, which may hold a password."""
    if len(value) <= _LONGEST_SHOWN and key not in _ADDRESSES:
        return repr(value)
    return f"{len(value)} characters ({digest(value)})"


def _names_folder(value: str) -> bool:
    """Whether a value names a folder that git takes as it is written."""
    folder = _unquoted(value)
    return bool(folder) and not any(char in folder for char in "~%!#;\t")


def _harmless(section: str, key: str, value: str, worktrees: frozenset[str]) -> bool:
    if (section, key) in _UNLESS_OFF:
        return value.lower() in _OFF
    if (section, key) == ("diff", "submodule"):
        return value == "short"
    return (section, key) == ("core", "worktree") and _unquoted(value) in worktrees


def _odd(section: str, key: str, value: str, local: bool) -> bool:
    """Whether a value makes more of a key than its name says."""
    if section == "submodule" and key == "update":
        return _unquoted(value).startswith("!")
    if key in _ADDRESSES:
        address = _unquoted(value)
        return "::" in address or (not local and _NETWORK.match(address) is None)
    return False


def _unquoted(value: str) -> str:
    """A value as git reads it; one that would have to be read with care begins with `!`."""
    plain = value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value
    return "!::" if '"' in plain or "\\" in plain else plain
