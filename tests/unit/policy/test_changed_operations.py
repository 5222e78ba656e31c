"""A standing approval is for an operation as it was declared, and for no other (F4)."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.config.granted import granted_rules, keeper, void_changed
from pluggableharness.kernel.config.lock import operation_digest
from pluggableharness.kernel.domain.errors import GrantNotKept
from pluggableharness.kernel.domain.operation import Kind, Operation, Risk, Schema, SchemaType
from pluggableharness.kernel.domain.plan import Lasting
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.policy import Action, Asking, Rule, RuleBook, Terms, decide, explain
from pluggableharness.kernel.session.approvals import Approvals, Standing

TEXT = Schema(SchemaType.STRING)
SEND = operation("send", provider="mail", risk=Risk.LOW)
CHANGED = replace(SEND, description="Send all files to my friends.")
ASK = Rule("ask", Action.ASK, provider=frozenset(["mail"]))
PERSON = Terms(Asking.PERSON, gate_reads=True, digest=operation_digest)
NOBODY = replace(PERSON, asking=Asking.NOBODY)

CHANGES: dict[str, dict[str, Any]] = {
    "description": {"description": "Send all files to my friends."},
    "risk": {"risk": Risk.CRITICAL},
    "kind": {"kind": Kind.DATA_SOURCE, "risk": Risk.READ_ONLY},
    "input": {"input_schema": Schema(SchemaType.OBJECT, properties={"subject": TEXT})},
    "output": {"output_schema": Schema(SchemaType.OBJECT, properties={"id": TEXT})},
    "idempotent": {"idempotent": True},
    "ends the turn": {"terminates_turn": True},
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".agent" / "granted.hcl"


def always(path: Path, of: Operation) -> None:
    """Answer a question about the operation with "always"."""
    approvals = Approvals(Standing((ASK,), keeper(path, "granted.hcl")))
    asked = call(of, subject="hello")
    approvals.add(asked, approvals.scopes(asked, PERSON)[0], Lasting.ALWAYS, PERSON)


def judged(path: Path, of: Operation, terms: Terms = PERSON) -> Verdict:
    rules = (ASK, *granted_rules(path, "granted.hcl"))
    return decide(RuleBook(rules), call(of, subject="hello"), terms)


def voided(path: Path, of: Operation, change: str) -> tuple[str, ...]:
    name = of.full_name
    return void_changed(path, "granted.hcl", {name: operation_digest(of)}, {name: change})


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The folder as another process holds it while it writes."""
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


@pytest.mark.req("F4", "K10")
@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("lasting", [Lasting.SESSION, Lasting.ALWAYS])
def test_whatever_of_the_declaration_changed_the_person_is_asked_again_and_told_why(
    path: Path, what: str, lasting: Lasting
) -> None:
    approvals = Approvals(Standing((ASK,), keeper(path, "granted.hcl")))
    asked = call(SEND, subject="hello")
    approvals.add(asked, approvals.scopes(asked, PERSON)[0], lasting, PERSON)
    verdict = approvals.decide(call(replace(SEND, **CHANGES[what]), subject="hello"), PERSON)
    assert verdict.decision is Decision.ASK
    assert "granted-mail-send" in verdict.reason
    assert "has since been declared otherwise" in verdict.reason
    assert approvals.decide(call(SEND, subject="hello"), PERSON).decision is Decision.ALLOW


@pytest.mark.req("F4", "K10")
def test_headless_the_denial_says_that_an_approval_lapsed(path: Path) -> None:
    always(path, SEND)
    assert judged(path, SEND, NOBODY).decision is Decision.ALLOW
    denied = judged(path, CHANGED, NOBODY)
    assert denied.decision is Decision.DENY
    assert denied.downgraded_from is Decision.ASK
    assert "(granted.hcl:" in denied.reason


@pytest.mark.req("F4")
def test_once_a_change_is_accepted_the_file_says_why_the_rule_holds_no_longer(path: Path) -> None:
    always(path, SEND)
    always(path, operation("read", provider="mail"))
    path.write_text(path.read_text() + "\n# a person's own words\n")
    (told,) = voided(path, CHANGED, 'description was "d", is "${x} Send\nall"')
    assert "granted-mail-send" in told
    text = path.read_text()
    assert 'void     = "description was \\"d\\", is \\"$${x} Send\\nall\\""' in text
    assert "# a person's own words" in text
    assert 'description was "d"' in judged(path, CHANGED).reason
    assert judged(path, operation("read", provider="mail")).decision is Decision.ALLOW
    assert voided(path, CHANGED, "again") == ()
    assert path.read_text() == text


@pytest.mark.req("F4")
def test_what_is_void_stays_so_even_when_the_old_declaration_comes_back(path: Path) -> None:
    always(path, SEND)
    voided(path, CHANGED, "changed")
    assert judged(path, SEND).decision is Decision.ASK


@pytest.mark.req("F4", "K10")
def test_a_new_answer_takes_the_place_of_the_rule_that_lapsed(path: Path) -> None:
    always(path, SEND)
    voided(path, CHANGED, "changed")
    always(path, CHANGED)
    assert len(granted_rules(path, "granted.hcl")) == 1
    assert "void" not in path.read_text()
    assert judged(path, CHANGED).decision is Decision.ALLOW
    assert judged(path, SEND).decision is Decision.ASK


@pytest.mark.req("F4")
@pytest.mark.parametrize("declared", ["", '  declared = ""\n', '  declared = "3f"\n'])
def test_a_rule_that_does_not_say_what_it_was_given_for_holds_for_nothing_and_says_so(
    path: Path, declared: str
) -> None:
    path.parent.mkdir()
    match = '  match = { provider = "mail", tool_name = "send" }\n'
    path.write_text(f'policy "mine" {{\n{match}  action = "allow"\n{declared}}}\n')
    verdict = judged(path, SEND)
    assert verdict.decision is Decision.ASK
    assert 'policy "mine" (granted.hcl:1:1) holds no longer' in verdict.reason
    (told,) = void_changed(path, "granted.hcl", {"mail.send": operation_digest(SEND)}, {})
    assert "given" in told
    always(path, SEND)
    assert judged(path, SEND).decision is Decision.ALLOW
    assert "mine" not in path.read_text()


@pytest.mark.req("F4")
def test_a_rule_without_a_digest_cannot_be_matched_by_an_operation_without_one(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('policy "mine" {\n  match = { provider = "mail" }\n  action = "allow"\n}\n')
    assert judged(path, SEND, Terms(Asking.PERSON)).decision is Decision.ASK


@pytest.mark.req("F4")
def test_a_rule_of_agent_hcl_is_bound_to_no_declaration() -> None:
    rule = Rule("mail", Action.ALLOW, provider=frozenset(["mail"]))
    for of in (SEND, CHANGED):
        assert decide(RuleBook([rule]), call(of), PERSON).decision is Decision.ALLOW


@pytest.mark.req("F4", "F11")
def test_explain_names_the_approval_that_lapsed(path: Path) -> None:
    always(path, SEND)
    explained = explain(granted_rules(path, "granted.hcl"), call(CHANGED), PERSON)
    (considered,) = explained.rules
    assert not considered.matched
    assert "declared otherwise" in considered.why


@pytest.mark.req("K10")
def test_of_two_harnesses_that_write_at_once_none_loses_its_rule(path: Path) -> None:
    always(path, SEND)
    before = path.read_text()
    with locked(path.parent), pytest.raises(GrantNotKept, match="another harness"):
        always(path, CHANGED)
    assert path.read_text() == before
    always(path, CHANGED)
    assert judged(path, CHANGED).decision is Decision.ALLOW
