"""A standing approval is for an operation as it was declared, and for no other (F4)."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from unit.config.grants import granted_in
from unit.planning.doubles import call, operation

from pluggableharness.kernel.config.declaration import operation_digest
from pluggableharness.kernel.config.given import Given
from pluggableharness.kernel.config.granted import GrantedFile
from pluggableharness.kernel.domain.errors import GrantNotKept, UsageError
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
def granted(tmp_path: Path) -> GrantedFile:
    return granted_in(tmp_path / "project")


def always(granted: GrantedFile, of: Operation) -> None:
    """Answer a question about the operation with "always"."""
    approvals = Approvals(Standing((ASK,), granted.keep))
    asked = call(of, subject="hello")
    approvals.add(asked, approvals.scopes(asked, PERSON)[0], Lasting.ALWAYS, PERSON)


def judged(granted: GrantedFile, of: Operation, terms: Terms = PERSON) -> Verdict:
    rules = (ASK, *granted.read().rules)
    return decide(RuleBook(rules), call(of, subject="hello"), terms)


def voided(granted: GrantedFile, of: Operation, change: str) -> tuple[str, ...]:
    name = of.full_name
    return granted.void_changed({name: operation_digest(of)}, {name: change})


@pytest.mark.req("F4", "K10")
@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("lasting", [Lasting.SESSION, Lasting.ALWAYS])
def test_whatever_of_the_declaration_changed_the_person_is_asked_again_and_told_why(
    granted: GrantedFile, what: str, lasting: Lasting
) -> None:
    approvals = Approvals(Standing((ASK,), granted.keep))
    asked = call(SEND, subject="hello")
    approvals.add(asked, approvals.scopes(asked, PERSON)[0], lasting, PERSON)
    verdict = approvals.decide(call(replace(SEND, **CHANGES[what]), subject="hello"), PERSON)
    assert verdict.decision is Decision.ASK
    assert "granted-mail-send" in verdict.reason
    assert "has since been declared otherwise" in verdict.reason
    assert approvals.decide(call(SEND, subject="hello"), PERSON).decision is Decision.ALLOW


@pytest.mark.req("K10", "K7")
@pytest.mark.parametrize(
    "rule",
    [
        None,
        Rule("nobody", Action.DENY, kind=frozenset([Kind.RESOURCE]), when="!session.attended"),
        Rule("nobody", Action.FORBID, when="!session.attended"),
        Rule("asks", Action.ASK, frozenset(["send"]), when="session.attended"),
        Rule("asks", Action.ASK, frozenset(["send"]), risk=frozenset([Risk.LOW]), when="true"),
    ],
)
@pytest.mark.parametrize("lasting", [Lasting.SESSION, Lasting.ALWAYS])
def test_what_is_offered_to_whoever_is_there_answers_the_same_question(
    granted: GrantedFile, rule: Rule | None, lasting: Lasting
) -> None:
    approvals = Approvals(Standing((ASK, rule) if rule else (), granted.keep))
    asked = call(SEND, subject="hello")
    assert approvals.decide(asked, PERSON).decision is Decision.ASK
    approvals.add(asked, approvals.scopes(asked, PERSON)[0], lasting, PERSON)
    assert approvals.decide(asked, PERSON).decision is Decision.ALLOW


@pytest.mark.req("F4", "K10")
def test_headless_the_denial_says_that_an_approval_lapsed(granted: GrantedFile) -> None:
    always(granted, SEND)
    assert judged(granted, SEND, NOBODY).decision is Decision.ALLOW
    denied = judged(granted, CHANGED, NOBODY)
    assert denied.decision is Decision.DENY
    assert denied.downgraded_from is Decision.ASK
    assert "(granted.hcl:" in denied.reason


@pytest.mark.req("F4")
def test_once_a_change_is_accepted_the_file_says_why_the_rule_holds_no_longer(
    granted: GrantedFile,
) -> None:
    always(granted, SEND)
    always(granted, operation("read", provider="mail"))
    granted.path.write_text(granted.path.read_text() + "\n# a person's own words\n")
    (told,) = voided(granted, CHANGED, 'description was "d", is "${x} Send\nall"')
    assert "granted-mail-send" in told
    text = granted.path.read_text()
    assert 'void     = "description was \\"d\\", is \\"$${x} Send\\nall\\""' in text
    assert "# a person's own words" in text
    assert 'description was "d"' in judged(granted, CHANGED).reason
    assert judged(granted, operation("read", provider="mail")).decision is Decision.ALLOW
    assert voided(granted, CHANGED, "again") == ()
    assert granted.path.read_text() == text


@pytest.mark.req("F4", "F1")
@pytest.mark.parametrize("empty", ['""', "null", "<<E\nE", '(1 == 1 ? "" : "x")'])
def test_a_rule_is_void_for_a_reason_or_does_not_say_so(granted: GrantedFile, empty: str) -> None:
    always(granted, SEND)
    text = granted.path.read_text().replace("\n}", f"\n  void = {empty}\n}}")
    granted.path.write_text(text)
    with pytest.raises(UsageError, match=r"granted.hcl:10:[0-9]+: .*(empty|null)"):
        voided(granted, CHANGED, "it is another")
    assert granted.path.read_text() == text


@pytest.mark.req("F4")
def test_what_is_void_stays_so_even_when_the_old_declaration_comes_back(
    granted: GrantedFile,
) -> None:
    always(granted, SEND)
    voided(granted, CHANGED, "changed")
    assert judged(granted, SEND).decision is Decision.ASK


@pytest.mark.req("F4", "K10")
def test_a_new_answer_takes_the_place_of_the_rule_that_lapsed(granted: GrantedFile) -> None:
    always(granted, SEND)
    voided(granted, CHANGED, "changed")
    always(granted, CHANGED)
    assert len(granted.read().rules) == 1
    assert "void" not in granted.path.read_text()
    assert judged(granted, CHANGED).decision is Decision.ALLOW
    assert judged(granted, SEND).decision is Decision.ASK


@pytest.mark.req("F4")
@pytest.mark.parametrize("declared", ["", '  declared = ""\n', '  declared = "3f"\n'])
def test_a_rule_that_does_not_say_what_it_was_given_for_holds_for_nothing_and_says_so(
    granted: GrantedFile, declared: str
) -> None:
    granted.path.parent.mkdir(parents=True)
    match = '  match = { provider = "mail", tool_name = "send" }\n'
    granted.path.write_text(f'policy "mine" {{\n{match}  action = "allow"\n{declared}}}\n')
    granted.take_over(granted.read().foreign)
    verdict = judged(granted, SEND)
    assert verdict.decision is Decision.ASK
    assert 'policy "mine" (granted.hcl:1:1) holds no longer' in verdict.reason
    (told,) = granted.void_changed({"mail.send": operation_digest(SEND)}, {})
    assert "given" in told
    always(granted, SEND)
    assert judged(granted, SEND).decision is Decision.ALLOW
    assert "mine" not in granted.path.read_text()


@pytest.mark.req("F4")
def test_a_rule_without_a_digest_cannot_be_matched_by_an_operation_without_one(
    granted: GrantedFile,
) -> None:
    granted.path.parent.mkdir(parents=True)
    granted.path.write_text(
        'policy "mine" {\n  match = { provider = "mail" }\n  action = "allow"\n}\n'
    )
    granted.take_over(granted.read().foreign)
    assert judged(granted, SEND, Terms(Asking.PERSON)).decision is Decision.ASK


@pytest.mark.req("F4")
def test_a_rule_of_agent_hcl_is_bound_to_no_declaration() -> None:
    rule = Rule("mail", Action.ALLOW, provider=frozenset(["mail"]))
    for of in (SEND, CHANGED):
        assert decide(RuleBook([rule]), call(of), PERSON).decision is Decision.ALLOW


@pytest.mark.req("F4", "F11")
def test_explain_names_the_approval_that_lapsed(granted: GrantedFile) -> None:
    always(granted, SEND)
    explained = explain(granted.read().rules, call(CHANGED), PERSON)
    (considered,) = explained.rules
    assert not considered.matched
    assert "declared otherwise" in considered.why


@pytest.mark.req("K10")
def test_of_two_harnesses_that_write_at_once_none_loses_its_rule(granted: GrantedFile) -> None:
    always(granted, SEND)
    before = granted.path.read_text()
    project = granted.path.parents[1]
    another = Given(project.with_name("state"), project)
    with another.alone(), pytest.raises(GrantNotKept, match="another process"):
        always(granted, CHANGED)
    assert granted.path.read_text() == before
    always(granted, CHANGED)
    assert judged(granted, CHANGED).decision is Decision.ALLOW
