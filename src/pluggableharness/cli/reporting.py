"""Errors of commands that only read, in the words and exit codes of the others."""

from collections.abc import Callable

from pluggableharness.cli.complaining import complain
from pluggableharness.cli.exits import FAILED, USAGE
from pluggableharness.cli.output import is_of_output
from pluggableharness.kernel.domain.errors import HarnessError
from pluggableharness.kernel.store.errors import LogUnreadable


def reported(work: Callable[[], int]) -> int:
    """Do the work and give back its exit code, or what an error makes of it."""
    try:
        return work()
    except LogUnreadable as error:
        complain(error)
        return FAILED
    except HarnessError as error:
        complain(error)
        return USAGE
    except ValueError as error:
        complain(f"the record holds what no kernel wrote: {error}")
        return FAILED
    except OSError as error:
        if is_of_output(error):
            raise
        complain(error)
        return FAILED
