"""Records that no kernel wrote: told and gone on with, or refused in words (K27, K30)."""

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from store_logs import direct
from unit.session.recorded import SAID, whole_log

from pluggableharness.kernel.codec.json_text import JSON, json_bytes
from pluggableharness.kernel.codec.record_facts import read_facts
from pluggableharness.kernel.domain.event import Event
from pluggableharness.kernel.frontends.markdown_page import MarkdownPage
from pluggableharness.kernel.frontends.terminal import Terminal
from pluggableharness.kernel.store.errors import LogUnreadable
from pluggableharness.kernel.store.past import recorded_session
from pluggableharness.kernel.store.reading import read_events, read_meta
from pluggableharness.kernel.store.story import Prompted, story

MOVES = "\x1b[2J\u202e"
STRANGE: tuple[Any, ...] = (None, True, -1, 1e308, MOVES, [], ["x"], {"a": {"b": 1}}, "x" * 9999)


def forged(events: list[Event]) -> Iterator[tuple[list[Event], str]]:
    """The events with one fact of one of them another, or left out; and what was done."""
    for place, event in enumerate(events):
        facts = read_facts(event.payload) if event.schema_version == JSON else {}
        for name in facts:
            without = {other: fact for other, fact in facts.items() if other != name}
            for one in (without, *(facts | {name: value} for value in STRANGE)):
                other = replace(event, payload=json_bytes(one))
                yield [*events[:place], other, *events[place + 1 :]], f"{place}: {one}"


async def told(events: list[Event]) -> str:
    """What a terminal and a page show of them. Raises ValueError."""
    shown, page = io.StringIO(), io.StringIO()
    terminal, written = Terminal(shown, conversation=True), MarkdownPage(page)
    try:
        for one in story(events):
            if not isinstance(one.piece, Prompted):
                await terminal.hear(one.piece)
                await written.hear(one.piece)
    finally:
        terminal.close()
    return shown.getvalue() + page.getvalue()


@pytest.mark.req("K27", "K30")
async def test_whatever_a_fact_says_the_story_is_told_in_safe_words_or_refused(
    tmp_path: Path,
) -> None:
    events = list(read_events(await whole_log(tmp_path / "logs", *SAID)))
    refused = 0
    for changed, what in forged(events):
        try:
            assert MOVES[0] not in await told(changed), what
            recorded_session(changed, 0.0)
        except ValueError:
            refused += 1
    assert refused


@pytest.mark.req("K27")
async def test_what_a_record_says_of_its_session_is_text_or_refused(tmp_path: Path) -> None:
    path = await whole_log(tmp_path / "logs", *SAID)
    assert read_meta(path)["working_directory"] == "/work"
    with direct(path) as connection:
        update = "UPDATE session_meta SET value = ? WHERE key = 'working_directory'"
        connection.execute(update, (b"/work",))
    with pytest.raises(LogUnreadable, match="no text"):
        read_meta(path)
