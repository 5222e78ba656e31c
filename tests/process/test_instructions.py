"""What a model is told beside the history: at the vendors, from the command line, in the record."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from model_server import Call, ModelServer, Recorded, Reply
from process.harness import Harness
from process.test_cli_models import ran
from unit.models.vendors import ALL, ASKED, TOOLS, Listener, Spoken, answering

from pluggableharness.kernel.codec.record_facts import read_facts
from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.store.reading import read_events

MODEL = """\
  model {{
    primary {{
      provider = "openai-compatible"
      id       = "any"
      base_url = "{url}"
    }}
  }}
"""


def told(request: dict[str, Any]) -> str:
    """The one system message that a request begins with."""
    first, *others = request["messages"]
    assert first["role"] == "system"
    assert all(one["role"] != "system" for one in others)
    return str(first["content"])


def filed(log: Path) -> list[str]:
    """The instructions that a record holds."""
    facts = [read_facts(one.payload) for one in read_events(log) if one.kind == EventKind.SESSION]
    return [fact["text"] for fact in facts if fact["event"] == "instructed"]


def written(harness: Harness, url: str, *attributes: str, more: str = "") -> None:
    inside = "".join(f"  {one}\n" for one in attributes)
    block = f'agent_profile "default" {{\n{inside}{MODEL.format(url=url)}}}\n'
    harness.configure(block + more, "agent", "search")


def system_of(spoken: Spoken, request: dict[str, Any]) -> str:
    """What a vendor's request holds beside its messages, as text."""
    names = {"anthropic": "system", "google": "systemInstruction", "openai": "instructions"}
    if spoken.vendor.value in names:
        return str(request.get(names[spoken.vendor.value], ""))
    return told(request)


@pytest.mark.req("K1", "K36")
@pytest.mark.parametrize("spoken", ALL, ids=lambda one: one.vendor.value)
async def test_every_vendor_gets_instructions_as_such_and_not_as_a_message(spoken: Spoken) -> None:
    with ModelServer([Recorded(f"{spoken.stream}-says.events")]) as server:
        async with answering(spoken.choice(server)) as model:
            model.instructions = lambda: "Speak of nothing else."
            await model.reply([ASKED], TOOLS, Listener())
    (request,) = server.requests
    assert "Speak of nothing else." in system_of(spoken, request)
    assert str(request).count("Speak of nothing else.") == 1


@pytest.mark.req("K1", "F9")
def test_a_model_is_told_where_it_is_and_then_what_its_profile_says(harness: Harness) -> None:
    (harness.project / "AGENTS.md").write_text("Tests come first.\n")
    with ModelServer([Reply("Done.")]) as server:
        written(
            harness,
            server.url,
            "instructions = <<-END\n    Be brief.\n    Be kind.\n  END",
            'instructions_file = "AGENTS.md"',
        )
        done = ran(harness, "go", "--json")
    assert done.returncode == 0, done.stderr
    text = told(server.requests[0])
    assert text.startswith(f"Working directory: {harness.project}\nRelative paths start there.\n")
    assert f"Operating system: {os.uname().sysname}" in text
    assert re.search(r"^Date: \d{4}-\d\d-\d\d$", text, re.MULTILINE)
    assert text.endswith("\n\nBe brief.\nBe kind.\n\nTests come first.")
    assert filed(harness.logs()[0]) == [text]
    assert "Tests come first." not in done.stdout


@pytest.mark.req("K1", "K11", "K27")
@pytest.mark.providers("search")
def test_plan_mode_says_so_and_the_record_has_what_was_told_once(harness: Harness) -> None:
    look = Reply(calls=[Call("search.glob", {"pattern": "*"})])
    with ModelServer([look, Reply("I would.")]) as server:
        done = ran(
            harness, "go", "--plan", "--model", "openai-compatible:any",
            environment=server.environment,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, second = (told(one) for one in server.requests)
    assert first == second and first.endswith("Look, and say what you would do.")
    assert filed(harness.logs()[0]) == [first]


@pytest.mark.req("K1", "K23")
def test_a_child_is_told_what_its_own_profile_says(harness: Harness) -> None:
    spawn = Call("agent.spawn_subagent", {"profile": "counter", "prompt": "count"})
    with ModelServer([Reply(calls=[spawn]), Reply("One."), Reply("Done.")]) as server:
        child = 'agent_profile "counter" {\n  instructions = "You count."\n}\n'
        own = ('tools = ["agent.*"]', 'instructions = "You lead."')
        written(harness, server.url, *own, more=child)
        done = ran(harness, "go", "--allow-all")
    assert done.returncode == 0, done.stderr
    parent, counting, _ = (told(one) for one in server.requests)
    assert "You lead." in parent and "You count." not in parent
    assert "You count." in counting and "You lead." not in counting


@pytest.mark.req("K1", "K36", "K4")
def test_scripts_and_calls_by_hand_are_told_nothing_and_need_no_file(harness: Harness) -> None:
    written(harness, "http://127.0.0.1:9/v1", 'tools = ["*.*"]', 'instructions_file = "NONE.md"')
    script = harness.project / "script.yaml"
    script.write_text("messages: [{say: Done.}]\n")
    assert harness.run("run", "--script", str(script)).returncode == 0
    assert harness.run("call", "search.glob", "pattern=*").returncode == 0
    assert [filed(log) for log in harness.logs()] == [[], []]


@pytest.mark.req("K1", "F1")
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "cannot be read: No such file or directory"),
        (lambda path: path.mkdir(), "is no regular file"),
        (os.mkfifo, "is no regular file"),
        (lambda path: path.symlink_to("/etc/hostname"), "out of the project"),
        (lambda path: path.write_bytes(b"\xff\xfe"), "is not UTF-8"),
        (lambda path: path.write_text("x" * (200 << 10)), "is larger than 128 KiB"),
    ],
    ids=["missing", "a directory", "a pipe", "outside", "no text", "too large"],
)
def test_a_file_that_cannot_be_told_stops_the_start_with_its_place(
    harness: Harness, make: Any, said: str
) -> None:
    make(harness.project / "AGENTS.md")
    with ModelServer([]) as server:
        written(harness, server.url, 'instructions_file = "AGENTS.md"')
        done = ran(harness, "go")
    assert done.returncode == 2
    assert "agent.hcl:2:23" in done.stderr and said in done.stderr
    assert not server.requests
    assert not harness.logs()


@pytest.mark.req("F1", "F9")
@pytest.mark.parametrize("name", ["/etc/hostname", "../AGENTS.md", "a/../../b", ".", ""])
def test_a_name_that_leads_out_of_the_project_is_a_mistake_of_the_file(
    harness: Harness, name: str
) -> None:
    (harness.project / "agent.hcl").write_text(
        f'agent_profile "default" {{\n  instructions_file = "{name}"\n}}\n'
    )
    done = harness.run("config", "check")
    assert done.returncode == 2
    assert "agent.hcl:2:23" in done.stderr and "a file of the project" in done.stderr
