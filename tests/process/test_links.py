"""An approval, and a rule, hold for where a path led; links are swapped under real providers."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from family import LIMIT_S, Watching, Written, calls, kernel, results, says

from bench.survive.siege import swapping
from pluggableharness.kernel import places
from pluggableharness.kernel.domain.call import Call, ProposedCall
from pluggableharness.kernel.domain.message import Message, Role
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
from pluggableharness.kernel.domain.plan import Answer, PlanItem
from pluggableharness.kernel.first_party import all_first_party
from pluggableharness.kernel.policy import Action, Rule

pytestmark = pytest.mark.req("K10a", "K5a")

PROVIDERS = tuple(one for one in all_first_party() if one.name in ("filesystem", "exec"))
ALLOW = tuple(
    Rule(f"allow {name}", Action.ALLOW, provider=frozenset([name]))
    for name in ("filesystem", "exec")
)


def point(link: Path, target: str) -> None:
    link.unlink(missing_ok=True)
    link.symlink_to(target)


@dataclass
class Swapping(Watching):
    """Allows what it is asked, the first time only after it has done something."""

    attended: bool = True
    swap: Callable[[], None] = lambda: None
    changed: list[str] = field(default_factory=list)

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        self.asked.append(item)
        self.changed.append(changed)
        if len(self.asked) == 1:
            self.swap()
            return Answer(allow=True)
        return Answer(allow=False, reason="that is another place")


async def run(
    project: Path, frontend: Watching, operation: str, *, first: str = "", **arguments: Any
) -> Outcome:
    rules = () if frontend.attended else ALLOW
    messages = [calls(operation, **arguments)]
    if first:
        messages.insert(0, calls("filesystem.read_file", path=first))
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(project, providers=PROVIDERS, allow_all=False, rules=rules) as made,
        made.session(Written(messages), frontend) as session,
    ):
        await session.run("go")
        return results(session.history)[-1]


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two folders with the same file, and a link to the first of them."""
    made = tmp_path / "project"
    for name in ("a", "b", ".git/hooks"):
        (made / name).mkdir(parents=True)
        (made / name / "f").write_text("text\n")
    point(made / "ln", "a")
    return made


EDIT = {"path": "ln/f", "old_str": "text", "new_str": "changed"}


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("filesystem.edit_file", EDIT),
        ("filesystem.write_file", {"path": "ln/new/x", "content": "changed"}),
        ("exec.bash", {"command": "echo changed >f", "working_directory": "ln"}),
        ("exec.bash", {"command": "echo changed >ln/f"}),
    ],
)
async def test_a_link_swapped_while_the_question_is_open_brings_it_back(
    project: Path, operation: str, arguments: dict[str, Any]
) -> None:
    person = Swapping(swap=lambda: point(project / "ln", "b"))
    outcome = await run(project, person, operation, **arguments)
    assert isinstance(outcome, Failure) and outcome.category is ErrorCategory.PERMISSION_DENIED
    shown, again = (str(item.preview) for item in person.asked)
    assert f"{project}/a" in shown and f"{project}/b" not in shown
    assert f"{project}/b" in again and f"{project}/b" in person.changed[1]
    assert [(project / name / "f").read_text() for name in "ab"] == ["text\n", "text\n"]
    assert not (project / "b/new").exists()


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("filesystem.edit_file", {**EDIT, "path": "g/hooks/f"}),
        ("filesystem.write_file", {"path": "cfg", "content": "x"}),
        ("filesystem.write_file", {"path": "g/hooks/pre-push", "content": "x"}),
        ("exec.bash", {"command": "echo x >pre-push", "working_directory": "g/hooks"}),
        ("exec.bash", {"command": "echo x >cfg"}),
    ],
)
async def test_a_rule_that_allows_the_provider_reaches_nothing_guarded_through_a_link(
    project: Path, operation: str, arguments: dict[str, Any]
) -> None:
    point(project / "g", ".git")
    point(project / "cfg", "agent.hcl")
    outcome = await run(project, Watching(), operation, **arguments)
    assert isinstance(outcome, Failure) and outcome.category is ErrorCategory.PERMISSION_DENIED
    assert "leads to" in outcome.message
    assert (project / ".git/hooks/f").read_text() == "text\n"
    assert not (project / ".git/hooks/pre-push").exists() and not (project / "agent.hcl").exists()


async def test_a_link_that_stays_where_it_leads_is_followed(project: Path) -> None:
    for person in (Swapping(), Watching()):
        outcome = await run(project, person, "filesystem.edit_file", **EDIT)
        assert isinstance(outcome, Success), outcome
        (project / "a/f").write_text("text\n")
    outcome = await run(
        project, Watching(), "exec.bash", command="pwd >here", working_directory="ln"
    )
    assert isinstance(outcome, Success)
    assert (project / "a/here").read_text() == f"{project}/a\n"


@pytest.mark.parametrize("to", ["b", ".git/hooks"])
@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("filesystem.edit_file", EDIT),
        ("filesystem.write_file", {"path": "ln/new/x", "content": "x"}),
        ("exec.bash", {"command": "echo x >f", "working_directory": "ln"}),
    ],
)
@pytest.mark.parametrize("attended", [True, False])
async def test_a_link_swapped_after_the_last_look_leads_nowhere(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    operation: str,
    arguments: dict[str, Any],
    to: str,
    attended: bool,
) -> None:
    """The kernel's looks all say `a`; the provider opens that, or nothing at all."""
    looked = places.located

    async def late(call: Call) -> Call:
        point(project / "ln", "a")
        found = await looked(call)
        point(project / "ln", to)
        return found

    monkeypatch.setattr("pluggableharness.kernel.judging.located", late)
    frontend = Swapping() if attended else Watching()
    outcome = await run(project, frontend, operation, **arguments)
    assert isinstance(outcome, Success), outcome
    for name in ("b", ".git/hooks"):
        assert (project / name / "f").read_text() == "text\n"
        assert not (project / name / "new").exists()


@pytest.mark.parametrize("operation", ["filesystem.write_file", "exec.bash"])
async def test_a_folder_that_becomes_a_link_after_the_last_look_ends_the_call(
    project: Path, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    looked = places.located

    folder = project / "d"

    async def late(call: Call) -> Call:
        folder.unlink(missing_ok=True)
        folder.mkdir()
        found = await looked(call)
        folder.rmdir()
        point(folder, ".git/hooks")
        return found

    monkeypatch.setattr("pluggableharness.kernel.judging.located", late)
    write = {"path": "d/x", "content": "x"}
    command = {"command": "echo x >x", "working_directory": "d"}
    arguments = command if operation == "exec.bash" else write
    outcome = await run(project, Watching(), operation, **arguments)
    assert isinstance(outcome, Failure), outcome
    assert outcome.category is ErrorCategory.CONCURRENCY_CONFLICT
    assert not (project / ".git/hooks/x").exists()


@pytest.mark.req("R3")
@pytest.mark.parametrize("operation", ["filesystem.write_file", "exec.bash"])
async def test_an_attacker_that_swaps_a_folder_for_a_link_gets_nothing_past_the_rules(
    project: Path, operation: str
) -> None:
    """Between every two steps of kernel and provider, and without a sandbox."""
    (project / "x").mkdir()
    point(project / "y", ".git/hooks")
    before = sorted(os.listdir(project / ".git/hooks"))
    proposed = tuple(
        ProposedCall(
            f"use-{number}",
            operation,
            {"command": f"echo x >n{number}", "working_directory": "x"}
            if operation == "exec.bash"
            else {"path": f"x/n{number}", "content": "x"},
        )
        for number in range(20)
    )

    async def until_one_failed() -> Message:
        met = any(isinstance(one, Failure) for one in results(session.history))
        return says("over") if met else Message(Role.ASSISTANT, proposed)

    providers = tuple(
        replace(one, config={"sandbox": "none"}) if one.name == "exec" else one for one in PROVIDERS
    )
    async with (
        asyncio.timeout(LIMIT_S),
        kernel(project, providers=providers, allow_all=False, rules=ALLOW) as made,
        made.session(Written([until_one_failed] * 30), Watching()) as session,
    ):
        with swapping(project / "x", project / "y"):
            await session.run("go")
        ended = results(session.history)
    assert sorted(os.listdir(project / ".git/hooks")) == before
    assert any(isinstance(one, Failure) for one in ended), "the attacker was never in the way"
