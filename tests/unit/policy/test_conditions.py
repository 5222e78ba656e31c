"""`when`: what a condition may say, when it counts, and what a failure of it means."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.operation import Kind, Operation, Risk
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.policy import (
    Action,
    Asking,
    BadCondition,
    Rule,
    RuleBook,
    Terms,
    compiled,
    decide,
    explain,
    scopes,
)

BASH = operation("bash", provider="exec", risk=Risk.HIGH)
WRITE = operation("write_file")
READ = operation("read_file", Kind.DATA_SOURCE)
PERSON = Terms(Asking.PERSON)
RM = 'commands.exists(c, c.program == "rm")'


def rule(name: str, action: Action, when: str, *tools: str) -> Rule:
    return Rule(name, action, frozenset(tools) if tools else None, when=when)


def verdict(of: Operation, *rules: Rule, terms: Terms = PERSON, **arguments: Any) -> Verdict:
    return decide(RuleBook(rules), call(of, **arguments), terms)


def bash(command: str, *rules: Rule, terms: Terms = PERSON) -> Decision:
    return verdict(BASH, *rules, terms=terms, command=command).decision


@pytest.mark.req("K7")
@pytest.mark.parametrize(
    "when",
    [
        'provider == "filesystem" && tool == "write_file"',
        'kind == "resource" && risk == "moderate"',
        'arguments.path == "a.txt"',
        'session.working_directory == "/work/project" && session.attended',
        'writes == ["a.txt"] && reads.size() == 0',
    ],
)
def test_a_condition_sees_the_call(when: str) -> None:
    allow = rule("allow", Action.ALLOW, when)
    assert verdict(WRITE, allow, path="a.txt").decision is Decision.ALLOW


@pytest.mark.req("K7", "F1")
@pytest.mark.parametrize(
    ("when", "part", "line", "column"),
    [
        ('provider = "exec"', "not a CEL expression", 1, 10),
        ('provider == "exec" &&\n  tool ==', "not a CEL expression", 2, 10),
        ('"nope" == provider && nope == 1', "there is no variable 'nope'", 1, 23),
        ("frob(arguments)", "there is no function 'frob'", 1, 1),
        ("", "not a CEL expression", 1, 1),
        ("true" + " || true" * 2000, "10,000 characters", 0, 0),
    ],
)
def test_a_bad_condition_says_where(when: str, part: str, line: int, column: int) -> None:
    with pytest.raises(BadCondition, match=part) as raised:
        compiled(when)
    assert (raised.value.line, raised.value.column) == (line, column)


@pytest.mark.req("K7")
@pytest.mark.parametrize("when", ["arguments.nope == 1", "provider", 'tool.matches("(")'])
def test_a_condition_that_fails_never_helps_an_allow(when: str) -> None:
    def of(action: Action) -> Decision:
        return verdict(READ, rule("r", action, when), path="a").decision

    assert verdict(WRITE, rule("r", Action.ALLOW, when), path="a").decision is Decision.ASK
    assert of(Action.DENY) is of(Action.FORBID) is Decision.DENY
    asked = verdict(WRITE, rule("r", Action.ASK, when), Rule("x", Action.ALLOW), path="a")
    assert asked.decision is Decision.ASK
    assert asked.reason


@pytest.mark.req("K7")
def test_a_condition_makes_a_rule_more_specific_than_the_same_rule_without_it() -> None:
    plain = Rule("plain", Action.DENY, frozenset(["write_file"]))
    when = rule("when", Action.ALLOW, 'arguments.path == "a"', "write_file")
    assert verdict(WRITE, plain, when, path="a").decided_by == "rule when"
    assert verdict(WRITE, plain, when, path="b").decided_by == "rule plain"
    by_provider = Rule("provider", Action.DENY, provider=frozenset(["filesystem"]))
    everywhere = rule("everywhere", Action.ALLOW, "true")
    assert verdict(WRITE, by_provider, everywhere, path="a").decided_by == "rule provider"


@pytest.mark.req("K7")
def test_of_two_that_hold_with_equal_rank_the_stricter_wins() -> None:
    rules = [rule(a.value, a, "true") for a in (Action.ALLOW, Action.ASK, Action.DENY)]
    assert verdict(WRITE, *rules[:2], path="a").decided_by == "rule ask"
    assert verdict(WRITE, *rules, path="a").decided_by == "rule deny"


@pytest.mark.req("K7")
def test_an_unusable_command_softens_a_deny_and_not_a_forbid() -> None:
    everything = Rule("all", Action.ALLOW)
    unusable = "$CMD x"
    assert bash("rm x", rule("d", Action.DENY, RM), everything) is Decision.DENY
    assert bash("ls", rule("d", Action.DENY, RM), everything) is Decision.ALLOW
    assert bash(unusable, rule("d", Action.DENY, RM), everything) is Decision.ASK
    assert bash(unusable, rule("f", Action.FORBID, RM), everything) is Decision.DENY
    assert bash(unusable, rule("a", Action.ASK, RM), everything) is Decision.ASK
    plain = rule("plain", Action.DENY, 'arguments.command.contains("CMD")')
    assert bash(unusable, rule("d", Action.DENY, RM), plain) is Decision.DENY


@pytest.mark.req("K7")
def test_a_deny_reaches_through_wrappers() -> None:
    """Case policy-and-schema-07."""
    publish = 'commands.exists(c, c.program == "pnpm" && c.argv.exists(a, a == "publish"))'
    allow = rule("pnpm", Action.ALLOW, 'commands.all(c, c.program in ["pnpm", "nohup"])', "bash")
    deny = rule("publish", Action.DENY, publish, "bash")
    for command in ("pnpm publish", "nohup pnpm publish", "sh -c 'pnpm publish'", "pnpm 'publish'"):
        assert bash(command, allow, deny) is Decision.DENY
    assert bash("nohup pnpm test", allow, deny) is Decision.ALLOW


@pytest.mark.req("K7")
def test_an_ask_reaches_into_xargs_and_past_assignments() -> None:
    """Cases policy-and-schema-06 and -08."""
    gh = rule("gh", Action.ASK, 'commands.exists(c, c.program == "gh" && "DELETE" in c.argv)')
    aws = rule("aws", Action.ASK, 'commands.exists(c, c.program == "aws")')
    everything = Rule("all", Action.ALLOW)
    assert bash("echo a | xargs -I{} gh api -X DELETE r/{}", gh, everything) is Decision.ASK
    for command in ("AWS_PROFILE=prod aws ec2 x", "A=1 B=2 aws x", "A=$(rm x) aws y"):
        assert bash(command, aws, everything) is Decision.ASK


@pytest.mark.req("K7")
@pytest.mark.parametrize(
    "command",
    [
        *("r''m x", "\\rm x", '"rm" x', "/bin/rm x", "$'r\\155' x", "{rm,-rf,x}", "r$@m x"),
        *("X=rm; $X x", "rm${IFS}x", "/???/rm x", "r\u200bm x", "\uff52\uff4d x", "//bin/rm x"),
        *("/usr/../bin/rm x", "../../bin/rm x", "ls; rm x", "echo $(rm x)", "cd /; bin/rm x"),
    ],
)
def test_no_spelling_of_a_denied_program_is_allowed(command: str) -> None:
    """Case policy-and-schema-09."""
    deny = rule("rm", Action.DENY, RM, "bash")
    assert bash(command, deny, Rule("all", Action.ALLOW)) is not Decision.ALLOW


@pytest.mark.req("K7")
def test_a_command_within_a_command_is_asked_about_and_not_denied() -> None:
    """Case policy-and-schema-10."""
    deny = rule("rm", Action.DENY, RM)
    for command in ('echo "built on $(date)"', 'cd "$(git rev-parse --show-toplevel)" && ls'):
        assert bash(command, deny) is Decision.ASK
    knowing = rule(
        "knowing", Action.ALLOW, 'commands.all(c, c.program in ["echo", "date"] || c.substitutes)'
    )
    assert bash('echo "built on $(date)"', knowing) is Decision.ALLOW


@pytest.mark.req("K7")
def test_an_allow_that_does_not_look_at_writes_covers_none() -> None:
    blind = rule("blind", Action.ALLOW, 'commands.all(c, c.program == "echo")', "bash")
    seeing = rule("seeing", Action.ALLOW, blind.when + ' && writes.all(w, w.startsWith("out/"))')
    assert bash("echo x > out/f", blind) is Decision.ASK
    assert bash("echo x > out/f", seeing) is Decision.ALLOW
    assert bash("echo x > out/../f", seeing) is Decision.ASK
    assert bash("echo x >f", seeing) is Decision.ASK


@pytest.mark.req("K7")
def test_one_rule_speaks_of_a_path_whoever_touches_it() -> None:
    deny = rule("secrets", Action.DENY, '(writes + reads).exists(p, p.startsWith("secrets/"))')
    everything = Rule("all", Action.ALLOW)
    assert verdict(WRITE, deny, everything, path="./secrets/k").decision is Decision.DENY
    assert verdict(READ, deny, everything, path="secrets/k").decision is Decision.DENY
    assert bash("echo x > secrets/k", deny, everything) is Decision.DENY
    assert bash("cat < /work/project/secrets/k", deny, everything) is Decision.DENY
    assert bash("cat < other", deny, everything) is Decision.ALLOW


@pytest.mark.req("K7")
def test_a_rule_about_commands_says_nothing_of_other_calls() -> None:
    empty = rule("empty", Action.ALLOW, 'commands.all(c, c.program == "ls")')
    vacuous = rule("vacuous", Action.ALLOW, 'writes.all(w, w.startsWith("src/"))')
    spawn = operation("spawn", provider="agent", risk=Risk.CRITICAL)
    assert verdict(WRITE, empty, path="a").decision is Decision.ASK
    assert verdict(spawn, vacuous, prompt="x").decision is Decision.ASK
    assert bash("rm -rf x", vacuous) is Decision.ASK
    assert verdict(WRITE, rule("d", Action.DENY, RM), path="a").decision is Decision.ASK


@pytest.mark.req("K7")
@pytest.mark.parametrize(
    "command", ["cat link.txt", "ls ..", 'cat "$HOME/.ssh/id_rsa"', "cat ~/x", "cd .. && cat x"]
)
def test_a_path_rule_for_files_allows_no_shell_command(command: str) -> None:
    """Case jail-04."""
    inside = rule("inside", Action.ALLOW, '(reads + writes).all(p, !p.startsWith("/"))')
    assert verdict(READ, inside, path="a").decision is Decision.ALLOW
    assert bash(command, inside) is Decision.ASK


@pytest.mark.req("K7")
@pytest.mark.parametrize(
    "command",
    ["tee f", "printf x | tee -a f", "dd of=f", "touch f", "cp a b", "truncate -s0 f"],
)
def test_programs_that_write_are_on_no_list_of_ours(command: str) -> None:
    """Case policy-and-schema-05."""
    reads = rule("reads", Action.ALLOW, 'commands.all(c, c.program in ["cat", "printf", "ls"])')
    assert bash(command, reads) is Decision.ASK


@pytest.mark.req("K7", "K10")
@pytest.mark.parametrize(
    "when",
    [
        'commands.all(c, c.program in ["git", "ls"])',
        'arguments.command == "git status"',
        'arguments.command == "git status" && working_directory == "."',
        'provider == "exec"',
        "true",
    ],
)
@pytest.mark.parametrize("by_a_person", [True, False])
def test_git_is_not_taken_at_its_word_where_its_configuration_runs_programs(
    when: str, by_a_person: bool
) -> None:
    allow = replace(rule("git", Action.ALLOW, when, "bash"), granted=by_a_person)
    asked = call(BASH, command="git status")
    distrusted = replace(asked, distrusted="core.fsmonitor")
    person = Terms(Asking.PERSON)
    assert decide(RuleBook([allow]), asked, person).decision is Decision.ALLOW
    verdict = decide(RuleBook([allow]), distrusted, person)
    assert verdict.decision is Decision.ASK
    assert verdict.reason == "core.fsmonitor"


@pytest.mark.req("K10")
def test_what_is_distrusted_is_allowed_for_once_alone() -> None:
    """A grant would not answer the question again."""
    assert scopes(replace(call(BASH, command="git status"), distrusted="x"), None) == ()


@pytest.mark.req("F11")
def test_an_explanation_says_why_a_command_is_distrusted() -> None:
    asked = replace(call(BASH, command="git status"), distrusted="core.fsmonitor")
    view = explain((), asked, Terms(Asking.PERSON)).view
    assert view is not None
    assert view.unusable == "core.fsmonitor"


@pytest.mark.req("K5a")
@pytest.mark.parametrize(
    "command",
    [
        *("echo x > .git/config", "echo x >> sub/.GIT/hooks/pre-commit", "ls > agent.hcl"),
        *('echo x >"$PWD/.git/config"', "cd .git && echo x > config", "echo x > .g''it/config"),
        *("ls &> .agent/agent.lock.hcl", "X=.git; echo >$X/.git/config", "sh -c 'ls >.git/x'"),
    ],
)
def test_a_redirect_to_a_protected_path_is_asked_about_whatever_the_rules(command: str) -> None:
    assert bash(command, Rule("all", Action.ALLOW)) is Decision.ASK


@pytest.mark.req("K5a")
def test_a_redirect_elsewhere_is_not() -> None:
    for command in ("echo x > .gitignore", "echo x > .agent/outputs/1", "cat < .git/config"):
        assert bash(command, Rule("all", Action.ALLOW)) is Decision.ALLOW


@pytest.mark.req("K5a")
def test_a_rule_that_names_the_path_allows_the_write() -> None:
    named = rule("named", Action.ALLOW, 'writes == [".git/info/exclude"]')
    anything = rule("anything", Action.ALLOW, "writes.size() == 1")
    assert verdict(WRITE, named, path=".git/info/exclude").decision is Decision.ALLOW
    assert verdict(WRITE, named, path="./.git/x/../info/exclude").decision is Decision.ALLOW
    assert verdict(WRITE, anything, path=".git/info/exclude").decision is Decision.ASK


@pytest.mark.req("F11", "K7")
def test_conditions_bring_no_terminal_interface_and_leave_the_package_to_others() -> None:
    """The package imports one beside the library, which would be most of a start."""
    code = """
import sys
from pluggableharness.kernel.policy.conditions import compiled, context
assert compiled("tool == 'bash'").holds(context({"tool": "bash"}))
assert not {"cel.cli", "prompt_toolkit", "typer"} & set(sys.modules)
import cel
assert cel.evaluate("1 + 1", {}) == 2
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
