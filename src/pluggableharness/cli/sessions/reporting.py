"""Errors of commands that only read, in the words and exit codes of the others."""

import sys
from collections.abc import Callable

from pluggableharness.cli.exits import FAILED, USAGE
from pluggableharness.kernel.domain.errors import HarnessError
from pluggableharness.kernel.store.errors import LogUnreadable


def reported(work: Callable[[], int]) -> int:
    """Do the work and give back its exit code, or what an error makes of it."""
    try:
        return work()
    except LogUnreadable as error:
        print(f"harness: {error}", file=sys.stderr)
        return FAILED
    except HarnessError as error:
        print(f"harness: {error}", file=sys.stderr)
        return USAGE
    except ValueError as error:
        print(f"harness: the record holds what no kernel wrote: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"harness: {error}", file=sys.stderr)
        return FAILED
