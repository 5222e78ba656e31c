"""sed's scripts execute (`e`) and write (`w`): only the plainest are understood."""

import re
from collections.abc import Sequence

from pluggableharness.kernel.policy.shell.words import NotUnderstood, Word

_OPTIONS = frozenset(["-n", "-E", "-r", "-s", "--quiet", "--silent", "--regexp-extended"])
_SCRIPT = re.compile(r"(?:[0-9]+|\$)?(?:,(?:[0-9]+|\$))?[pdq=]|s/[^/\\\n]*/[^/\\\n]*/[gpiI0-9]*")


def simple_script(rest: Sequence[Word]) -> None:
    """Raise NotUnderstood unless a script prints, deletes or replaces and no more."""
    at = 0
    while at < len(rest) and rest[at].value in _OPTIONS:
        at += 1
    if at == len(rest) or not rest[at].fixed or _SCRIPT.fullmatch(rest[at].value) is None:
        raise NotUnderstood("sed with a script that may execute or write")
    if any(one.value.startswith("-") for one in rest[at + 1 :]):
        raise NotUnderstood("sed with options behind its script")
