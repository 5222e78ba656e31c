"""Rules that ask about reads and questions, with the providers that people have (K4, K6)."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from family import LIMIT_S, Watching, Written, calls, failure, results

from pluggableharness.kernel.codec.record_facts import read_decision
from pluggableharness.kernel.configured import configured
from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.domain.outcome import Outcome, Success
from pluggableharness.kernel.domain.plan import Answer, Lasting, PlanItem
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.kernel import opened
from pluggableharness.kernel.store.reading import read_events

RULES = """\
policy "notes" {
  match  = { provider = "filesystem", tool_name = "read_file" }
  when   = "reads.exists(p, p.startsWith('notes/'))"
  action = "ask"
  reason = "notes are private"
}
policy "questions" {
  match  = { kind = "interactive" }
  action = "ask"
}
"""
SECRET = """\
policy "secret" {
  match  = { kind = "data_source" }
  when   = "reads.exists(p, p.startsWith('secret/'))"
  action = "forbid"
  reason = "no"
}
"""
GATED = "settings {\n  gate_reads = true\n}\n"
READ = ("filesystem.read_file", {"path": "notes/a.txt"})
ASK = ("user.ask_user", {"question": "Which one?"})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "project" / "notes").mkdir(parents=True)
    for name in ("notes/a.txt", "notes/b.txt", "free.txt"):
        (tmp_path / "project" / name).write_text(f"in {name}\n")
    return tmp_path / "project"


@dataclass
class Person(Watching):
    attended: bool = True
    answers: Callable[[PlanItem], Answer] = lambda item: Answer(True)

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        self.asked.append(item)
        return self.answers(item)


async def run(
    project: Path, person: Watching, *proposed: tuple[str, dict[str, str]], rules: str
) -> list[Outcome]:
    """A session of one message for each call."""
    (project / "agent.hcl").write_text(rules)
    model = Written([calls(name, **arguments) for name, arguments in proposed])
    async with (
        asyncio.timeout(LIMIT_S),
        opened(configured(project, {})) as made,
        made.session(model, person) as session,
    ):
        await session.run("go")
    return results(session.history)


def verdicts(project: Path) -> list[tuple[str, Decision, Decision | None]]:
    (log,) = (project.parent / "state" / "pluggableharness" / "sessions").glob("*.sqlite")
    found = [read_decision(e.payload) for e in read_events(log) if e.kind == EventKind.DECISION]
    return [
        (one.name, one.verdict.decision, one.verdict.downgraded_from)
        for one in found
        if one.verdict is not None
    ]


@pytest.mark.req("K6", "K10")
async def test_a_gated_read_waits_for_its_answer_and_what_no_rule_speaks_of_runs_freely(
    project: Path,
) -> None:
    person = Person()
    free = ("filesystem.read_file", {"path": "free.txt"})
    outcomes = await run(project, person, READ, free, ASK, rules=GATED + RULES)
    assert all(isinstance(one, Success) for one in outcomes)
    assert [item.call.operation.full_name for item in person.asked] == [READ[0], ASK[0]]
    assert person.asked[0].verdict.reason == "notes are private"
    assert verdicts(project) == [
        (READ[0], Decision.ASK, None),
        (READ[0], Decision.ALLOW, None),
        (READ[0], Decision.ALLOW, None),
        (ASK[0], Decision.ASK, None),
        (ASK[0], Decision.ALLOW, None),
    ]


@pytest.mark.req("K6", "K10")
async def test_a_gated_read_that_a_person_denies_reads_nothing(project: Path) -> None:
    person = Person(answers=lambda item: Answer(False, "not these"))
    (outcome,) = await run(project, person, READ, rules=GATED + RULES)
    assert failure(outcome).message == "Denied by person: not these"


@pytest.mark.req("K6", "K10")
async def test_an_answer_for_the_session_covers_the_file_or_its_folder(project: Path) -> None:
    def narrow(item: PlanItem) -> Answer:
        return Answer(True, lasting=Lasting.SESSION, scope=item.scopes[0])

    def wide(item: PlanItem) -> Answer:
        return Answer(True, lasting=Lasting.SESSION, scope=item.scopes[1])

    other = ("filesystem.read_file", {"path": "notes/b.txt"})
    for answers, asked in ((narrow, 2), (wide, 1)):
        person = Person(answers=answers)
        outcomes = await run(project, person, READ, READ, other, rules=GATED + RULES)
        assert all(isinstance(one, Success) for one in outcomes)
        assert len(person.asked) == asked


@pytest.mark.req("K6", "K10")
@pytest.mark.parametrize(("gated", "attended"), [(True, False), (False, True), (False, False)])
async def test_without_the_setting_or_a_person_the_question_becomes_a_denial_that_says_so(
    project: Path, gated: bool, attended: bool
) -> None:
    person = Person(attended=attended)
    outcomes = await run(project, person, READ, ASK, rules=(GATED if gated else "") + RULES)
    assert person.asked == []
    why = "nobody is here to ask" if gated else "gate_reads = true"
    assert all(why in failure(one).message for one in outcomes)
    assert verdicts(project) == [
        (READ[0], Decision.DENY, Decision.ASK),
        (ASK[0], Decision.DENY, Decision.ASK),
    ]


@pytest.mark.req("K10a", "K7")
@pytest.mark.parametrize("to", ["secret/key", "notes/b.txt"])
async def test_a_gated_read_that_leads_elsewhere_by_the_time_it_runs_is_judged_anew(
    project: Path, to: str
) -> None:
    """By rules, which see where it leads, and by whoever approved it for another place."""
    (project / "secret").mkdir()
    (project / "secret/key").write_text("secret\n")
    link = project / "notes/a.txt"

    def swap(item: PlanItem) -> Answer:
        if link.is_symlink():
            assert str(project / to) in str(item.preview)
            return Answer(False, "another place")
        link.unlink()
        link.symlink_to(project / to)
        return Answer(True)

    person = Person(answers=swap)
    (outcome,) = await run(project, person, READ, rules=GATED + RULES + SECRET)
    denied = "rule secret: no" if to == "secret/key" else "person: another place"
    assert failure(outcome).message == f"Denied by {denied}"
    assert len(person.asked) == (1 if to == "secret/key" else 2)


@pytest.mark.req("K7")
@pytest.mark.parametrize("operation", ["filesystem.read_file", "search.grep"])
async def test_a_rule_that_keeps_reads_out_of_a_folder_holds_for_links_into_it(
    project: Path, operation: str
) -> None:
    (project / "secret").mkdir()
    (project / "secret/key").write_text("secret\n")
    (project / "plain").symlink_to("secret/key")
    arguments = {"path": "plain", **({"pattern": "s"} if operation == "search.grep" else {})}
    (outcome,) = await run(project, Person(), (operation, arguments), rules=SECRET)
    assert failure(outcome).message == "Denied by rule secret: no"
