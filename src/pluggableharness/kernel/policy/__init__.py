"""Which calls may run: rules, how they rank, and what nobody's rule may loosen.

Pure: it decides from rules, an operation and a call's arguments. It knows neither where
rules are written nor who answers when it says ask.
"""

from pluggableharness.kernel.policy.conflicts import Conflict, conflicts, without_match
from pluggableharness.kernel.policy.evaluate import Asking, RuleBook, Terms, decide
from pluggableharness.kernel.policy.floor import protected_path, protected_write
from pluggableharness.kernel.policy.rules import Action, Position, Rule

__all__ = [
    "Action",
    "Asking",
    "Conflict",
    "Position",
    "Rule",
    "RuleBook",
    "Terms",
    "conflicts",
    "decide",
    "protected_path",
    "protected_write",
    "without_match",
]
