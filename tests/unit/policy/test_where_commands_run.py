"""Rules and grants for a command hold in the folder in which it runs, whatever names that."""

from dataclasses import replace

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Kind, Risk
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.policy import (
    Action,
    Asking,
    Facts,
    Rule,
    RuleBook,
    Terms,
    decide,
    granted,
    scopes,
)

pytestmark = pytest.mark.req("K7")

HERE = "/work/project"
BASH = operation("bash", provider="exec", risk=Risk.HIGH)
FOREIGN = operation("run", provider="remote", risk=Risk.HIGH)
READING = operation("show", Kind.DATA_SOURCE, provider="remote")
TERMS = Terms(Asking.PERSON)
ANYWHERE = "true || working_directory == '.'"


def bash(command: str, folder: str | None = None, **places: str) -> Call:
    """A command in a folder; `places` say where folders of the project lead."""
    arguments = {} if folder is None else {"working_directory": folder}
    made = call(BASH, command=command, **arguments)
    real = {f"{HERE}/{name}": f"{HERE}/{to}" for name, to in places.items()}
    return replace(made, places={HERE: HERE, **real}) if real else made


def decided(made: Call, *rules: Rule) -> Decision:
    return decide(RuleBook(rules), made, TERMS).decision


def allow(when: str) -> Rule:
    return Rule("allow", Action.ALLOW, when=when)


def deny(when: str) -> Rule:
    return Rule("deny", Action.DENY, when=when)


SECRETS = deny("(writes + reads).exists(p, p.startsWith('secrets/'))")


@pytest.mark.parametrize(
    "made",
    [
        bash("echo x > secrets/key"),
        bash("echo x > key", "secrets"),
        bash("echo x > key", "./x/../secrets/"),
        bash("echo x > key", f"{HERE}/secrets"),
        bash("echo x > ../secrets/key", "other"),
        bash("cat < key", "secrets"),
        bash("tee key", "secrets"),
        bash("sort -o key f", "secrets"),
        bash("echo x > key", "link", link="secrets"),
        bash("cat < key", "link", link="secrets"),
        call(FOREIGN, command="echo x > key", cwd="secrets"),
        call(FOREIGN, command="echo x > key", place={"dir": "secrets"}),
        call(FOREIGN, path="key", cwd="secrets"),
        call(READING, path="key", cwd="secrets"),
    ],
)
def test_a_deny_of_a_folder_holds_for_what_is_done_from_within_it(made: Call) -> None:
    loose = allow(f"{ANYWHERE} || writes.all(w, w == 'key') && commands.size() > 0")
    assert decided(made, SECRETS, loose) is Decision.DENY


@pytest.mark.parametrize(
    ("folder", "decision"),
    [
        (None, Decision.ALLOW),
        (".", Decision.ALLOW),
        (HERE, Decision.ALLOW),
        ("x/..", Decision.ALLOW),
        ("evil", Decision.ASK),
        ("/tmp/x", Decision.ASK),
        ("..", Decision.ASK),
    ],
)
@pytest.mark.parametrize(
    ("when", "command"),
    [
        ("commands.all(c, c.program == './build.sh')", "./build.sh"),
        ("commands.all(c, c.program == 'make' && c.argv == ['make', 'test'])", "make test"),
        ("arguments.command == 'make test'", "make test"),
        (
            "commands.all(c, c.program == 'echo') && writes.all(w, w.startsWith('build/'))",
            "echo x > build/x",
        ),
        (
            "commands.all(c, c.program == 'echo' && c.redirects_to.all(r, r == 'build/x'))",
            "echo x > build/x",
        ),
    ],
)
def test_an_allow_that_names_no_folder_holds_in_the_sessions_alone(
    when: str, command: str, folder: str | None, decision: Decision
) -> None:
    assert decided(bash(command, folder), allow(when)) is decision


def test_an_allow_that_names_the_folder_holds_there() -> None:
    inside = allow(
        "commands.all(c, c.program == 'pytest') && !working_directory.startsWith('/')"
        " && writes.all(w, w.startsWith('packages/a/'))"
    )
    assert decided(bash("pytest -q > out", "packages/a"), inside) is Decision.ALLOW
    assert decided(bash("pytest -q > packages/a/out"), inside) is Decision.ALLOW
    assert decided(bash("pytest -q > out", "packages/b"), inside) is Decision.ASK
    assert decided(bash("pytest -q", "/tmp"), inside) is Decision.ASK
    assert decided(bash("pytest -q", "../x"), inside) is Decision.ASK


@pytest.mark.parametrize(
    ("made", "program"),
    [
        (bash("./build.sh"), "./build.sh"),
        (bash("./build.sh", "evil"), "evil/build.sh"),
        (bash("sub/build.sh", "evil"), "evil/sub/build.sh"),
        (bash("project/build.sh", "/work"), "./build.sh"),
        (bash("./build.sh", "/opt"), "/opt/build.sh"),
        (bash("./build.sh", "link", link="evil"), "evil/build.sh"),
        (bash("./build.sh", "link/..", **{"link/..": "evil"}), "evil/build.sh"),
        (bash("make", "evil"), "make"),
    ],
)
def test_a_relative_program_is_named_as_from_the_sessions_folder(made: Call, program: str) -> None:
    view = Facts(made).view
    assert view is not None
    assert [one.program for one in view.commands] == [program]
    assert view.commands[0].argv[0] == program
    named = f"commands.all(c, c.program == '{program}' && c.argv[0] == '{program}')"
    assert decided(made, allow(f"{named} && ({ANYWHERE})")) is Decision.ALLOW


@pytest.mark.parametrize("line", ["cd x && sub/run", "cd x && ../run", "cd x && ./run"])
def test_a_relative_program_beside_a_change_of_folder_is_unusable(line: str) -> None:
    assert decided(bash(line), allow("commands.all(c, c.program != 'rm')")) is Decision.ASK


def test_where_it_is_not_known_where_a_command_runs_no_allow_over_it_holds() -> None:
    both = call(FOREIGN, command="./x", cwd="a", output="b")
    untold = replace(bash("./x", "a"), places={HERE: HERE, f"{HERE}/a": ""})
    for made in (both, untold):
        for when in ("commands.all(c, true)", "arguments.command == './x'", ANYWHERE):
            assert decided(made, allow(when)) is Decision.ASK
        shut = deny("working_directory == 'a'")
        assert decided(made, Rule("any", Action.ALLOW), shut) is Decision.DENY
        shut = deny("commands.exists(c, c.program == './x')")
        assert decided(made, Rule("any", Action.ALLOW), shut) is Decision.ASK


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    ("command", "place"), [("./build.sh", 0), ("make test", 0), ("make test", 1)]
)
@pytest.mark.parametrize("folder", [None, "evil", "/opt/x"])
def test_a_grant_for_a_command_holds_in_its_folder_alone(
    command: str, place: int, folder: str | None
) -> None:
    asked = bash(command, folder)
    scope = scopes(asked, None)[place]
    if folder is not None:
        assert folder in scope.covers
    assert f'working_directory == \\"{folder or "."}\\"' in scope.rule
    grant = granted(asked, None, scope)
    for other in (None, "evil", "evil/x", "/opt/x", "/opt"):
        same = decided(bash(command, other), grant) is Decision.ALLOW
        assert same is (other == folder)


@pytest.mark.req("K10")
def test_a_grant_through_a_link_holds_only_while_it_leads_there() -> None:
    asked = bash("make test", "link", link="a")
    grant = granted(asked, None, scopes(asked, None)[0])
    assert decided(asked, grant) is Decision.ALLOW
    assert decided(bash("make test", "link", link="b"), grant) is Decision.ASK
