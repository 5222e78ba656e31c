"""One search for text: what ripgrep is asked, and what becomes of its answer (C9)."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final

from pluggableharness.providers.search.area import Area
from pluggableharness.providers.search.content import Match
from pluggableharness.providers.search.hits import Hits, Mode
from pluggableharness.providers.search.messages import HEAD, Messages, is_binary
from pluggableharness.providers.search.ripgrep import running
from pluggableharness.providers.search.selection import Selection, warnings_of
from pluggableharness.sdk import InvalidArguments

BATCH_S: Final = 0.1
"""How often at most matches are sent ahead of the result."""

_OF_A_FOLDER: Final = "IO error for operation on"

Send = Callable[[Sequence[Match]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for in each file."""

    pattern: str
    ignore_case: bool
    literal: bool
    multiline: bool
    before: int
    after: int
    mode: Mode

    def arguments(self) -> list[str]:
        """Write ripgrep's options for it; the pattern comes separately, behind `--`."""
        options = {
            "--ignore-case": self.ignore_case,
            "--fixed-strings": self.literal,
            "--multiline": self.multiline,
            # One match is enough to know a file, and ripgrep stops reading it there.
            "--max-count=1": self.mode == "files",
            f"--before-context={self.before}": self.mode == "content",
            f"--after-context={self.after}": self.mode == "content",
        }
        return ["--json", "--crlf", *(option for option, is_set in options.items() if is_set)]


@dataclass(frozen=True, slots=True)
class Work:
    """What a search took."""

    is_complete: bool
    """Whether everything was searched; else enough was found before that."""
    looked_at: int = 0
    """How many files, those included that could not be read."""
    cpu_s: float = 0.0


async def search(area: Area, selection: Selection, query: Query, hits: Hits, send: Send) -> Work:
    """Search an area.

    Sorted by path, for which ripgrep uses one thread. With more it would hold all that it has
    to say about a file in memory, and which matches come first would be a matter of luck.

    Raises InvalidArguments with ripgrep's own words when it cannot read the pattern.
    """
    if area.file is not None and is_binary(os.pread(area.file, HEAD, 0)):
        hits.warnings.append(f"{area.shown_file} is binary and was not searched")
        return Work(is_complete=True)
    async with running(
        _arguments(area, selection, query),
        folder=area.folder,
        readable=area.roots,
        stdin=area.file,
    ) as run:
        await _take(run.chunks(), hits, send)
        if hits.has_more:
            return Work(is_complete=False)
        ending = await run.ended()
    if hits.searched is None:
        raise _refused(ending.said, query)
    warnings = warnings_of(ending, area)
    hits.warnings += warnings
    unreadable = sum(1 for warning in warnings if _OF_A_FOLDER not in warning)
    return Work(True, hits.searched + unreadable, ending.cpu_s)


def _arguments(area: Area, selection: Selection, query: Query) -> list[str]:
    if area.file is None:
        chosen, where = ["--sort=path", *selection.arguments(area)], "./"
        if not selection.goes_into_hidden:
            # What ripgrep lets through in spite of its dot would be searched, and counted.
            chosen.append("--glob=!.*")
    else:
        # A file that is named is searched in any case; a type that is none is told all the same.
        chosen, where = [f"--type={each}" for each in (selection.file_type,) if each], "-"
    return [*query.arguments(), *chosen, "--", query.pattern, where]


async def _take(chunks: AsyncIterator[bytes], hits: Hits, send: Send) -> None:
    messages, sent_at = Messages(), 0.0
    async for chunk in chunks:
        hits.take(messages.feed(chunk))
        if monotonic() - sent_at >= BATCH_S and (found := hits.new()):
            await send(found)
            sent_at = monotonic()
        if hits.has_more:
            break
    hits.finish()
    if found := hits.new():
        await send(found)


def _refused(said: str, query: Query) -> InvalidArguments:
    # What ripgrep's own options could do about it, nobody can set here.
    words = said.removeprefix("rg: ").partition("\n\nConsider enabling PCRE2")[0].strip()
    advice = ""
    if "regex" in words and not query.literal:
        advice = "\nTo look for the text as it is, set literal."
    if words.startswith("unrecognized file type"):
        advice = "\nNames are such as py, js, rust; for other files give a glob."
    if "multiline mode" in words:
        words = words.partition("\n")[0]
        advice = (
            "\nSet multiline for a pattern that goes over line ends (in files with CR LF: \\r?\\n)."
        )
    return InvalidArguments(f"ripgrep cannot search for this: {words}{advice}")
