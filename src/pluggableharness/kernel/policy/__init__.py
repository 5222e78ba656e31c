"""Which calls may run: rules, how they rank, and what nobody's rule may loosen.

Pure: it decides from rules, an operation and a call's arguments. It knows neither where
rules are written nor who answers when it says ask.
"""

from pluggableharness.kernel.policy.conditions import BadCondition, compiled
from pluggableharness.kernel.policy.conflicts import Conflict, conflicts, without_match
from pluggableharness.kernel.policy.evaluate import Asking, RuleBook, Terms, decide
from pluggableharness.kernel.policy.examples import wrong_examples
from pluggableharness.kernel.policy.explain import Considered, Explanation, explain
from pluggableharness.kernel.policy.facts import Facts
from pluggableharness.kernel.policy.floor import protected_write
from pluggableharness.kernel.policy.grants import granted, scopes, written
from pluggableharness.kernel.policy.reviews import opinion, reviewed
from pluggableharness.kernel.policy.rules import Action, Example, Position, Rule
from pluggableharness.kernel.policy.shell import Command, ShellView, shell_view
from pluggableharness.kernel.policy.subjects import (
    Target,
    destination,
    leading,
    redirections,
    targets,
)

__all__ = [
    "Action",
    "Asking",
    "BadCondition",
    "Command",
    "Conflict",
    "Considered",
    "Example",
    "Explanation",
    "Facts",
    "Position",
    "Rule",
    "RuleBook",
    "ShellView",
    "Target",
    "Terms",
    "compiled",
    "conflicts",
    "decide",
    "destination",
    "explain",
    "granted",
    "leading",
    "opinion",
    "protected_write",
    "redirections",
    "reviewed",
    "scopes",
    "shell_view",
    "targets",
    "without_match",
    "written",
    "wrong_examples",
]
