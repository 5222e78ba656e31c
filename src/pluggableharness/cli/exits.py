"""The exit codes that callers rely on (K33)."""

DONE = 0
FAILED = 1
USAGE = 2
DENIED = 3
BOUNDED = 4
INTERRUPTED = 130
