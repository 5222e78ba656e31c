"""What programs are taken to do by their own words: run, write, or what nobody knows."""

import shutil
import subprocess
from pathlib import Path

import pytest
from unit.planning.doubles import call, operation
from unit.policy.shell_programs import ASSIGNING, LOOKED_THROUGH, RUNNING, UNPROVEN
from unit.policy.shell_writers import PLAIN, TRADE, UNEXPECTED

from pluggableharness.kernel.domain.operation import Risk
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.policy import (
    Action,
    Asking,
    Rule,
    RuleBook,
    Terms,
    decide,
    shell_view,
)
from pluggableharness.kernel.policy.grants import scopes
from pluggableharness.kernel.policy.shell import builtins

BASH = operation("bash", provider="exec", risk=Risk.HIGH)
REMOVES = "commands.exists(c, c.program == 'rm')"
EVERYTHING = "commands.all(c, c.program != '' || c.argv.size() > 0 || c.substitutes)"


def decision(command: str, when: str = EVERYTHING, action: Action = Action.ALLOW) -> Decision:
    book = RuleBook([Rule("one", action, frozenset(["bash"]), when=when)])
    return decide(book, call(BASH, command=command), Terms(Asking.PERSON)).decision


@pytest.mark.req("K7")
@pytest.mark.parametrize("line", ASSIGNING)
@pytest.mark.parametrize("form", ["{}", "command {}", "builtin {}", "\\{}", "ls; {}", "sh -c '{}'"])
def test_a_builtin_that_assigns_or_evaluates_makes_the_line_unusable(line: str, form: str) -> None:
    quoted = line.replace("'", "'\\''") if form.startswith("sh") else line
    command = form.format(quoted)
    assert shell_view(command).unusable, command
    assert decision(command) is Decision.ASK
    assert decision(command, REMOVES, Action.FORBID) is Decision.DENY


@pytest.mark.req("K7")
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash to compare with")
@pytest.mark.parametrize("line", [line for line in ASSIGNING if "MARK" in line])
def test_what_bash_evaluates_is_among_them(line: str, tmp_path: Path) -> None:
    """The same lines with another builtin in front, so that the table is about what bash does."""
    for name in (*builtins.PLAIN, *builtins.NOT_PLAIN):
        swapped = f"{name} {line.partition(' ')[2]}"
        mark = tmp_path / "MARK"
        subprocess.run(
            ["bash", "--norc", "-c", swapped],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        if mark.exists():
            mark.unlink()
            assert shell_view(swapped).unusable, swapped


@pytest.mark.req("K7")
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash to compare with")
def test_every_builtin_of_bash_is_known_for_what_it_is() -> None:
    listed = subprocess.run(
        ["bash", "-c", "compgen -b"], capture_output=True, text=True, timeout=20, check=True
    )
    known = builtins.PLAIN | builtins.NOT_PLAIN | builtins.LOOKED_THROUGH
    assert set(listed.stdout.split()) <= known
    assert not builtins.PLAIN & builtins.NOT_PLAIN


@pytest.mark.req("K7")
@pytest.mark.parametrize("command", RUNNING)
def test_a_program_that_runs_or_loads_what_its_words_name_is_unusable(command: str) -> None:
    assert shell_view(command).unusable, command
    assert decision(command) is Decision.ASK
    assert decision(command, REMOVES, Action.FORBID) is Decision.DENY


@pytest.mark.req("K7")
@pytest.mark.parametrize("command", LOOKED_THROUGH)
def test_what_a_wrapper_runs_stands_beside_it(command: str) -> None:
    assert shell_view(command).commands[-1].program == "rm"
    assert decision(command, REMOVES, Action.FORBID) is Decision.DENY


@pytest.mark.req("K10")
@pytest.mark.parametrize("command", [*RUNNING, *LOOKED_THROUGH])
def test_no_program_that_runs_others_is_offered_as_a_scope_by_its_name(command: str) -> None:
    offered = scopes(call(BASH, command=command), None)
    assert [one.covers for one in offered] == ["exactly this command"]


@pytest.mark.req("K7")
@pytest.mark.parametrize(("command", "written"), [*UNEXPECTED, *TRADE])
def test_what_a_program_writes_is_among_writes(command: str, written: list[str]) -> None:
    view = shell_view(command)
    assert (view.unusable, list(view.writes)) == ("", written)
    about = f"writes.exists(p, p == '{written[-1]}')"
    assert decision(command, about, Action.DENY) is Decision.DENY
    assert decision(f"{command} x$Y", about, Action.DENY) is Decision.ASK, "unusable"


@pytest.mark.req("K7")
@pytest.mark.parametrize("command", [command for command, _ in UNEXPECTED])
def test_an_allow_covers_a_write_that_no_programs_name_tells_of_only_with_a_look_at_writes(
    command: str,
) -> None:
    assert decision(command) is Decision.ASK
    assert decision(command, "commands.all(c, c.redirects_to.size() == 0)") is Decision.ASK
    knowing = f"{EVERYTHING} && writes.all(w, w in ['f', 'g', 'b', 'd'])"
    assert decision(command, knowing) is Decision.ALLOW


@pytest.mark.req("K7")
@pytest.mark.parametrize("command", [command for command, _ in TRADE])
def test_an_allow_of_a_program_that_is_there_to_write_need_not_look_at_writes(
    command: str,
) -> None:
    assert decision(command) is Decision.ALLOW
    elsewhere = f"{EVERYTHING} && writes.all(w, w.startsWith('build/'))"
    assert decision(command, elsewhere) is Decision.ASK


@pytest.mark.req("K7")
@pytest.mark.parametrize("move", ["cd d*", "cd -", "cd", "pushd +1", 'cd "$(cat a)"'])
def test_a_relative_write_beside_a_move_that_does_not_say_where_to_is_unusable(move: str) -> None:
    assert shell_view(f"{move} && touch f").unusable
    assert shell_view(f"{move} && touch /f").moves == ("",)


@pytest.mark.req("K7")
@pytest.mark.parametrize(
    "command",
    [
        *("xargs rm < a", "find . -name x -exec rm {} +", "xargs -I% cp a % < b", "rm d/*.o"),
        *("cp a $(cat b)", "tee $(cat b)", 'sort -o "$(cat b)" a', "xargs nohup touch < a"),
    ],
)
def test_a_write_to_what_is_not_named_makes_a_look_at_writes_unusable(command: str) -> None:
    assert shell_view(command).unsure
    secrets = "writes.exists(p, p.startsWith('secrets/'))"
    assert decision(command, secrets, Action.DENY) is Decision.ASK
    assert decision(command, secrets, Action.FORBID) is Decision.DENY
    assert decision(command, f"{EVERYTHING} && writes.all(w, w != '')") is Decision.ASK
    assert decision("cp -r d/* e", secrets, Action.FORBID) is Decision.ASK, "no rule speaks of it"


@pytest.mark.req("K5a")
@pytest.mark.parametrize(
    "command",
    [
        *("cp x .git/hooks/pre-commit", "tee .git/config", "mv x agent.hcl", "sort -o agent.hcl x"),
        *("cd .git && cp ../x config", "ln -sf x .agent/granted.hcl", "touch .GIT/config"),
        *("curl -o .git/config h", "uniq x .git/config", "dd if=x of=agent.hcl", "rm -rf .git"),
    ],
)
def test_the_floor_holds_for_what_programs_are_known_to_write(command: str) -> None:
    assert decision(command, f"{EVERYTHING} && writes.size() > 0") is Decision.ASK


@pytest.mark.req("K7")
@pytest.mark.parametrize("command", PLAIN)
def test_everyday_commands_are_covered_by_an_allow_of_their_program(command: str) -> None:
    view = shell_view(command)
    assert view.unusable == ""
    assert not view.unexpected
    assert not any(one.unproven for one in view.commands)
    assert decision(command) is Decision.ALLOW


@pytest.mark.req("K7")
@pytest.mark.parametrize(("command", "option"), UNPROVEN)
def test_an_allow_covers_an_option_of_which_nothing_is_known_only_if_it_names_it(
    command: str, option: str
) -> None:
    view = shell_view(command)
    assert view.unusable == ""
    assert [one.partition("=")[0] for c in view.commands for one in c.unproven] == [option]
    assert decision(command) is Decision.ASK
    assert decision(command, f"{EVERYTHING} && '{option}' != ''") is Decision.ALLOW
    assert decision(command, "commands.exists(c, c.argv.size() > 1)", Action.DENY) is Decision.DENY


@pytest.mark.req("K10")
def test_no_grant_is_offered_that_would_not_answer_the_same_question_again() -> None:
    offered = scopes(call(BASH, command="frob --exec x"), None)
    assert [one.covers for one in offered] == ["exactly this command"]


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    "command",
    [
        *("frob git status", "frob -x -- sh x", "frob 5 bash5 x", "frob docker ps"),
        *("frob run python3 a.py", "frob /usr/bin/env ls", "ls && frob nohup ls", "frob gxargs ls"),
    ],
)
def test_no_scope_is_offered_by_the_name_of_what_may_wrap_such_a_program(command: str) -> None:
    offered = scopes(call(BASH, command=command), None)
    assert [one.covers for one in offered] == ["exactly this command"]


@pytest.mark.req("K10")
def test_a_program_that_is_there_to_write_can_be_granted_as_it_stands() -> None:
    (offered,) = scopes(call(BASH, command="mkdir -p a/b"), None)
    assert offered.covers == "exactly this command"
    assert decision("mkdir -p a/b", offered.when) is Decision.ALLOW
    assert decision("mkdir c", offered.when) is Decision.ASK
