"""A process that ends, and everything it started with it (K16, C11).

Between whoever starts a command and the command stands a guard: a small process of its own that
adopts every orphan of the command's tree and does not end before the tree has. It ends the tree
when the command itself has ended, when it is told to, and when whoever started it is gone, even
by SIGKILL. `start` is the way from asyncio; `guarded` builds the bare command line for any
other. What a guard covers, and what not, is in docs/design/guard.md.
"""

from pluggableharness.guard.command_line import Confinement, guarded
from pluggableharness.guard.process import Ending, GuardedProcess, GuardLost, start

__all__ = ["Confinement", "Ending", "GuardLost", "GuardedProcess", "guarded", "start"]
