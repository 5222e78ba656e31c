"""Hooks as an author declares them: where, in what mode, and what the function may answer (K25).

Knows nothing of the wire; `serving.hooks` turns its messages into what stands here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Final, Generic, Literal, TypeVar, get_args

from msgspec import Struct

S = TypeVar("S")

HookPoint = Literal[
    "session-start",
    "pre-model-call",
    "post-model-response",
    "pre-tool-call",
    "plan-ready",
    "post-tool-call",
    "post-apply",
    "session-end",
]

HookMode = Literal["observe", "transform", "veto"]

FORBIDDABLE: Final = ("session-start", "pre-model-call", "pre-tool-call", "plan-ready")
CHANGEABLE: Final = ("pre-model-call",)


class HookEvent(Struct, Generic[S], frozen=True):
    """What happens, as the hooks before left it.

    `payload` holds the fields of the point's message on the wire, by their names there, as JSON
    values: numbers of 64 bits are texts, enums their names. `settings` are the provider's own.
    """

    point: HookPoint
    payload: dict[str, Any]
    settings: S


Handler = Callable[[HookEvent[Any]], Coroutine[Any, Any, Any]]


def hook_problems(function: Handler, point: str, mode: str) -> list[str]:
    """Say why this cannot be a hook; nothing when it can."""
    problems = []
    if point not in get_args(HookPoint):
        problems.append(f"there is no point {point!r}; there are: {', '.join(get_args(HookPoint))}")
    if mode not in get_args(HookMode):
        problems.append(f"there is no mode {mode!r}; there are: {', '.join(get_args(HookMode))}")
    if mode == "veto" and point not in FORBIDDABLE:
        problems.append(f"a veto comes too late there; it can be at {', '.join(FORBIDDABLE)}")
    if mode == "transform" and point not in CHANGEABLE:
        problems.append(f"nothing may be changed there; only at {', '.join(CHANGEABLE)}")
    if not inspect.iscoroutinefunction(function):
        problems.append("it must be an async function")
    name = getattr(function, "__name__", function)
    return [f"hook {name!r}: {problem}" for problem in problems]
