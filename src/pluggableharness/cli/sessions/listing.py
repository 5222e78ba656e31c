"""`harness sessions list`."""

import argparse
import os
import shutil
import sys
import time

import msgspec

from pluggableharness.cli.exits import DONE
from pluggableharness.cli.sessions.reporting import reported
from pluggableharness.kernel.frontends.text import shown
from pluggableharness.kernel.store.index import Summary, summaries
from pluggableharness.kernel.store.location import sessions_directory

_NARROW = 40


def main(options: argparse.Namespace) -> int:
    """Print the sessions, the newest last."""
    return reported(lambda: _list(options))


def _list(options: argparse.Namespace) -> int:
    found = summaries(sessions_directory(os.environ))
    if options.limit is not None:
        found = found[-options.limit :] if options.limit > 0 else []
    columns = shutil.get_terminal_size((120, 24)).columns
    encoding = sys.stdout.encoding or "utf-8"
    lines = (_json(one) if options.json else _line(one, columns, encoding) for one in found)
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


def _line(one: Summary, columns: int, encoding: str) -> str:
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.started // 1_000_000))
    cost = f"${one.cost_usd:.2f}" if one.cost_usd else ""
    status = one.status.replace("_", " ")
    start = f"{one.session_id}  {began}  {status:<20} {cost:>7}  "
    room = max(columns - len(start), _NARROW)
    about = shown(f"{one.prompt} ({one.working_directory})"[: room + 1], encoding)
    return (start + (about if len(about) <= room else about[: room - 3] + "...")).rstrip()
