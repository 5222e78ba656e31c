"""`harness policy accept`: rules of "always" that were not given on this machine (K10)."""

import argparse
import sys

from pluggableharness.cli.complaining import whole
from pluggableharness.cli.exits import DENIED, DONE
from pluggableharness.cli.reporting import reported
from pluggableharness.cli.working_directory import working_directory
from pluggableharness.kernel.config.finding import find
from pluggableharness.kernel.configured import granted_file


def main(options: argparse.Namespace) -> int:
    """Show them, and take them over after a yes; 3 without one."""
    return reported(lambda: _accept(options.cwd))


def _accept(directory: str) -> int:
    here = working_directory(directory)
    agent = find(here)
    file = granted_file(here if agent is None else agent.parent)
    foreign = file.read().foreign
    if not foreign:
        print(f"{file.shown} holds no rule that was not given on this machine")
        return DONE
    print("\n\n".join(map(whole, foreign)))
    print("\nLet these hold here, as if you had answered 'always'? [y/N] ", end="", flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        print("nothing was taken over")
        return DENIED
    file.take_over(foreign)
    print("taken over")
    return DONE
