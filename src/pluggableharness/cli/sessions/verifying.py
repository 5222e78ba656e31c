"""`harness sessions verify`."""

import argparse
import sys

from pluggableharness.cli.complaining import complain
from pluggableharness.cli.exits import DONE, FAILED
from pluggableharness.cli.finding import find_log
from pluggableharness.cli.reporting import reported
from pluggableharness.kernel.store.reading import verify


def main(options: argparse.Namespace) -> int:
    """Say whether the record is as it was written; exit code 1 when it is not (K29)."""
    return reported(lambda: _verify(options.session, options.head))


def _verify(session: str, head: str | None) -> int:
    report = verify(find_log(session), head)
    if not report.ok:
        complain(report.fault, kind=str(report.path))
        print(f"{report.rows} rows before that are as they were written", file=sys.stderr)
        return FAILED
    print(f"session {report.session_id}: {report.rows} rows are as they were written")
    print(f"head {report.head}")
    if head is None:
        print("only with --head HASH does it show that rows were cut off the end, or all rewritten")
    return DONE
