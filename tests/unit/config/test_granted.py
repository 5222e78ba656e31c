"""What is allowed for always: written whole, read back as it was shown, or not kept at all."""

import fcntl
import os
import shutil
from itertools import permutations
from pathlib import Path

import pytest
from unit.config.grants import granted_in
from unit.planning.doubles import call, operation

from pluggableharness.kernel.config.declaration import operation_digest
from pluggableharness.kernel.config.given import Given
from pluggableharness.kernel.config.granted import GrantedFile, GrantedRules
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
    granted = granted_in(tmp_path / "project")
    approvals = Approvals(Standing((), granted.keep))
    asked = call(BASH, command=command)
    for scope in approvals.scopes(asked, PERSON):
        approvals.add(asked, scope, Lasting.ALWAYS, PERSON)
        assert scope.rule in granted.path.read_text()
    assert approvals.decide(asked, PERSON).decision is Decision.ALLOW
    found = granted.read().rules
    assert found
    assert all(rule.granted for rule in found)
    assert decide(RuleBook(found), asked, PERSON).decision is Decision.ALLOW
    other = call(BASH, command="rm -rf x")
    assert decide(RuleBook(found), other, PERSON).decision is Decision.ASK


@pytest.mark.req("K10")
def test_the_same_grant_is_written_once_and_others_stay(tmp_path: Path) -> None:
    granted = granted_in(tmp_path / "project")
    for command in ("npm test", "npm test", "cargo build"):
        granted.keep(rule_for(command))
    assert len(granted.read().rules) == 2
    assert os.listdir(granted.path.parent) == ["granted.hcl"]


@pytest.mark.req("K10")
def test_a_grant_for_the_session_is_written_nowhere(tmp_path: Path) -> None:
    granted = granted_in(tmp_path / "project")
    approvals = Approvals(Standing((), granted.keep))
    asked = call(BASH, command="npm test")
    approvals.add(asked, approvals.scopes(asked, PERSON)[0], Lasting.SESSION, PERSON)
    assert approvals.decide(asked, PERSON).decision is Decision.ALLOW
    assert approvals.count == 1
    assert not granted.path.exists()


OBSTACLES = [
    *("a file for a folder", "a link", "a damaged file", "no file"),
    *("no place for state", "a file for the state"),
]


@pytest.mark.req("K10")
@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_what_cannot_be_kept_is_an_error_and_allows_nothing(tmp_path: Path, obstacle: str) -> None:
    granted = granted_in(project := tmp_path / "project")
    path = granted.path
    match obstacle:
        case "a file for a folder":
            path.parent.write_text("")
        case "a link":
            path.parent.mkdir(parents=True)
            path.symlink_to(tmp_path / "elsewhere")
        case "a damaged file":
            path.parent.mkdir(parents=True)
            path.write_text("policy {")
        case "no place for state":
            granted = GrantedFile(path, "granted.hcl", Given(None, project))
        case "a file for the state":
            (tmp_path / "state").write_text("")
    approvals = Approvals(Standing((), None if obstacle == "no file" else granted.keep))
    asked = call(BASH, command="npm test")
    with pytest.raises(GrantNotKept):
        approvals.add(asked, approvals.scopes(asked, PERSON)[0], Lasting.ALWAYS, PERSON)
    assert approvals.decide(asked, PERSON).decision is Decision.ASK
    assert not (tmp_path / "elsewhere").exists()
    if "state" in obstacle:
        assert granted.read() == GrantedRules()


@pytest.mark.req("K10")
def test_a_file_of_grants_holds_nothing_else(tmp_path: Path) -> None:
    granted = granted_in(tmp_path)
    granted.path.parent.mkdir()
    for text in ('policy "x" {\n  action = "deny"\n}\n', "settings {\n}\n", 'x = "y"\n'):
        granted.path.write_text(text)
        with pytest.raises(UsageError):
            granted.read()


def rule_for(command: str) -> str:
    """The text of the rule that "always" writes for a command, as far as it can be narrowed."""
    scope = scopes(call(BASH, command=command), None, digest=operation_digest(BASH))[0]
    return scope.rule


def held(granted: GrantedFile) -> list[str]:
    """The conditions of the rules that hold."""
    return [rule.when for rule in granted.read().rules]


@pytest.mark.req("K10")
def test_rules_that_nobody_gave_on_this_machine_do_not_hold(tmp_path: Path) -> None:
    here, there = granted_in(tmp_path / "a"), granted_in(tmp_path / "b", tmp_path / "other-state")
    there.keep(rule_for("npm test"))
    shutil.copytree(tmp_path / "b", tmp_path / "a", dirs_exist_ok=True)
    assert held(there) != []
    assert here.read() == GrantedRules(foreign=(rule_for("npm test").rstrip(),))


def spread(*commands: str) -> str:
    """A file that allows these."""
    return "\n\n".join(map(rule_for, commands))


@pytest.mark.req("K10")
@pytest.mark.parametrize("order", [*permutations(("npm test", "make evil", "cargo build"))])
def test_each_rule_is_judged_by_its_own_text_wherever_it_stands(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    granted = granted_in(tmp_path / "project")
    for command in ("npm test", "cargo build"):
        granted.keep(rule_for(command))
    granted.path.write_text(spread(*order))
    assert granted.read().foreign == (rule_for("make evil").rstrip(),)
    words = [word for word in ("npm", "evil", "cargo") if word in str(held(granted))]
    assert words == ["npm", "cargo"]
    assert len(held(granted)) == 2


@pytest.mark.req("K10", "F1")
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("action", ["", "  action = null\n", '  action = "x"\n', "  action = 1\n"])
def test_of_a_file_with_a_block_that_makes_no_rule_nothing_holds_or_is_taken_over(
    tmp_path: Path, place: int, action: str
) -> None:
    granted = granted_in(tmp_path / "project")
    granted.keep(rule_for("npm test"))
    blocks = [rule_for("npm test"), rule_for("make evil")]
    blocks.insert(place, f'policy "none" {{\n  match = {{ provider = "task" }}\n{action}}}\n')
    granted.path.write_text("\n".join(blocks))
    for used in (granted.read, lambda: granted.take_over(blocks)):
        with pytest.raises(UsageError):
            used()
    with pytest.raises(GrantNotKept):
        granted.keep(rule_for("npm run build"))
    granted.path.write_text(spread("npm test", "make evil"))
    assert len(held(granted)) == 1


@pytest.mark.req("K10")
def test_the_next_answer_holds_and_blesses_none_of_the_others(tmp_path: Path) -> None:
    granted = granted_in(tmp_path / "project")
    granted.path.parent.mkdir(parents=True)
    granted.path.write_text(rule_for("curl x"))
    granted.keep(rule_for("npm test"))
    found = granted.read()
    assert len(found.rules) == 1 and "npm" in found.rules[0].when
    assert found.foreign == (rule_for("curl x").rstrip(),)


@pytest.mark.req("K10")
def test_the_same_answer_as_a_rule_that_came_along_lets_it_hold(tmp_path: Path) -> None:
    granted = granted_in(tmp_path / "project")
    granted.path.parent.mkdir(parents=True)
    granted.path.write_text(rule_for("npm test"))
    assert held(granted) == []
    granted.keep(rule_for("npm test"))
    assert len(held(granted)) == 1
    assert granted.read().foreign == ()


@pytest.mark.req("K10")
def test_a_rule_that_is_edited_or_put_in_by_hand_waits_and_the_others_hold(tmp_path: Path) -> None:
    granted = granted_in(tmp_path / "project")
    for command in ("npm test", "cargo build", "make check"):
        granted.keep(rule_for(command))
    text = granted.path.read_text()
    granted.path.write_text("# mine\n" + text.replace(rule_for("cargo build"), ""))
    assert len(held(granted)) == 2, "whoever deletes one is asked again about that alone"
    assert granted.read().foreign == ()
    granted.path.write_text(text.replace("cargo", "curl"))
    assert len(held(granted)) == 2
    (foreign,) = granted.read().foreign
    assert "curl" in foreign


@pytest.mark.req("K10")
def test_a_rule_that_was_deleted_waits_when_it_comes_back_after_another_answer(
    tmp_path: Path,
) -> None:
    granted = granted_in(tmp_path / "project")
    granted.keep(rule_for("npm test"))
    before = granted.path.read_text()
    granted.path.unlink()
    granted.keep(rule_for("cargo build"))
    granted.path.write_text(before)
    assert granted.read() == GrantedRules(foreign=(rule_for("npm test").rstrip(),))
    granted.take_over(granted.read().foreign)
    assert len(held(granted)) == 1


@pytest.mark.req("K10")
def test_what_is_taken_over_holds_as_it_was_shown_and_nothing_else(tmp_path: Path) -> None:
    granted = granted_in(tmp_path / "project")
    granted.keep(rule_for("npm test"))
    granted.path.write_text(granted.path.read_text() + rule_for("curl x"))
    shown = granted.read().foreign
    granted.path.write_text(granted.path.read_text() + rule_for("rm x"))
    granted.take_over([*shown, 'policy "elsewhere" {}'])
    assert len(held(granted)) == 2
    assert granted.read().foreign == (rule_for("rm x").rstrip(),)


@pytest.mark.req("K10")
def test_a_project_that_was_moved_asks_for_its_rules_and_so_does_what_stands_in_its_place(
    tmp_path: Path,
) -> None:
    granted_in(tmp_path / "a").keep(rule_for("npm test"))
    (tmp_path / "a").rename(tmp_path / "b")
    moved = granted_in(tmp_path / "b")
    assert held(moved) == []
    moved.take_over(moved.read().foreign)
    assert len(held(moved)) == 1
    (tmp_path / "a" / ".agent").mkdir(parents=True)
    shutil.copy(moved.path, tmp_path / "a" / ".agent")
    (tmp_path / "a" / ".agent" / "granted.hcl").write_text(rule_for("curl x"))
    assert held(granted_in(tmp_path / "a")) == []


@pytest.mark.req("K10")
def test_a_note_of_another_project_or_one_that_others_may_write_counts_for_nothing(
    tmp_path: Path,
) -> None:
    ours, theirs = granted_in(tmp_path / "a"), granted_in(tmp_path / "b")
    for granted in (ours, theirs):
        granted.keep(rule_for("npm test"))
    (note, other) = (Given(tmp_path / "state", tmp_path / name).path for name in ("a", "b"))
    assert note is not None and other is not None
    own = note.read_bytes()
    note.write_bytes(other.read_bytes())
    assert held(ours) == []
    note.write_bytes(own)
    assert held(ours) != []
    note.chmod(0o622)
    assert held(ours) == []
    note.unlink()
    os.mkfifo(note)
    assert held(ours) == []


@pytest.mark.req("K10")
def test_of_two_harnesses_that_answer_in_turn_both_rules_hold(tmp_path: Path) -> None:
    first, second = granted_in(tmp_path / "project"), granted_in(tmp_path / "project")
    first.keep(rule_for("npm test"))
    second.keep(rule_for("cargo build"))
    first.keep(rule_for("make check"))
    assert len(held(first)) == len(held(second)) == 3


@pytest.mark.req("K10")
@pytest.mark.parametrize("which", ["the notes' folder", "the state directory"])
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777])
def test_notes_where_others_may_write_count_for_nothing(
    tmp_path: Path, which: str, mode: int
) -> None:
    state = tmp_path / "state"
    granted = granted_in(tmp_path / "project", state / "granted")
    granted.keep(rule_for("npm test"))
    assert held(granted) != []
    place = state / "granted" if "notes" in which else state
    place.chmod(mode)
    assert held(granted) == []
    with pytest.raises(GrantNotKept, match="chmod 700"):
        granted.keep(rule_for("make"))
    place.chmod(0o700)
    assert held(granted) != []


@pytest.mark.req("K10")
def test_notes_in_a_linked_folder_count_for_nothing(tmp_path: Path) -> None:
    state = tmp_path / "state"
    granted = granted_in(tmp_path / "project", state / "granted")
    granted.keep(rule_for("npm test"))
    (state / "granted").rename(tmp_path / "elsewhere")
    (state / "granted").symlink_to(tmp_path / "elsewhere")
    assert held(granted) == []
    with pytest.raises(GrantNotKept, match="is a link"):
        granted.keep(rule_for("make"))


@pytest.mark.req("K10")
def test_notes_are_made_for_their_owner_alone_whatever_the_mask(tmp_path: Path) -> None:
    granted = granted_in(tmp_path / "project", tmp_path / "new/state/granted")
    before = os.umask(0)
    try:
        granted.keep(rule_for("npm test"))
    finally:
        os.umask(before)
    assert held(granted) != []


@pytest.mark.req("K10", "C14")
@pytest.mark.parametrize("mode", [fcntl.LOCK_SH, fcntl.LOCK_EX])
def test_no_lock_on_what_a_sandboxed_command_can_read_stands_in_the_way(
    tmp_path: Path, mode: int
) -> None:
    """It reads the project, and where nothing stands for `.agent` its sandbox locks what does."""
    state = tmp_path / "state"
    granted = granted_in(tmp_path / "project", state / "granted")
    granted.keep(rule_for("npm test"))
    everything = [tmp_path, *tmp_path.rglob("*")]
    readable = [one for one in everything if one.stat().st_mode & 0o400]
    assert granted.path in readable and state / "granted" in readable
    descriptors = [os.open(one, os.O_RDONLY) for one in readable]
    try:
        for one in descriptors:
            fcntl.flock(one, mode)
        granted.keep(rule_for("make"))
    finally:
        for one in descriptors:
            os.close(one)
    assert len(held(granted)) == 2


@pytest.mark.req("K10")
def test_while_another_harness_writes_nothing_is_kept_and_the_message_names_the_lock(
    tmp_path: Path,
) -> None:
    first, second = granted_in(tmp_path / "a"), granted_in(tmp_path / "b")
    with (
        Given(tmp_path / "state", tmp_path / "a").alone(),
        pytest.raises(GrantNotKept, match="another process holds"),
    ):
        second.keep(rule_for("make"))
    first.keep(rule_for("make"))
