"""How often and after which pauses a model is asked again (K21). Pure: chance is an argument."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """The limits of asking again.

    `retries` is for one message, `session_retries` for all of a session. Pauses double from
    `first_s` to `longest_s` seconds. A vendor that wants to be left alone for more than
    `longest_asked_s` is not waited for.
    """

    retries: int = 5
    session_retries: int = 100
    first_s: float = 1.0
    longest_s: float = 30.0
    longest_asked_s: float = 120.0

    def pause_s(self, attempt: int, asked_s: float | None, chance: float) -> float | None:
        """Seconds before the next attempt; None when it is not worth the wait.

        `attempt` counts those that have failed, from 1. `chance` is within 0..1 and spreads
        those who were turned away together, never below what the vendor asked for.
        """
        own = min(self.longest_s, self.first_s * 2.0 ** min(attempt - 1, 30))
        if asked_s is None:
            return own * (0.5 + chance / 2)
        if asked_s > self.longest_asked_s:
            return None
        return asked_s + self.first_s * chance / 2


PATIENT = Patience()
