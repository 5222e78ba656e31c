"""The library's errors in our words: the one place where they are translated (K21).

ModelRateLimitError, ModelUnavailableError, ModelServerError     PASSING
ModelConnectionError, ModelRequestTimeout, ModelTimeoutError     PASSING
ModelContextWindowExceededError                                  TOO_LONG
all others                                                       HOPELESS
"""

from typing import Any

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
)

from pluggableharness.kernel.domain.quoting import bounded
from pluggableharness.kernel.models.fault import FaultKind, ModelFault

_LONGEST_WORDS = 300


class TooMuch(Exception):
    """An answer is cut off, since it brings more than one message can hold; says more of what."""


def fault_of(error: Exception, name: str, key_variable: str, secret: str) -> ModelFault:
    """What an error means to us; `secret` is in none of its words.

    `key_variable` is where the key was taken from, "" for no key.
    """
    words = _vendors_words(error).replace(secret, "***") if secret else _vendors_words(error)
    match error:
        case TooMuch():
            return too_much(name, str(error))
        case ModelContextWindowExceededError():
            told = (
                f"{name} cannot read a session of this length, and none of it is dropped: resumed "
                "with this model, it ends the same way. Start a new session, resume this one with "
                "a model of a larger window by --model, or name a fallback with a larger window in "
                "agent.hcl"
            )
            return ModelFault(FaultKind.TOO_LONG, _with(told, words))
        case ModelRateLimitError():
            return _passing(f"{name} was asked too much at once", words, error)
        case ModelOverloadedError():
            return _passing(f"{name} is overloaded", words, error)
        case ModelUnavailableError() | ModelServerError():
            return _passing(f"{name} is not to be had right now", words, error)
        case ModelTimeoutError() | ModelRequestTimeout():
            return _passing(f"{name} does not answer", words, error)
        case ModelConnectionError(phase="connect"):
            told = _with(f"{name} cannot be reached", words)
            return ModelFault(FaultKind.PASSING, told, unreached=True)
        case ModelConnectionError():
            return _passing(f"the connection to {name} broke off", words, error)
        case _:
            return ModelFault(
                FaultKind.HOPELESS, _with(_hopeless(error, name, key_variable), words)
            )


def _hopeless(error: Exception, name: str, key_variable: str) -> str:
    match error:
        case ModelAuthenticationError():
            where = f"the key in {key_variable}" if key_variable else "a request without a key"
            return f"{name} does not accept {where}. Check that it is right and may use this model"
        case ModelQuotaExceededError():
            return f"{name}: the account has used up what it may. Raise its limit, or wait for it"
        case ModelNotFoundError():
            return f"{name} does not exist there. Check the model's id and the address"
        case ModelHTTPError():
            return f"{name} refuses the request"
        case _:
            return f"{name} answers what nobody understands. Check that base_url is its address"


def cut_short(name: str) -> ModelFault:
    """A stream ended before its message did."""
    return ModelFault(FaultKind.PASSING, f"{name} broke off within its message")


def too_much(name: str, what: str) -> ModelFault:
    """A message was cut off, since it had no end."""
    told = (
        f"{name} was cut off, since it sent {what} in one message. Ask for less at once, or let "
        "another model answer"
    )
    return ModelFault(FaultKind.HOPELESS, told)


def said_nothing(name: str, reason: str) -> ModelFault:
    """A message came whole, and there is nothing in it."""
    why = f" (it gives as reason: {reason})" if reason else ""
    return ModelFault(FaultKind.PASSING, f"{name} answered with nothing at all{why}")


def _passing(told: str, words: str, error: ModelAPIError) -> ModelFault:
    return ModelFault(FaultKind.PASSING, _with(told, words), retry_after_s=error.retry_after)


def _with(told: str, words: str) -> str:
    return f"{told}. It says: {words}" if words else told


def _vendors_words(error: Exception) -> str:
    """What the vendor itself says, on one line."""
    body = error.body if isinstance(error, ModelAPIError) else None
    words = _message(body)
    if not words:
        status = f"status {error.status_code}" if isinstance(error, ModelHTTPError) else ""
        words = status or str(error.__cause__ or error)
    return bounded(" ".join(words.split()), _LONGEST_WORDS)


def _message(body: Any) -> str:
    match body:
        case {"error": {"message": str(words)}} | {"message": str(words)} | {"error": str(words)}:
            return words
        case [first, *_]:
            return _message(first)
        case str(words):
            return words
        case _:
            return ""
