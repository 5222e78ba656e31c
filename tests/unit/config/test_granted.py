"""What is allowed for always: written whole, read back as it was shown, or not kept at all."""

import os
from pathlib import Path

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.config.granted import GRANTED_NAME, granted_rules, keeper
from pluggableharness.kernel.config.lock import operation_digest
from pluggableharness.kernel.domain.errors import GrantNotKept, UsageError
from pluggableharness.kernel.domain.operation import Risk
from pluggableharness.kernel.domain.plan import Lasting
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.policy import Asking, RuleBook, Terms, decide, scopes
from pluggableharness.kernel.session.approvals import Approvals, Standing

BASH = operation("bash", provider="exec", risk=Risk.HIGH)
PERSON = Terms(Asking.PERSON, digest=operation_digest)


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    "command",
    ["npm test", "echo ${x} %{y} \"q\" 'r' \\n", "a\n\tb", "é \U0001f600", "x \\", "$(rm x)"],
)
def test_what_was_allowed_for_always_is_allowed_by_the_next_start(
    tmp_path: Path, command: str
) -> None:
    path = tmp_path / GRANTED_NAME
    approvals = Approvals(Standing((), keeper(path, "granted.hcl")))
    asked = call(BASH, command=command)
    for scope in approvals.scopes(asked, PERSON):
        approvals.add(asked, scope, Lasting.ALWAYS, PERSON)
        assert scope.rule in path.read_text()
    assert approvals.decide(asked, PERSON).decision is Decision.ALLOW
    found = granted_rules(path, "granted.hcl")
    assert all(rule.granted for rule in found)
    assert decide(RuleBook(found), asked, PERSON).decision is Decision.ALLOW
    other = call(BASH, command="rm -rf x")
    assert decide(RuleBook(found), other, PERSON).decision is Decision.ASK


@pytest.mark.req("K10")
def test_the_same_grant_is_written_once_and_others_stay(tmp_path: Path) -> None:
    path = tmp_path / GRANTED_NAME
    for command in ("npm test", "npm test", "cargo build"):
        (scope, _) = scopes(call(BASH, command=command), None, digest=operation_digest(BASH))
        keeper(path, "granted.hcl")(scope.rule)
    assert len(granted_rules(path, "granted.hcl")) == 2
    assert os.listdir(path.parent) == ["granted.hcl"]


@pytest.mark.req("K10")
def test_a_grant_for_the_session_is_written_nowhere(tmp_path: Path) -> None:
    path = tmp_path / GRANTED_NAME
    approvals = Approvals(Standing((), keeper(path, "granted.hcl")))
    asked = call(BASH, command="npm test")
    approvals.add(asked, approvals.scopes(asked, PERSON)[0], Lasting.SESSION, PERSON)
    assert approvals.decide(asked, PERSON).decision is Decision.ALLOW
    assert approvals.count == 1
    assert not path.exists()


@pytest.mark.req("K10")
@pytest.mark.parametrize("obstacle", ["a file for a folder", "a link", "a damaged file", "no file"])
def test_what_cannot_be_kept_is_an_error_and_allows_nothing(tmp_path: Path, obstacle: str) -> None:
    path = tmp_path / GRANTED_NAME
    keep = keeper(path, "granted.hcl")
    if obstacle == "a file for a folder":
        path.parent.write_text("")
    elif obstacle == "a link":
        path.parent.mkdir()
        path.symlink_to(tmp_path / "elsewhere")
    elif obstacle == "a damaged file":
        path.parent.mkdir()
        path.write_text("policy {")
    approvals = Approvals(Standing((), None if obstacle == "no file" else keep))
    asked = call(BASH, command="npm test")
    with pytest.raises(GrantNotKept):
        approvals.add(asked, approvals.scopes(asked, PERSON)[0], Lasting.ALWAYS, PERSON)
    assert approvals.decide(asked, PERSON).decision is Decision.ASK
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.req("K10")
def test_a_file_of_grants_holds_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "granted.hcl"
    for text in ('policy "x" {\n  action = "deny"\n}\n', "settings {\n}\n", 'x = "y"\n'):
        path.write_text(text)
        with pytest.raises(UsageError):
            granted_rules(path, "granted.hcl")
