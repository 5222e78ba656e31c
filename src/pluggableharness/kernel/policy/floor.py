"""Writes that are at least asked about, whatever the rules say (K5a).

Judged by a path's text and by where the call says that it leads; what a shell command's
programs write is not seen here, only what its redirects do.
"""

import re
from collections.abc import Iterator
from posixpath import normpath

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.policy.shell import shell_view
from pluggableharness.kernel.policy.subjects import (
    Target,
    command_line,
    destination,
    leading,
    relative,
    targets,
)

_REDIRECT_TO_PROTECTED = re.compile(r"\.git|git~1|\.agent|agent\.hcl")
"""What a command line that is not understood may write to: its text is all there is to go by."""

_RULES = "holds the rules by which calls are judged"
_BELIEVED = "is believed or started later by the harness or by git"

_NOBODY: frozenset[str] = frozenset()


def protected_write(
    call: Call, policy_files: frozenset[str] = _NOBODY, named: frozenset[str] = _NOBODY
) -> str | None:
    """Why a resource call is at least ask: the path that it writes and what that holds.

    None when it writes to no protected path, or is no resource. `policy_files` are absolute paths
    of files, and of folders with all in them, that are believed or started later; `named` are
    paths that the rule which allows the call demands, and so speaks knowingly of.
    """
    if call.operation.kind is not Kind.RESOURCE:
        return None
    for target in targets(call):
        reason = _guarded(target, call, policy_files, named)
        if reason is not None:
            return reason
    line = command_line(call)
    if line is not None and shell_view(line).unusable:
        return _suspicious(line)
    return None


def _guarded(
    target: Target, call: Call, policy_files: frozenset[str], named: frozenset[str]
) -> str | None:
    """What makes a target protected, by its text or by where it leads."""
    if not target.told and target.absolute not in call.places and " " in target.text:
        return None  # prose that mentions a path; nothing is there under such a name
    leads_to = destination(call, target.absolute)
    if not leads_to:
        return leading(target.text, leads_to)
    why = _protection(normpath(target.absolute), policy_files)
    if why and named.isdisjoint((target.text, relative(target.text, call))):
        return f"{in_quotes(target.text)} {why}"
    if leads_to == normpath(target.absolute):
        return None
    real = frozenset((leads_to, call.places.get(target.absolute, leads_to)))
    why = next(filter(None, (_protection(one, policy_files) for one in sorted(real))), None)
    if why and named.isdisjoint((leads_to, relative(leads_to, call))):
        return f"{leading(target.text, leads_to)}, which {why}"
    return None


def _suspicious(line: str) -> str | None:
    # A path may also be put together by quotes and backslashes.
    folded = _folded(re.sub(r"[\\'\"\n]", "", line))
    if ">" not in folded or _REDIRECT_TO_PROTECTED.search(folded) is None:
        return None
    return "the command is not understood and may write to what steers git or the harness"


def _protection(absolute: str, policy_files: frozenset[str]) -> str | None:
    """What an absolute path without `..` is that protects it; None when nothing does."""
    if policy_files and not policy_files.isdisjoint(_upward(absolute)):
        return _BELIEVED
    folded = _folded(absolute)
    if "git" not in folded and "agent" not in folded:
        return None  # nearly every call: the rest costs ten times as much
    steps = [step.partition(":")[0].rstrip(" .") for step in folded.split("/")]
    if ".git" in steps or "git~1" in steps:
        return "is part of .git, which can run code at the next git command"
    if ".agent" in steps and not _is_output(steps):
        return "is below .agent, from which the harness itself is steered"
    if steps[-1] == "agent.hcl":
        return _RULES
    return None


def _upward(absolute: str) -> Iterator[str]:
    """A path and the folders that it is below, but for the root."""
    while absolute:
        yield absolute
        absolute = absolute.rpartition("/")[0]


def _is_output(steps: list[str]) -> bool:
    """Whether it is below `.agent/outputs/`, the innermost `.agent` being the one that counts."""
    inner = len(steps) - 1 - steps[::-1].index(".agent")
    return steps[inner + 1 : inner + 2] == ["outputs"] and len(steps) > inner + 2


def _folded(path: str) -> str:
    """The path without case and without what does not print.

    Some file systems ignore the one, HFS+ some of the other, and NTFS also dots and blanks at
    a step's end and what follows its colon; git itself once missed each of these.
    """
    if not path.isprintable():
        path = "".join(filter(str.isprintable, path))
    return path.casefold()
