"""`harness sessions list`: the sessions of the project that one is in, or all that there are."""

import argparse
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import msgspec

from pluggableharness.cli.complaining import complain
from pluggableharness.cli.exits import DONE
from pluggableharness.cli.reporting import reported
from pluggableharness.cli.session_words import about, began, ended
from pluggableharness.cli.working_directory import working_directory
from pluggableharness.kernel.config.finding import find
from pluggableharness.kernel.frontends.text import shown
from pluggableharness.kernel.store.index import Summary, summaries
from pluggableharness.kernel.store.location import sessions_directory

_NARROW = 20
_TIME = 10
"""Characters of an id that tell when its session began, to the millisecond."""


def main(options: argparse.Namespace) -> int:
    """Print the sessions, the newest last."""
    return reported(lambda: _list(options))


def _list(options: argparse.Namespace) -> int:
    every = summaries(sessions_directory(os.environ))
    root = "" if options.all else _root()
    found = [one for one in every if not root or _begun_in(one, root)]
    if every and not found:
        complain(
            f"no session was begun in {root}. `harness sessions list --all` has {len(every)}, "
            "with those of other folders, calls by hand and sub-agents",
            kind="notice",
        )
    if options.limit is not None:
        found = found[-options.limit :] if options.limit > 0 else []
    columns = shutil.get_terminal_size((120, 24)).columns
    encoding = sys.stdout.encoding or "utf-8"
    table = _table(found, _short_ids(every), root, columns, encoding)
    lines = map(_json, found) if options.json else table
    sys.stdout.write("".join(line + "\n" for line in lines))
    return DONE


def _root() -> str:
    """The folder of the project that the process is in: where its agent.hcl is, if it has one."""
    here = working_directory(".")
    written = find(here)
    return _real(str(here if written is None else written.parent))


def _begun_in(one: Summary, root: str) -> bool:
    """Whether somebody began this session in the project."""
    if not one.was_begun or not one.working_directory:
        return False
    return Path(_real(one.working_directory)).is_relative_to(root)


@cache
def _real(directory: str) -> str:
    """The directory without links: `--cwd` may have led to it through some."""
    return os.path.realpath(directory)


def _short_ids(every: Sequence[Summary]) -> dict[str, str]:
    """What each id can be called by: its time, unless another began in the same millisecond."""
    begun = Counter(one.session_id[:_TIME] for one in every)
    return {
        one.session_id: one.session_id[:_TIME] if begun[one.session_id[:_TIME]] == 1
        else one.session_id
        for one in every
    }  # fmt: skip


def _json(one: Summary) -> str:
    return msgspec.json.encode(
        {
            "session_id": one.session_id,
            "status": one.status,
            "started": one.started,
            "last": one.last,
            "rows": one.rows,
            "cost_usd": one.cost_usd,
            "working_directory": one.working_directory,
            "model": one.model,
            "prompt": one.prompt,
            "parent": one.parent or None,
        }
    ).decode()


def _table(
    found: Sequence[Summary], ids: dict[str, str], root: str, columns: int, encoding: str
) -> Iterator[str]:
    """A line a session, whose prompt has what room the columns before it leave."""
    names = [ids[one.session_id] for one in found]
    statuses = [shown(ended(one), encoding) for one in found]
    costs = [f"  ${one.cost_usd:.2f}" if one.cost_usd else "" for one in found]
    long, wide, dear = (max(map(len, texts), default=0) for texts in (names, statuses, costs))
    for one, name, status, cost in zip(found, names, statuses, costs, strict=True):
        start = f"{name:<{long}}  {began(one)}  {status:<{wide}}{cost:>{dear}}  "
        room = max(columns - len(start), _NARROW)
        whole = about(one) + _where(one, root)
        told = shown(whole[:room].strip(), encoding)
        cut = len(whole) > room or len(told) > room
        yield (start + (told[: room - 3] + "..." if cut else told)).rstrip()


def _where(one: Summary, root: str) -> str:
    """The folder of a session, unless it is the one whose sessions are listed."""
    below = os.path.relpath(_real(one.working_directory), root) if root else one.working_directory
    return f" ({below})" if below not in ("", ".") else ""
