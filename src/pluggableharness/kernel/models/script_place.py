"""Where a script is wrong, in the words of the one who wrote it: "message 2, call 1"."""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

_AT = re.compile(r"(.*?) - at `\$\.?(.*)`", re.DOTALL)
_STEP = re.compile(r"(\w+)(?:\[(\d+|\.\.\.)\])?")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
_MISSING = re.compile(r"Object missing required field `(.*)`")
_COUNTED = {"messages": "message", "calls": "call"}


def mistake(said: str, fields: Mapping[str, Sequence[str]], agent: str = "") -> str:
    """What msgspec said of a script, with its place and the nearest field.

    `fields` are those of a mapping, by the word for it: script, agent, message, call. `agent`
    is the name of the agent that the path is about, if it is about one.
    """
    found = _AT.fullmatch(said)
    what, path = (found[1], found[2]) if found else (said, "")
    places = [f"agent {agent}"] if agent else []
    kind = "agent" if agent else "script"
    for name, index in _STEP.findall(path):
        counted = _COUNTED.get(name)
        if counted and index:
            places.append(f"{counted} {int(index) + 1}")
            kind = counted
        else:
            places.append(name)
    where = ", ".join(places)
    worded = _worded(what, kind, fields[kind])
    return f"{where}: {worded}" if where else worded


def _worded(said: str, kind: str, fields: Sequence[str]) -> str:
    there = f"a{'n' if kind == 'agent' else ''} {kind} has: {', '.join(fields)}"
    if unknown := _UNKNOWN.fullmatch(said):
        (near,) = get_close_matches(unknown[1], fields, n=1, cutoff=0)
        return f"unknown field `{unknown[1]}`; did you mean {near}? {there}"
    if missing := _MISSING.fullmatch(said):
        return f"the field `{missing[1]}` is missing; {there}"
    return said.replace("Expected `object`", "Expected a mapping").replace(
        "Expected `array`", "Expected a list"
    )
