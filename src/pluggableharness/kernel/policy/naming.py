"""Which paths a condition demands, so that a rule speaks knowingly of them (K5a).

One that it merely mentions, or keeps out, is none. CEL shows no tree, so a few forms are
understood; whatever else is written takes nothing away from the floor.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from typing import Final

from pluggableharness.kernel.policy.subjects import speaks_of_paths

_TEXT = r"""(?:"[^"]*"|'[^']*')"""
_LIST = rf"\[\s*{_TEXT}(?:\s*,\s*{_TEXT})*\s*\]"
_IS_ONE = rf"\s*(?:==\s*{_TEXT}|\bin\s*{_LIST})"
_OF_WRITES = re.compile(
    rf"writes\s*==\s*{_LIST}|{_TEXT}\s*in\s+writes"
    rf"|writes\.all\(\s*(?P<one>[A-Za-z_]\w*)\s*,\s*(?P=one){_IS_ONE}\s*\)"
)
_OF_AN_ARGUMENT = re.compile(rf"arguments(?:\.(\w+)|\[({_TEXT})\])({_IS_ONE})")
_NOBODY: Final[frozenset[str]] = frozenset()


@lru_cache(maxsize=4096)
def named_paths(when: str) -> frozenset[str]:
    """The paths of which a call has to name or write one for the condition to hold, as written.

    None of a condition that holds an escape, a text in three quotes, a comment or a choice, any of
    which may hide what it says.
    """
    bare = _without_texts(when)
    obscure = "\\" in when or '"""' in when or "'''" in when or "//" in bare or "?" in bare
    return _NOBODY if obscure else _named(when)


def _named(when: str) -> frozenset[str]:
    alternatives = list(_parts(when, "||"))
    if len(alternatives) > 1:
        each = [_named(one) for one in alternatives]
        return _NOBODY.union(*each) if all(each) else _NOBODY
    together = list(_parts(when, "&&"))
    if len(together) > 1:
        return _NOBODY.union(*map(_named, together))
    condition = when.strip()
    inner = condition[1:-1]
    if condition[:1] + condition[-1:] == "()" and _is_closed(inner):
        return _named(inner)
    argument = _OF_AN_ARGUMENT.fullmatch(condition)
    if argument:
        name = argument[1] or argument[2][1:-1]
        return _texts(argument[3]) if speaks_of_paths(name) else _NOBODY
    return _texts(condition) if _OF_WRITES.fullmatch(condition) else _NOBODY


def _parts(when: str, operator: str) -> Iterator[str]:
    """What stands between the operators that are in no brackets and no text."""
    bare, depth, start = _without_texts(when), 0, 0
    for at, character in enumerate(bare):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and bare.startswith(operator, at):
            yield when[start:at]
            start = at + len(operator)
    yield when[start:]


def _is_closed(when: str) -> bool:
    """Whether no bracket is closed in it that is opened before it."""
    steps = ((sign == "(") - (sign == ")") for sign in _without_texts(when))
    return all(depth >= 0 for depth in accumulate(steps))


def _texts(condition: str) -> frozenset[str]:
    return frozenset(found[1:-1] for found in re.findall(_TEXT, condition))


def _without_texts(when: str) -> str:
    return re.sub(_TEXT, lambda found: " " * len(found[0]), when)
