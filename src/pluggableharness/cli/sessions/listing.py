"""`harness sessions list`."""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence

import msgspec

from pluggableharness.cli.exits import DONE
from pluggableharness.cli.reporting import reported
from pluggableharness.kernel.frontends.text import shown
from pluggableharness.kernel.store.index import Summary, summaries
from pluggableharness.kernel.store.location import sessions_directory

_NARROW = 20


def main(options: argparse.Namespace) -> int:
    """Print the sessions, the newest last."""
    return reported(lambda: _list(options))


def _list(options: argparse.Namespace) -> int:
    found = summaries(sessions_directory(os.environ))
    if options.limit is not None:
        found = found[-options.limit :] if options.limit > 0 else []
    columns = shutil.get_terminal_size((120, 24)).columns
    encoding = sys.stdout.encoding or "utf-8"
    lines = map(_json, found) if options.json else _table(found, columns, encoding)
    sys.stdout.write("".join(line + "\n" for line in lines))
    return DONE


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


def _table(found: Sequence[Summary], columns: int, encoding: str) -> Iterator[str]:
    """A line a session, whose prompt has what room the columns before it leave."""
    statuses = [one.status.replace("_", " ") for one in found]
    costs = [f"  ${one.cost_usd:.2f}" if one.cost_usd else "" for one in found]
    wide, dear = (max(map(len, texts), default=0) for texts in (statuses, costs))
    for one, status, cost in zip(found, statuses, costs, strict=True):
        began = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.started // 1_000_000))
        start = f"{one.session_id}  {began}  {status:<{wide}}{cost:>{dear}}  "
        room = max(columns - len(start), _NARROW)
        told = f"{one.prompt} ({one.working_directory})"
        about = shown(told[:room].strip(), encoding)
        cut = len(told) > room or len(about) > room
        yield (start + (about[: room - 3] + "..." if cut else about)).rstrip()
