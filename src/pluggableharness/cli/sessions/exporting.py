"""`harness sessions export`: the rows as lines of JSON, or the story as Markdown."""

import argparse
import asyncio
import io
import os
import sys
from pathlib import Path

from pluggableharness.cli.complaining import complain
from pluggableharness.cli.exits import DONE
from pluggableharness.cli.finding import find_log
from pluggableharness.cli.reporting import reported
from pluggableharness.cli.sessions.telling import RecordedClock, tell
from pluggableharness.kernel.frontends.markdown_page import MarkdownPage
from pluggableharness.kernel.frontends.outlet import Outlet
from pluggableharness.kernel.store.export import export, export_line
from pluggableharness.kernel.store.reading import read_events


def main(options: argparse.Namespace) -> int:
    """Export the session."""
    write = _markdown if options.format == "markdown" else _rows
    return reported(lambda: write(find_log(options.session), options.output))


def _rows(log: Path, output: str | None) -> int:
    if output is not None:
        written = export(log, Path(output))
        complain(f"{written} rows written", kind=str(output))
        return DONE
    outlet = Outlet(sys.stdout)
    for event in read_events(log):
        outlet.write_bytes(export_line(event))
    return DONE


def _markdown(log: Path, output: str | None) -> int:
    text = io.StringIO()
    page, clock = MarkdownPage(text), RecordedClock(log)
    asyncio.run(tell(log, page, clock, page.prompted))
    if output is None:
        Outlet(sys.stdout).write(text.getvalue())
        return DONE
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text.getvalue())
    return DONE
