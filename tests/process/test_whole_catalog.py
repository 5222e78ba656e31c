"""All seven providers at once: what they offer, and one session that uses every operation.

The kernel, the provider processes, the record and the files are real; the model is a script, the
person at the gate a frontend that says yes, and the web a server on this machine.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from process.harness import Harness, lines
from unit.web.world import Server, answer, serving

from pluggableharness.cli.starting import with_script
from pluggableharness.kernel.codec.record import read_outcome
from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.news import News
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.kernel.domain.plan import Answer, PlanItem
from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.kernel import opened
from pluggableharness.kernel.models.script import ScriptModel, read_script
from pluggableharness.kernel.store.reading import read_events, read_meta, verify

CORE = {
    "filesystem.read_file": ("data_source", "read_only", True, [], True),
    "filesystem.write_file": ("resource", "moderate", True, ["path"], True),
    "filesystem.edit_file": ("resource", "moderate", True, ["path"], False),
    "search.glob": ("data_source", "read_only", True, [], True),
    "search.grep": ("data_source", "read_only", True, [], True),
    "exec.bash": ("resource", "high", False, [], False),
    "web.web_search": ("data_source", "read_only", True, [], True),
    "web.web_fetch": ("data_source", "read_only", True, [], True),
    "task.task_create": ("resource", "low", False, [], False),
    "task.task_update": ("resource", "low", True, ["id"], True),
    "task.task_list": ("data_source", "read_only", True, [], True),
    "agent.spawn_subagent": ("resource", "critical", True, [], False),
    "user.ask_user": ("interactive", "read_only", None, [], False),
}
BESIDE = {
    "exec.shell_read": ("data_source", "read_only", True, [], True),
    "web.http_request": ("resource", "high", True, ["url"], False),
}

CONFIGURATION = """
provider "exec" {
  shell_read = true
}
provider "web" {
  allow_private = true
  http_request  = true
  search {
    engine = "searxng"
    url    = "http://127.0.0.1:@PORT@"
  }
}
"""

SESSION = """
prompt: Use everything that there is.
messages:
  - calls:
      - {tool: search.glob, arguments: {pattern: "**/*.txt"}}
      - {tool: search.grep, arguments: {pattern: TODO}}
      - {tool: filesystem.read_file, arguments: {path: notes.txt}}
  - calls:
      - {tool: filesystem.edit_file,
         arguments: {path: notes.txt, old_str: TODO, new_str: DONE}}
      - {tool: filesystem.write_file, arguments: {path: new/made.txt, content: "made\\n"}}
      - {tool: exec.bash, arguments: {command: cat notes.txt new/made.txt}}
      - {tool: exec.shell_read, arguments: {argv: [head, -n, "1", notes.txt]}}
  - calls:
      - {id: page, tool: web.web_fetch, arguments: {url: "http://127.0.0.1:@PORT@/page"}}
      - {tool: web.web_search, arguments: {query: harness}}
      - {tool: web.http_request,
         arguments: {method: POST, url: "http://127.0.0.1:@PORT@/hook", body: hello}}
  - calls:
      - {id: made, tool: task.task_create, arguments: {title: Paint it}}
      - {id: colour, tool: user.ask_user,
         arguments: {question: "Which colour?", options: [red, blue]}}
  - calls:
      - {tool: task.task_update, arguments: {id: "${made.task.id}", status: completed}}
      - {tool: task.task_list, arguments: {}}
      - {id: child, tool: agent.spawn_subagent,
         arguments: {profile: looker, prompt: Look into notes.txt}}
  - say: "${page.title}, ${colour.answer}, ${child.final_message}"
agents:
  looker:
    tools: [filesystem.read_file]
    messages:
      - calls: [{id: notes, tool: filesystem.read_file, arguments: {path: notes.txt}}]
      - say: "it has ${notes.total_lines} lines"
"""


class Person:
    """Somebody who allows everything that is shown, and likes blue."""

    attended = True

    def __init__(self) -> None:
        self.asked: list[PlanItem] = []

    async def hear(self, news: News) -> None:
        """Look at nothing but questions."""

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        """Allow it."""
        self.asked.append(item)
        return Answer(allow=True)

    async def answer(self, call: Call) -> JsonObject | None:
        """Say what colour."""
        assert call.arguments["options"] == ["red", "blue"]
        return {"answer": "blue", "selected": ["blue"]}


@asynccontextmanager
async def web() -> AsyncIterator[Server]:
    found = {"results": [{"title": "A harness", "url": "http://x.example/", "content": "It pulls"}]}
    paths = {
        "/page": answer(b"<title>A page</title><p>Hello", "Content-Type: text/html"),
        "/hook": answer(b"taken", "Content-Type: text/plain"),
        "*": answer(json.dumps(found).encode(), "Content-Type: application/json"),
    }
    async with serving(paths) as server:
        yield server


def filled(text: str, server: Server) -> str:
    return text.replace("@PORT@", str(server.port))


@pytest.mark.req("P1", "K33", "C2", "C8", "C10", "C16", "C18", "C19", "C20", "C21")
def test_the_catalog_is_offered_as_it_stands_and_two_more_when_they_are_turned_on(
    harness: Harness,
) -> None:
    assert offered(harness) == CORE
    (harness.project / "agent.hcl").write_text(
        'provider "exec" {\n  shell_read = true\n}\nprovider "web" {\n  http_request = true\n}\n'
    )
    assert offered(harness) == CORE | BESIDE


def offered(harness: Harness) -> dict[str, tuple[Any, ...]]:
    done = harness.run("tools", "--json")
    assert done.returncode == 0, done.stderr
    return {
        f"{one['provider']}.{one['operation']}": (
            one["kind"],
            one["risk"],
            None if one["kind"] == "interactive" else one["safe"],
            one["key_fields"],
            one["idempotent"],
        )
        for one in json.loads(done.stdout)
    }


@pytest.mark.req("C2", "C4", "C9", "C10", "C15", "C16", "C17", "C18", "C19", "C20", "C21", "P29")
async def test_one_session_uses_all_that_there_is_and_the_record_tells_of_it(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(harness.state))
    (harness.project / "notes.txt").write_text("TODO one\ntwo\n")
    person = Person()
    async with web() as server:
        (harness.project / "agent.hcl").write_text(filled(CONFIGURATION, server))
        script = read_script(Path(harness.script(filled(SESSION, server))))
        setup = with_script(script, str(harness.project), "default")
        async with (
            opened(setup) as kernel,
            kernel.session(ScriptModel(script), person) as session,
        ):
            end = await session.run(script.prompt)
    assert end.status is SessionStatus.COMPLETED
    assert session.history[-1].text == "A page, blue, it has 2 lines"
    assert (harness.project / "notes.txt").read_text() == "DONE one\ntwo\n"
    assert (harness.project / "new" / "made.txt").read_text() == "made\n"
    _check_gate(person)
    _check_record(harness)
    _check_replay(harness, session.id)


def _check_gate(person: Person) -> None:
    """Each resource call was asked about, with what it would do in front of the person."""
    names = [item.call.operation.full_name for item in person.asked]
    kinds = {item.call.operation.kind for item in person.asked}
    assert sorted(names) == sorted(RESOURCES) and kinds == {Kind.RESOURCE}
    assert [name for name, item in zip(names, person.asked, strict=True) if not item.preview] == []


RESOURCES = [name for name, (kind, *_) in (CORE | BESIDE).items() if kind == "resource"]


def _check_record(harness: Harness) -> None:
    """The root's log and the child's are whole; every operation has its result."""
    logs = harness.logs()
    assert len(logs) == 2 and all(verify(log).ok for log in logs)
    (child,) = [log for log in logs if "parent" in read_meta(log)]
    (root,) = [log for log in logs if log != child]
    outcomes = [
        read_outcome(event.payload).outcome
        for event in read_events(root)
        if event.kind == "tool_result"
    ]
    assert len(outcomes) == len(CORE | BESIDE)
    assert [one for one in outcomes if not isinstance(one, Success)] == []
    assert read_meta(child)["parent"] == root.stem


def _check_replay(harness: Harness, session_id: str) -> None:
    """A replay shows what was shown, and runs nothing: the server is gone."""
    done = harness.run("sessions", "replay", session_id, "--json")
    assert done.returncode == 0, done.stderr
    items = [
        item for line in lines(done.stdout) if line["type"] == "plan" for item in line["items"]
    ]
    names = [f"{item['provider']}.{item['operation']}" for item in items]
    assert sorted(names) == sorted(RESOURCES)
    assert [name for name, item in zip(names, items, strict=True) if not item["preview"]] == []


ASKED: dict[str, JsonObject] = {
    "filesystem.write_file": {"path": "new.txt", "content": "made\n"},
    "filesystem.edit_file": {"path": "notes.txt", "old_str": "one", "new_str": "two"},
    "exec.bash": {"command": "rm notes.txt"},
    "web.http_request": {"method": "POST", "url": "http://127.0.0.1:1/", "body": "hello"},
    "task.task_create": {"title": "Paint it", "description": "All of it"},
    "task.task_update": {"id": "t1", "status": "completed"},
    "agent.spawn_subagent": {"profile": "looker", "prompt": "Look into it"},
}
SHOWN = {
    "filesystem.write_file": "+ made",
    "filesystem.edit_file": "+ two",
    "exec.bash": "rm notes.txt",
    "web.http_request": "POST http://127.0.0.1:1/",
    "task.task_create": "Paint it",
    "task.task_update": "status: completed",
    "agent.spawn_subagent": "Look into it",
}


@pytest.mark.req("P29", "K33")
@pytest.mark.parametrize("operation", RESOURCES)
def test_a_person_sees_what_a_call_would_do_and_nothing_is_done(
    harness: Harness, operation: str
) -> None:
    (harness.project / "notes.txt").write_text("one\n")
    (harness.project / "agent.hcl").write_text(
        'provider "web" {\n  http_request  = true\n  allow_private = true\n}\n'
    )
    words = ["call", operation, "--args", json.dumps(ASKED[operation]), "--preview"]
    done = harness.run(*words)
    assert done.returncode == 0, done.stderr
    assert SHOWN[operation] in done.stdout
    assert json.loads(harness.run(*words, "--json").stdout)["node"]
    names = {path.name for path in harness.project.iterdir()} - {".agent"}
    assert names == {"notes.txt", "agent.hcl"}
    assert (harness.project / "notes.txt").read_text() == "one\n"
