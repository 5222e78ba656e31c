"""task_create, task_update, task_list: a list of work that survives restarts (C19)."""

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pluggableharness.providers.task.store import Change, Status, Task, TaskStore
from pluggableharness.sdk import (
    Context,
    Doc,
    Ge,
    InvalidArguments,
    Le,
    PermissionDenied,
    Provider,
)
from pluggableharness.sdk.render import Group, Listing, Node, Style, Text

_MARKS = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]", "cancelled": "[-]"}
_FOLDER, _FILE = ".agent", "tasks.sqlite"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    """The provider's block in agent.hcl."""

    scope: Annotated[
        Literal["project", "session"],
        Doc("Whether all sessions of a project share one list, or each has its own"),
    ] = "project"


@dataclass(frozen=True, slots=True)
class One:
    """The task as it is now."""

    task: Task


@dataclass(frozen=True, slots=True)
class Several:
    """The tasks in the order in which they were created."""

    tasks: list[Task]
    total: int
    truncated: bool


provider = Provider("task", settings=Settings)

_TITLE = Doc("What is to be done, in one line")
_DEPENDS = Doc("Ids of the tasks that have to be completed first; replaces those there were")


@provider.resource(risk="low")
async def task_create(
    ctx: Context[Settings],
    title: Annotated[str, _TITLE],
    description: Annotated[str | None, Doc("What the title leaves out")] = None,
    status: Annotated[Status, Doc("Where it stands")] = "pending",
    depends_on: Annotated[list[str] | None, _DEPENDS] = None,
) -> One:
    """Add a task to the list of this project."""
    change = Change(title, description, status, depends_on)
    return One(await _with_store(ctx, lambda store: store.create(change)))


@provider.resource(risk="low", safe=True, key_fields=("id",), idempotent=True)
async def task_update(
    ctx: Context[Settings],
    id: Annotated[str, Doc("The task, as task_create or task_list gave it")],  # noqa: A002  # what the contract calls it
    title: Annotated[str | None, _TITLE] = None,
    description: Annotated[str | None, Doc("What the title leaves out")] = None,
    status: Annotated[Status | None, Doc("Where it stands")] = None,
    depends_on: Annotated[list[str] | None, _DEPENDS] = None,
) -> One:
    """Change a task: only the fields that are given."""
    change = Change(title, description, status, depends_on)
    if change == Change():
        raise InvalidArguments("task_update: give at least one field to change")
    return One(await _with_store(ctx, lambda store: store.update(id, change)))


@provider.data_source(idempotent=True)
async def task_list(
    ctx: Context[Settings],
    status: Annotated[Status | None, Doc("Only tasks that stand so")] = None,
    limit: Annotated[int, Doc("At most so many"), Ge(1), Le(1000)] = 200,
) -> Several:
    """List the tasks of this project in the order in which they were created."""
    if not (_project(ctx.working_directory) / _FOLDER / _FILE).exists():
        return Several([], 0, False)
    tasks, total = await _with_store(ctx, lambda store: store.listed(status, limit))
    return Several(tasks, total, total > len(tasks))


@task_create.preview
async def preview_create(
    ctx: Context[Settings],
    title: str,
    description: str | None,
    status: Status,
    depends_on: list[str] | None,
) -> Node:
    """Show the task as it would stand in the list."""
    line = _line({"id": "new:", "title": title, "status": status, "depends_on": depends_on})
    return Group([line, Text(description)]) if description else line


@task_update.preview
async def preview_update(
    ctx: Context[Settings],
    id: str,  # noqa: A002  # likewise
    title: str | None,
    description: str | None,
    status: Status | None,
    depends_on: list[str] | None,
) -> Node:
    """Show what would be set."""
    needs = None if depends_on is None else ", ".join(depends_on) or "nothing"
    given = {"title": title, "description": description, "status": status, "depends on": needs}
    return Group(
        [
            Text(id, Style.BOLD),
            Listing([Text(f"{name}: {value}") for name, value in given.items() if value]),
        ]
    )


@task_create.render
@task_update.render
def render_task(payload: dict[str, Any]) -> Node:
    """Show the task of a recorded result."""
    return _line(payload["task"])


@task_list.render
def render_tasks(payload: dict[str, Any]) -> Node:
    """Show a recorded list."""
    return Listing([_line(task) for task in payload["tasks"]])


def _line(task: dict[str, Any]) -> Text:
    done = task["status"] in ("completed", "cancelled")
    needs = f" (after {', '.join(task['depends_on'])})" if task.get("depends_on") else ""
    text = f"{_MARKS[task['status']]} {task['id']} {task['title']}{needs}"
    return Text(text, Style.DIM if done else None)


async def _with_store(ctx: Context[Settings], work: Callable[[TaskStore], T]) -> T:
    """Work on the project's store in a thread, since another process may hold its lock."""
    # Put off: what lists the operations needs no threads.
    import asyncio

    scope = ctx.session_id if ctx.settings.scope == "session" else ""
    path = _place(_project(ctx.working_directory))
    return await asyncio.to_thread(work, TaskStore(path, scope))


def _project(working_directory: Path) -> Path:
    """The folder of the project that a session works in, from whichever of its folders.

    That is where agent.hcl is, and where a kernel starts its providers (F3).
    """
    if Path("agent.hcl").exists() and working_directory.resolve().is_relative_to(Path.cwd()):
        return Path.cwd()
    return working_directory


def _place(project: Path) -> str:
    """The store's path; it and its folder are made for their owner, and never links.

    A repository may hold anything, also a link of this name that leads elsewhere.
    """
    folder = project / _FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink():
        raise PermissionDenied(
            f"{folder} is a symbolic link, so the task list is not kept there. Remove it."
        )
    # Only a new file is opened: to close one would drop the locks that this process has on it.
    _make(folder / _FILE, b"", 0o600)
    for end in ("", "-journal", "-wal", "-shm"):
        _check_regular(folder / f"{_FILE}{end}")
    _make(folder / ".gitignore", f"/{_FILE}*\n/outputs/\n".encode(), 0o644)
    return str(folder / _FILE)


def _make(path: Path, content: bytes, mode: int) -> None:
    """Make a file, unless anything of its name is there."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        return
    os.write(descriptor, content)
    os.close(descriptor)


def _check_regular(path: Path) -> None:
    """See that SQLite, which opens by name, will not wait for ever for a pipe, or at a link."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
    os.close(descriptor)
    if not regular:
        raise PermissionDenied(
            f"{path} is no regular file, so the task list is not kept there. Remove it."
        )
