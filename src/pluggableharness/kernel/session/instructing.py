"""A session's instructions from one request to the next, and in its record (K1, K27)."""

from collections.abc import Callable
from dataclasses import dataclass

from pluggableharness.kernel.session.session import Mode

_PLANNING = "Plan mode: nothing that changes anything is offered. Look, and say what you would do."


@dataclass(slots=True)
class Instructing:
    """The instructions of one session, as they stand when its model is asked.

    `text` is settled when the session opens; `mode` may change between two requests. `file`
    is told each text that is not the one before it, ahead of the request that it goes out with:
    so the record says what was asked (K27).
    """

    text: str
    mode: Mode
    file: Callable[[str], None]
    _filed: str = ""

    def __call__(self) -> str:
        """The instructions of the next request."""
        told = f"{self.text}\n\n{_PLANNING}" if self.mode.plan else self.text
        if told != self._filed:
            self.file(told)
            self._filed = told
        return told
