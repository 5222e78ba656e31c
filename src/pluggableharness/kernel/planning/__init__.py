"""What a message's calls are, in which order they run, and which may run again.

Pure: it knows operations, calls and how they ended; nothing of locks, clocks or providers.
"""

from pluggableharness.kernel.planning.classify import classify
from pluggableharness.kernel.planning.deadline import deadline_s
from pluggableharness.kernel.planning.order import Split, split, waits_for
from pluggableharness.kernel.planning.retry import retry_delay

__all__ = ["Split", "classify", "deadline_s", "retry_delay", "split", "waits_for"]
