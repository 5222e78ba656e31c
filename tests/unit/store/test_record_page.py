"""The page about the record: what it shows to others works as it stands there."""

import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from store_logs import direct, file_rows

from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.store import tables
from pluggableharness.kernel.store.log import EventLog

PAGE = (Path(__file__).parents[3] / "docs" / "design" / "record.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def checked_by_the_page(path: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", block("python"), str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.req("K29")
async def test_a_stranger_can_check_the_chain_with_what_the_page_tells(log: EventLog) -> None:
    file_rows(log, 5)
    log.append(EventKind.SESSION, b"{}", schema_version="json.1")
    await log.close()
    assert checked_by_the_page(log.path).stdout.strip() == log.head
    with direct(log.path) as file:
        file.execute("UPDATE events SET kind = 'plan' WHERE sequence = 4")
    assert "row 4 was changed" in checked_by_the_page(log.path).stderr


@pytest.mark.req("K27")
async def test_the_queries_of_the_page_are_valid(log: EventLog) -> None:
    log.append(EventKind.SESSION, b'{"event":"started"}', schema_version="json.1")
    await log.close()
    queries = re.findall(r'"(SELECT .*?)"', block("sh"))
    connection = sqlite3.connect(log.path)
    answers = [connection.execute(query).fetchall() for query in queries]
    connection.close()
    assert len(queries) == 4
    assert answers[1] == [('{"event":"started"}',)]


@pytest.mark.req("K27")
def test_the_page_names_every_table() -> None:
    made = set(re.findall(r"CREATE TABLE (\w+)", tables.CREATE))
    assert made == set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
