"""The cancellation of a running call, with what had been done by then; and whose it is.

It stands apart from the exception tree because it needs asyncio, whose import is dear to
commands that never run anything.
"""

import asyncio

from pluggableharness.kernel.domain.outcome import Failure


class CallCancelled(asyncio.CancelledError):
    """A call was cancelled while it ran; `failure` holds the provider's report (P26).

    It is a CancelledError, so that task groups and callers treat it as the cancellation
    that it is, and nobody can take it for a result.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def is_cancelled() -> bool:
    """Whether anybody wants the task to end that this is asked in.

    A CancelledError without that came from something that it waited for.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
