"""Tasks in SQLite: one file a project, safe for many sessions and processes at once.

Knows nothing of providers or kernels; its errors are the SDK's, since they are for the model.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from pluggableharness.sdk import Doc, ExecutionFailed, InvalidArguments, NotFound
from pluggableharness.sdk.naming import quoted

Status = Literal["pending", "in_progress", "completed", "cancelled"]

_BUSY_S: Final = 10.0
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS tasks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    scope TEXT NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    status TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS by_scope ON tasks (scope, number);
CREATE TABLE IF NOT EXISTS dependencies (
    task INTEGER NOT NULL REFERENCES tasks (number),
    needs INTEGER NOT NULL REFERENCES tasks (number),
    PRIMARY KEY (task, needs)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Task:
    """One task; ids are given once and never again."""

    id: Annotated[str, Doc("The id that task_update takes, such as t7")]
    title: str
    status: Status
    description: str | None = None
    depends_on: Annotated[
        list[str] | None, Doc("Ids of the tasks that have to be completed first")
    ] = None


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of a task; None leaves a field as it is.

    Raises InvalidArguments for a title that says nothing.
    """

    title: str | None = None
    description: str | None = None
    status: Status | None = None
    depends_on: list[str] | None = None

    def __post_init__(self) -> None:
        """Refuse a blank title."""
        if self.title is not None and not self.title.strip():
            raise InvalidArguments("title is blank: say in a line what is to be done")


class TaskStore:
    """The tasks of one scope: a session's id, or "" for the whole project.

    Every method is one transaction that takes the write lock before it reads, so that what it
    checks still holds when it writes.
    """

    def __init__(self, path: str, scope: str) -> None:
        self._path = path
        self._scope = scope

    def create(self, change: Change) -> Task:
        """Add a task. Raises NotFound for an unknown dependency."""
        with self._transaction() as database:
            row = (self._scope, change.title, change.description or "", change.status or "pending")
            number = database.execute(
                "INSERT INTO tasks (scope, title, description, status) VALUES (?, ?, ?, ?)", row
            ).lastrowid
            assert number is not None
            self._depend(database, number, change.depends_on or [])
            return self._read(database, number)

    def update(self, task_id: str, change: Change) -> Task:
        """Change a task. Raises NotFound, and InvalidArguments for a cycle; then nothing is."""
        with self._transaction() as database:
            number = self._number(database, task_id)
            for column in ("title", "description", "status"):
                value = getattr(change, column)
                if value is not None:
                    database.execute(
                        f"UPDATE tasks SET {column} = ? WHERE number = ?",  # noqa: S608  # our own name
                        (value, number),
                    )
            if change.depends_on is not None:
                database.execute("DELETE FROM dependencies WHERE task = ?", (number,))
                self._depend(database, number, change.depends_on)
            return self._read(database, number)

    def listed(self, status: Status | None, limit: int) -> tuple[list[Task], int]:
        """The tasks in creation order, at most `limit`, and how many there are."""
        with self._transaction() as database:
            where, values = "scope = ?", [self._scope]
            if status is not None:
                where, values = "scope = ? AND status = ?", [self._scope, status]
            total = database.execute(
                f"SELECT count(*) FROM tasks WHERE {where}",  # noqa: S608  # no value in it
                values,
            ).fetchone()[0]
            numbers = database.execute(
                f"SELECT number FROM tasks WHERE {where} ORDER BY number LIMIT ?",  # noqa: S608  # likewise
                [*values, limit],
            ).fetchall()
            return [self._read(database, number) for (number,) in numbers], total

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            database = sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None)
            try:
                database.executescript(_TABLES)
                database.execute("BEGIN IMMEDIATE")
                with database:
                    yield database
            finally:
                database.close()
        except sqlite3.Error as error:
            raise ExecutionFailed(
                f"The task list cannot be used: {error}. Nothing was changed; if it stays so, "
                f"see {os.path.relpath(self._path)}."
            ) from error

    def _depend(self, database: sqlite3.Connection, number: int, needed: list[str]) -> None:
        for task_id in dict.fromkeys(needed):
            needs = self._number(database, task_id)
            path = _path(database, needs, number)
            if path:
                chain = " -> ".join(f"t{one}" for one in [number, *path])
                raise InvalidArguments(
                    f"depends_on: {task_id} would close a circle: {chain}. Leave it out, or "
                    "take the dependency the other way round."
                )
            database.execute("INSERT INTO dependencies VALUES (?, ?)", (number, needs))

    def _number(self, database: sqlite3.Connection, task_id: str) -> int:
        digits = task_id[1:]
        if task_id[:1] == "t" and digits.isascii() and digits.isdigit() and len(digits) < 18:
            found = database.execute(
                "SELECT number FROM tasks WHERE number = ? AND scope = ?",
                (int(digits), self._scope),
            ).fetchone()
            if found:
                return int(found[0])
        raise NotFound(f"There is no task {quoted(task_id)}. {self._known(database)}")

    def _known(self, database: sqlite3.Connection) -> str:
        rows = database.execute(
            "SELECT number, title FROM tasks WHERE scope = ? ORDER BY number DESC LIMIT 10",
            (self._scope,),
        ).fetchall()
        listed = "; ".join(f"t{number} {title[:60]}" for number, title in rows)
        return f"The latest are: {listed}." if rows else "There is none yet."

    def _read(self, database: sqlite3.Connection, number: int) -> Task:
        title, description, status = database.execute(
            "SELECT title, description, status FROM tasks WHERE number = ?", (number,)
        ).fetchone()
        needs = database.execute(
            "SELECT needs FROM dependencies WHERE task = ? ORDER BY needs", (number,)
        ).fetchall()
        task = Task(f"t{number}", title, status, description or None)
        return replace(task, depends_on=[f"t{one}" for (one,) in needs]) if needs else task


def _path(database: sqlite3.Connection, start: int, end: int) -> list[int]:
    """The way along dependencies from one task to another; empty when there is none."""
    came_from = {start: start}
    waiting = [start]
    while waiting and end not in came_from:
        at = waiting.pop()
        rows = database.execute("SELECT needs FROM dependencies WHERE task = ?", (at,))
        for (needs,) in rows.fetchall():
            if needs not in came_from:
                came_from[needs] = at
                waiting.append(needs)
    if end not in came_from:
        return []
    way = [end]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return way[::-1]
