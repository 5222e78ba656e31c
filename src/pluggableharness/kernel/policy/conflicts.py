"""What is wrong with rules before any call is judged (K5)."""

from collections.abc import Iterable
from dataclasses import dataclass

from pluggableharness.kernel.policy.rules import Rule


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two rules that name the same fields with the same values: which one is meant?"""

    first: Rule
    second: Rule

    def __str__(self) -> str:
        """Both, with their places, and what to do."""
        return (
            f"{self.second} matches exactly what {self.first} matches: "
            f"{self.second.action.value} against {self.first.action.value}; keep one of them"
        )


def conflicts(rules: Iterable[Rule]) -> tuple[Conflict, ...]:
    """Every rule that repeats the match of an earlier one, with that one: a load error (K5).

    Lists that only overlap are no conflict; where two such rules meet, the stricter wins.
    """
    first: dict[object, Rule] = {}
    found: list[Conflict] = []
    for rule in rules:
        if rule.when:
            continue
        earlier = first.setdefault(rule.match, rule)
        if earlier is not rule:
            found.append(Conflict(earlier, rule))
    return tuple(found)


def without_match(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules that name no field and so match every call: worth a warning (K5)."""
    return tuple(rule for rule in rules if not any(rule.rank[:-1]))
