"""When calls may run beside each other: keys, which are pure, and the table that waits.

It knows what operations declare about themselves, and nothing of processes, sessions or
policy: one table belongs to one provider process, whoever keeps it.
"""

from pluggableharness.kernel.scheduling.keys import call_key, lock_request, subject
from pluggableharness.kernel.scheduling.locks import Hold, LockRequest, LockTable, WouldDeadlock

__all__ = [
    "Hold",
    "LockRequest",
    "LockTable",
    "WouldDeadlock",
    "call_key",
    "lock_request",
    "subject",
]
