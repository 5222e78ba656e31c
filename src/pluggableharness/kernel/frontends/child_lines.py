"""What a child session did, in a line each, below the root's own calls. Uses rich."""

from collections.abc import Sequence

from rich.text import Text

from pluggableharness.kernel.domain.news import (
    CallEnded,
    CallRefused,
    FromChild,
    Notice,
    SessionEnded,
    SessionStarted,
)
from pluggableharness.kernel.frontends.endings import ending, refusal
from pluggableharness.kernel.frontends.looks import Looks
from pluggableharness.kernel.frontends.text import live, shown


def place(path: Sequence[str], looks: Looks) -> str:
    """Where a child stands: the profiles from below the root down to its own; "" for the root."""
    return f" {looks.glyphs.running} ".join(shown(name, looks.encoding) for name in path)


def child_lines(news: FromChild, looks: Looks, width: int) -> list[Text]:
    """The lines for a piece of a child's news; none for what only its record needs."""
    match news.news:
        case SessionStarted():
            lines = [Text(f"session {news.session_id}", "faint")]
        case CallRefused():
            lines = refusal(news.news.refused, looks, width)
        case CallEnded():
            lines = ending(news.news.call, None, "", news.news.outcome, looks, width)
        case Notice():
            lines = [Text(live(news.news.message, looks.encoding).replace("\n", " "))]
        case SessionEnded():
            end = news.news.end
            status = end.status.value.replace("_", " ")
            words = f"{status}: {shown(end.reason, looks.encoding)}" if end.reason else status
            lines = [Text(words, "faint")]
        case _:
            return []
    return [Text.assemble((place(news.path, looks), "faint"), "  ", line) for line in lines]
