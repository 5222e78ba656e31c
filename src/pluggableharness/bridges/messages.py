"""A line as a message of the protocol, read strictly: what a started server or a client wrote."""

import json
from typing import Any, Final

from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCError,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

_DIGITS: Final = 20
_MOST_SHOWN: Final = 60


class Unreadable(ValueError):
    """A line that is no message; `answer` says why, to whoever wrote it.

    It has the id of the line, where one could be found.
    """

    def __init__(self, answer: JSONRPCError) -> None:
        super().__init__(answer.error.message)
        self.answer = answer


def message_of(line: bytes) -> SessionMessage | Unreadable:
    """The message that a line is.

    Where an answer to a request cannot be read, an error stands in its place, so that whoever
    waits for it is told. Of two equal names in one object some parsers take the first and some
    the last, so nothing that has them is a message (P8).
    """
    text = line.decode(errors="replace")
    twice: list[str] = []
    try:
        said = _leniently(text, twice)
    except (ValueError, RecursionError) as problem:
        return _refused(None, PARSE_ERROR, str(problem))
    try:
        message = jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValidationError as problem:
        return _refused(said, *_why(problem))
    if twice:
        return _refused(said, INVALID_REQUEST, f"{twice[0]} stands twice in one object")
    if isinstance(message, JSONRPCNotification) and "id" in said:
        return _refused(said, INVALID_REQUEST, "its id is neither a text nor a whole number")
    return SessionMessage(message)


def _leniently(text: str, twice: list[str]) -> Any:
    """What Python takes the line for, which has an id in much that is refused then.

    Names that an object has twice are noted. Raises ValueError and RecursionError.
    """

    def noted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for name, item in pairs:
            if name in value:
                twice.append(json.dumps(name[:_MOST_SHOWN]))
            value[name] = item
        return value

    def whole(digits: str) -> float:
        # Python reads no integer of thousands of digits.
        return int(digits) if len(digits) <= _DIGITS else float(digits)

    return json.loads(text, object_pairs_hook=noted, parse_int=whole)


def _why(problem: ValidationError) -> tuple[int, str]:
    first = problem.errors(include_url=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return PARSE_ERROR, first["msg"]
    return INVALID_REQUEST, "it is neither a request nor an answer of JSON-RPC 2.0"


def _refused(said: Any, code: int, why: str) -> SessionMessage | Unreadable:
    members = said if isinstance(said, dict) else {}
    told = {"code": code, "message": f"a message could not be read: {why}"}
    try:
        answer = _error(members.get("id"), told)
    except ValidationError:
        answer = _error(None, told)
    is_answer = answer.id is not None and not members.keys().isdisjoint({"result", "error"})
    return SessionMessage(answer) if is_answer else Unreadable(answer)


def _error(id_: Any, told: dict[str, Any]) -> JSONRPCError:
    """Raises ValidationError for what can be no id, read as strictly as a line is."""
    return JSONRPCError.model_validate_json(
        json.dumps({"jsonrpc": "2.0", "id": id_, "error": told})
    )
