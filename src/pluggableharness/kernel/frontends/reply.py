"""What a person's keystrokes mean. Pure: reads nothing and shows nothing."""

from enum import Enum

_ALLOW = ("a", "y", "allow", "yes")
_DENY = ("d", "n", "deny", "no")
_HELP = ("?", "h", "help")
_SHOW = ("v", "view")
_EMPTY = ("", "\r", "\n", "\r\n", "\x04")


class Reply(Enum):
    """What may be meant by an answer to a plan item."""

    ALLOW = "allow"
    DENY = "deny"
    HELP = "help"
    SHOW = "show"
    UNCLEAR = "unclear"


def understood(typed: str | None) -> tuple[Reply, str]:
    """What was meant, and the reason that came with a denial.

    Nothing, the end of the input and an empty line are a no. Only a whole word counts: a text
    that was pasted by accident and starts with a `y` is not a yes.
    """
    if typed is None or typed in _EMPTY:
        return Reply.DENY, ""
    word, _, rest = typed.strip().partition(" ")
    word, rest = word.lower(), rest.strip()
    if word in _DENY and "\n" not in rest:
        return Reply.DENY, rest
    if rest:
        return Reply.UNCLEAR, ""
    for words, reply in ((_ALLOW, Reply.ALLOW), (_HELP, Reply.HELP), (_SHOW, Reply.SHOW)):
        if word in words:
            return reply, ""
    return Reply.UNCLEAR, ""


def chosen(typed: str, options: list[str], *, several: bool) -> list[str] | None:
    """The options that were meant, by number from 1 or by their text; None when unclear."""
    if typed.strip() in options:
        return [typed.strip()]
    picks = [pick.strip() for pick in typed.split(",")]
    if not all(pick.isascii() and pick.isdigit() for pick in picks):
        return None
    numbers = [int(pick) for pick in picks]
    if len(numbers) > 1 and not several:
        return None
    if not all(1 <= number <= len(options) for number in numbers):
        return None
    return [options[number - 1] for number in dict.fromkeys(numbers)]
