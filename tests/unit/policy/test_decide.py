"""What policy says about a call, and why."""

from dataclasses import replace
from typing import Any

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.operation import Kind, Operation, Risk
from pluggableharness.kernel.domain.verdict import Decision, Opined, Opinion, Verdict
from pluggableharness.kernel.policy import (
    Action,
    Asking,
    Position,
    Rule,
    RuleBook,
    Terms,
    decide,
    reviewed,
)

BASH = operation("bash", provider="exec", risk=Risk.HIGH)
WRITE = operation("write_file")
READ = operation("read_file", Kind.DATA_SOURCE)
ASK = operation("ask_user", Kind.INTERACTIVE, provider="user")
PERSON = Terms(Asking.PERSON)
NOBODY = Terms(Asking.NOBODY)


def rule(name: str, action: Action, reason: str = "", **match: Any) -> Rule:
    fields: dict[str, Any] = {
        field: frozenset(value if isinstance(value, list) else [value])
        for field, value in match.items()
    }
    return Rule(name, action, reason=reason, position=Position("agent.hcl", 7), **fields)


def verdict(of: Operation, *rules: Rule, terms: Terms = PERSON) -> Verdict:
    return decide(RuleBook(rules), call(of, path="a"), terms)


@pytest.mark.req("K4")
def test_without_a_rule_resources_are_asked_about_and_the_others_run() -> None:
    assert verdict(WRITE) == Verdict(Decision.ASK, "default for resource", "no rule speaks of it")
    assert verdict(READ).decision is Decision.ALLOW
    assert verdict(ASK).decision is Decision.ALLOW
    assert verdict(ASK).decided_by == "default for interactive"


@pytest.mark.req("K4")
def test_the_more_specific_rule_wins_whatever_it_says_and_wherever_it_stands() -> None:
    by_kind = rule("kind", Action.DENY, kind=Kind.RESOURCE)
    by_risk = rule("risk", Action.ALLOW, risk=Risk.HIGH)
    by_provider = rule("provider", Action.DENY, provider="exec")
    by_provider_and_risk = rule("both", Action.ALLOW, provider="exec", risk=Risk.HIGH)
    by_tool = rule("tool", Action.ASK, tool_name="bash")
    ladder = [by_kind, by_risk, by_provider, by_provider_and_risk, by_tool]
    for height in range(1, len(ladder) + 1):
        for rules in (ladder[:height], ladder[:height][::-1]):
            assert verdict(BASH, *rules).decided_by == f"rule {ladder[height - 1].name}"


@pytest.mark.req("K4")
def test_a_weightier_field_beats_any_number_of_lighter_ones() -> None:
    light = rule("light", Action.DENY, provider="exec", risk=Risk.HIGH, kind=Kind.RESOURCE)
    assert (
        verdict(BASH, light, rule("tool", Action.ALLOW, tool_name="bash")).decided_by == "rule tool"
    )


@pytest.mark.req("K4")
def test_a_list_matches_any_of_its_values_and_an_empty_one_none() -> None:
    either = rule("either", Action.ALLOW, tool_name=["bash", "write_file"])
    assert verdict(BASH, either).decision is Decision.ALLOW
    assert verdict(WRITE, either).decision is Decision.ALLOW
    assert verdict(operation("edit_file"), either).decision is Decision.ASK
    assert verdict(BASH, rule("none", Action.ALLOW, tool_name=[])).decision is Decision.ASK


@pytest.mark.req("K4", "K7")
def test_of_equal_rank_deny_beats_ask_and_ask_beats_allow() -> None:
    allow = rule("allow", Action.ALLOW, tool_name=["bash", "a"])
    ask = rule("ask", Action.ASK, tool_name=["bash", "b"])
    deny = rule("deny", Action.DENY, tool_name=["bash", "c"])
    assert verdict(BASH, allow, ask).decided_by == "rule ask"
    assert verdict(BASH, allow, ask, deny).decided_by == "rule deny"
    assert verdict(BASH, deny, allow).decided_by == "rule deny"


@pytest.mark.req("K5")
def test_forbid_yields_to_nothing_more_specific_and_to_no_mode() -> None:
    forbid = rule("never", Action.FORBID, "not here", kind=Kind.RESOURCE)
    allow = rule("allow", Action.ALLOW, tool_name="bash", provider="exec", risk=Risk.HIGH)
    for asking in Asking:
        found = verdict(BASH, allow, forbid, terms=Terms(asking))
        assert found == Verdict(Decision.DENY, "rule never", "not here")


@pytest.mark.req("K6")
@pytest.mark.parametrize("of", [READ, ASK])
def test_asking_about_a_read_becomes_a_recorded_denial(of: Operation) -> None:
    found = verdict(of, rule("careful", Action.ASK, "why", tool_name=of.name))
    assert found.decision is Decision.DENY
    assert found.downgraded_from is Decision.ASK
    assert found.decided_by == "rule careful"
    assert "gate_reads" in found.reason
    assert found.reason.startswith("why; ")


@pytest.mark.req("K6")
def test_with_gated_reads_a_read_is_asked_about() -> None:
    gated = Terms(Asking.PERSON, gate_reads=True)
    found = verdict(READ, rule("careful", Action.ASK, tool_name="read_file"), terms=gated)
    assert found == Verdict(Decision.ASK, "rule careful")
    assert verdict(READ, terms=gated).decision is Decision.ALLOW


@pytest.mark.req("K10")
def test_with_nobody_to_ask_the_denial_says_how_to_allow_the_call() -> None:
    found = verdict(BASH, terms=NOBODY)
    assert (found.decision, found.downgraded_from) == (Decision.DENY, Decision.ASK)
    assert found.decided_by == "default for resource"
    for part in (
        "To allow it, put into agent.hcl:",
        'policy "allow-exec-bash-',
        'tool_name = "bash"',
        '"allow"',
    ):
        assert part in found.reason
    asked = verdict(BASH, rule("careful", Action.ASK, tool_name="bash"), terms=NOBODY)
    assert 'To allow it, change policy "careful" (agent.hcl:7).' in asked.reason
    for reason in (found.reason, asked.reason):
        assert "--allow-all" not in reason, "not every way in has that option"
    gated = Terms(Asking.NOBODY, gate_reads=True)
    read = verdict(READ, rule("careful", Action.ASK, kind=Kind.DATA_SOURCE), terms=gated)
    assert (read.decision, read.downgraded_from) == (Decision.DENY, Decision.ASK)


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    ("of", "arguments", "condition"),
    [
        (BASH, {"command": "make test"}, r"arguments.command == \"make test\""),
        (
            BASH,
            {"command": "for x in a; do rm $x; done"},
            r"arguments.command == \"for x in a; do ",
        ),
        (WRITE, {"path": "a/b.txt"}, r"p in [\"a/b.txt\"]"),
    ],
)
def test_the_rule_that_such_a_denial_shows_allows_no_more_than_the_gate_would_offer(
    of: Operation, arguments: dict[str, Any], condition: str
) -> None:
    reason = decide(RuleBook([]), call(of, **arguments), NOBODY).reason
    assert condition in reason
    assert "every" not in reason


@pytest.mark.req("K10")
def test_such_a_denial_shows_no_rule_that_is_too_long_to_read() -> None:
    reason = decide(RuleBook([]), call(BASH, command="true " + "x" * 3000), NOBODY).reason
    assert "too long to show" in reason
    assert "policy" not in reason


@pytest.mark.req("K10")
@pytest.mark.parametrize("of", [BASH, READ])
def test_allow_all_answers_what_is_asked_and_nothing_else(of: Operation) -> None:
    terms = Terms(Asking.ALLOW_ALL)
    asked = verdict(of, rule("careful", Action.ASK, tool_name=of.name), terms=terms)
    assert asked == Verdict(Decision.ALLOW, "--allow-all", "rule careful asks")
    denied = verdict(of, rule("no", Action.DENY, tool_name=of.name), terms=terms)
    assert denied.decision is Decision.DENY
    ruled = verdict(of, rule("yes", Action.ALLOW, tool_name=of.name), terms=terms)
    assert ruled.decided_by == "rule yes"


@pytest.mark.req("K4")
def test_a_persons_own_call_answers_the_question_but_not_a_denial() -> None:
    own = Terms(Asking.CALLER)
    assert verdict(BASH, terms=own) == Verdict(Decision.ALLOW, "person", "the caller's own act")
    assert (
        verdict(BASH, rule("no", Action.DENY, provider="exec"), terms=own).decision is Decision.DENY
    )


@pytest.mark.req("K5a")
def test_an_allowed_write_to_a_protected_path_is_asked_about() -> None:
    book = RuleBook([rule("yes", Action.ALLOW, tool_name="write_file")])
    hook = call(WRITE, path=".git/hooks/pre-commit", content="x")
    found = decide(book, hook, PERSON)
    assert (found.decision, found.decided_by) == (Decision.ASK, "protected path")
    assert ".git/hooks/pre-commit" in found.reason
    denied = decide(book, hook, NOBODY)
    assert (denied.decision, denied.downgraded_from) == (Decision.DENY, Decision.ASK)
    assert "whatever the rules say" in denied.reason
    assert decide(book, call(WRITE, path=".gitignore"), PERSON).decision is Decision.ALLOW
    forbidden = RuleBook([rule("no", Action.DENY, tool_name="write_file")])
    assert decide(forbidden, hook, PERSON).decided_by == "rule no"


def after_review(of: Rule, path: str, terms: Terms, answer: Opined) -> Verdict:
    """What a reviewer's answer about a write makes of it."""
    review = decide(RuleBook([of]), call(WRITE, path=path, content="x"), terms).review
    assert review is not None
    return reviewed(review, Opinion(answer, "so it is"))


@pytest.mark.req("K5a", "K8")
@pytest.mark.parametrize(
    ("terms", "then"),
    [
        (PERSON, Decision.ASK),
        (NOBODY, Decision.DENY),
        (Terms(Asking.ALLOW_ALL), Decision.ALLOW),
    ],
)
def test_a_reviewers_allow_is_not_enough_for_a_protected_path(terms: Terms, then: Decision) -> None:
    judged = rule("judged", Action.REVIEW, tool_name="write_file")
    hook = ".git/hooks/pre-commit"
    allowed = after_review(judged, hook, terms, Opined.ALLOW)
    assert (allowed.decision, allowed.opinion) == (then, Opinion(Opined.ALLOW, "so it is"))
    assert not allowed.decided_by.startswith("reviewer ")
    assert hook in allowed.reason or then is Decision.ALLOW
    assert after_review(judged, hook, terms, Opined.DENY).decision is Decision.DENY
    knowing = replace(judged, when=f"arguments.path == '{hook}'")
    for one, path in ((judged, "a"), (knowing, hook)):
        enough = after_review(one, path, terms, Opined.ALLOW)
        assert enough.decision is Decision.ALLOW
        assert enough.decided_by.startswith("reviewer ")


@pytest.mark.req("K5a")
def test_a_file_that_rules_come_from_is_protected_wherever_it_lies() -> None:
    book = RuleBook([rule("yes", Action.ALLOW, tool_name="write_file")])
    terms = Terms(Asking.PERSON, policy_files=frozenset(["/work/project/conf/always.hcl"]))
    there = call(WRITE, path="conf/x/../always.hcl")
    assert decide(book, there, terms).decision is Decision.ASK
    assert decide(book, there, PERSON).decision is Decision.ALLOW
