"""What a check of a provider tells: a line for each requirement, and remarks."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

POINTS: Final = {
    "P1": "declares its operations, the same each time",
    "P3": "ends the turn with resources alone",
    "P5": "keys its calls by fields of their own",
    "P6": "keeps its schemas within the subset",
    "P8": "refuses unknown operations and wrong arguments, as events",
    "P10": "ends each stream with exactly one result or error",
    "P11": "sends events that say something, and only those it declared",
    "P12": "returns what its output schemas promise",
    "P13": "gives back a failed child as a result",
    "P15": "leaves it to the kernel to say that it crashed",
    "P16": "explains its errors",
    "P25": "serves on after a cancelled call",
    "P26": "reports what a cancelled call had done",
    "P28": "refuses a wrong configuration by the field's name",
    "P29": "previews in time, well-formed, and without doing anything",
    "P30": "says who it is, and renders what it recorded",
    "P31": "repeats no secret that it was given",
    "K16": "ends when it is asked to",
}
"""What a provider can be held to from outside, in the order of the report.

What is not here binds the kernel, or cannot be seen from the other end of a wire.
"""

_ONLY_WHEN_SEEN: Final = {"P13"}
"""Points about what few providers do; the others are not measured by them."""


class Status(Enum):
    """What came of one point."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_REACHED = "not reached"


@dataclass(frozen=True, slots=True)
class Line:
    """One point: the requirement, what it asks, what came of it, and why."""

    id: str
    what: str
    status: Status
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """All points, and remarks that fail nothing (P4, P5)."""

    lines: tuple[Line, ...]
    remarks: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing failed; what was not reached has not failed."""
        return all(line.status is not Status.FAILED for line in self.lines)


class Findings:
    """Gathers what a check finds."""

    def __init__(self) -> None:
        self.remarks: list[str] = []
        self._seen: set[str] = set()
        self._failures: dict[str, list[str]] = {}
        self._missing: dict[str, list[str]] = {}
        self._otherwise = ""
        self._beside = set(_ONLY_WHEN_SEEN)

    def reached(self, *points: str) -> None:
        """Note that these were put to the test."""
        self._seen.update(points)

    def failed(self, point: str, detail: str) -> None:
        """Note a failure; the same one is told once."""
        _tell(self._failures, point, detail)

    def missing(self, point: str, why: str) -> None:
        """Say what kept a point from being reached, should nothing reach it; the same once."""
        _tell(self._missing, point, why)

    def does_not_apply(self, *points: str) -> None:
        """Say that these mean nothing to such a provider; they get no line."""
        self._beside.update(points)

    def broke_off(self, why: str) -> None:
        """Say why everything that is open will not be reached."""
        self._otherwise = why

    def report(self) -> Report:
        """What it all comes to."""
        shown = [point for point in POINTS if point not in self._beside or self._is_known(point)]
        return Report(tuple(map(self._line, shown)), tuple(self.remarks))

    def _is_known(self, point: str) -> bool:
        return point in self._seen or point in self._failures

    def _line(self, point: str) -> Line:
        if point in self._failures:
            return Line(point, POINTS[point], Status.FAILED, tuple(self._failures[point]))
        if point in self._seen:
            return Line(point, POINTS[point], Status.PASSED)
        why = [self._otherwise] if self._otherwise else self._missing.get(point, [])
        return Line(point, POINTS[point], Status.NOT_REACHED, tuple(why))


def _tell(all_told: dict[str, list[str]], point: str, detail: str) -> None:
    told = all_told.setdefault(point, [])
    if detail not in told:
        told.append(detail)
