"""Rules that forbid are not escaped by words that a command line does not show."""

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.operation import Risk
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.policy import Action, Asking, Rule, RuleBook, Terms, decide

BASH = operation("bash", provider="exec", risk=Risk.HIGH)
NEVER_PUSH = "commands.exists(c, c.program == 'git' && 'push' in c.argv)"
NO_DELETE = "commands.exists(c, c.program == 'kubectl' && c.argv[1] == 'delete')"
NO_APPLY = "commands.exists(c, c.program == 'terraform' && c.argv.exists(a, a == 'apply'))"
NO_RM = "commands.exists(c, c.program == 'rm')"
NO_FORCE = "commands.exists(c, c.program == 'rm' && c.argv.exists(a, a.startsWith('-rf')))"
NO_PATTERN = "commands.exists(c, c.program == 'git' && c.argv.exists(a, a.matches('^pu.h$')))"

ESCAPES = (
    *((NEVER_PUSH, line) for line in ("echo push origin | xargs git", "xargs -a list git")),
    *((NEVER_PUSH, line) for line in ("xargs nohup git < l", "xargs git -P < l", "xargs git < l")),
    *((NEVER_PUSH, line) for line in ("find . -exec git {} +", "git $(echo push)")),
    *(
        (NEVER_PUSH, line)
        for line in ("frob git push", "frob -x -- git push", "frob nohup git push")
    ),
    *((NEVER_PUSH, line) for line in ("frob sh -c 'git push'", "frob /usr/bin/git push")),
    *((NEVER_PUSH, line) for line in ("frob frob git push", "./frob git push", "xargs frob git")),
    *((NEVER_PUSH, line) for line in ("frob bash -c 'ls; frob git push'", "frob python3 -c x")),
    *((NO_DELETE, line) for line in ("xargs kubectl < l", "kubectl $(echo delete) pod")),
    *((NO_DELETE, line) for line in ("xargs -I% kubectl % pod", "frob kubectl delete pod")),
    *((NO_APPLY, line) for line in ("xargs terraform < l", "terraform $(echo apply)")),
    *((NO_APPLY, line) for line in ("xargs terraform -chdir=x", "find . -exec terraform {} +")),
    *((NO_RM, line) for line in ("grm x", "frob rm x", "frob grm x", "frob -- /bin/rm x")),
    *((NO_FORCE, line) for line in ("xargs rm < l", "xargs -I{} rm {} x", "rm $(cat l) x")),
    (NO_PATTERN, "xargs git log"),
)


def decision(when: str, action: Action, command: str, asking: Asking = Asking.PERSON) -> Decision:
    rules = [
        Rule("all", Action.ALLOW, when="commands.all(c, c.substitutes || !c.substitutes)"),
        Rule("never", action, frozenset(["bash"]), when=when),
    ]
    return decide(RuleBook(rules), call(BASH, command=command), Terms(asking)).decision


@pytest.mark.req("K7")
@pytest.mark.parametrize(("when", "command"), ESCAPES)
def test_a_forbid_holds_for_what_a_line_may_run_without_saying_so(when: str, command: str) -> None:
    assert decision(when, Action.FORBID, command) is Decision.DENY
    assert decision(when, Action.FORBID, command, Asking.ALLOW_ALL) is Decision.DENY
    assert decision(when, Action.DENY, command) is not Decision.ALLOW
    assert decision(when, Action.ASK, command) is Decision.ASK


@pytest.mark.req("K7")
@pytest.mark.parametrize(
    ("when", "command"),
    [
        (NEVER_PUSH, "find . -name '*.py' | xargs grep -n push"),
        (NEVER_PUSH, "find . -name '*.py' | xargs ruff check"),
        (NEVER_PUSH, "git log $(git merge-base a b)"),
        (NEVER_PUSH, 'git commit -m "$(cat x)"'),
        (NEVER_PUSH, "pytest $(git diff --name-only)"),
        (NEVER_PUSH, "pip install git"),
        (NEVER_PUSH, "echo git push"),
        (NO_DELETE, "xargs kubectl get < l"),
        (NO_RM, "docker compose rm"),
        (NO_RM, "frob remove rmx"),
        (NO_RM, "echo rm"),
        (NO_FORCE, "rm d/*.o"),
        (NO_PATTERN, "git log"),
        ("!commands.all(c, c.program in ['pytest', 'ls'])", "pytest tests"),
    ],
)
def test_nor_does_it_deny_what_the_line_cannot_run(when: str, command: str) -> None:
    assert decision(when, Action.FORBID, command) is Decision.ALLOW


@pytest.mark.req("K7")
def test_an_allow_is_not_widened_by_what_a_line_may_run() -> None:
    book = RuleBook([Rule("rm", Action.ALLOW, frozenset(["bash"]), when=NO_RM)])
    for command in ("frob rm x", "grm x", "frob sh -c 'rm x'"):
        assert decide(book, call(BASH, command=command), Terms(Asking.PERSON)).decision is (
            Decision.ASK
        )
