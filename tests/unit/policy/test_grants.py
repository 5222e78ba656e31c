"""What an answer may cover, what it is worth against other rules, and how it is written."""

from typing import Any

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Kind, Operation, Risk
from pluggableharness.kernel.domain.verdict import Decision
from pluggableharness.kernel.policy import (
    Action,
    Asking,
    Rule,
    RuleBook,
    Terms,
    decide,
    granted,
    scopes,
)

BASH = operation("bash", provider="exec", risk=Risk.HIGH)
WRITE = operation("write_file")
READ = operation("read_file", Kind.DATA_SOURCE)
FETCH = operation("web_fetch", Kind.DATA_SOURCE, provider="web")
SPAWN = operation("spawn", provider="agent", risk=Risk.CRITICAL)
PERSON = Terms(Asking.PERSON, gate_reads=True)


def offered(of: Operation, **arguments: Any) -> list[str]:
    return [scope.covers for scope in scopes(call(of, **arguments), None)]


def with_grant(asked: Call, later: Call, *rules: Rule, place: int = 0) -> Decision:
    """What becomes of a call after a scope of another was granted."""
    asking = next(iter(RuleBook(rules).matching(asked.operation)), None)
    scope = scopes(asked, asking)[place]
    book = RuleBook([*rules, granted(asked, asking, scope)])
    return decide(book, later, PERSON).decision


def bash(command: str) -> Call:
    return call(BASH, command=command)


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    ("command", "covers"),
    [
        ("npm test", "npm test"),
        ("npm run build -- --x", "npm run build"),
        ("git status -s", "git status"),
        ("cargo build && npm test", "cargo build, npm test"),
        ("make check -j2", "make check"),
    ],
)
def test_a_command_is_covered_by_its_program_and_subcommand(command: str, covers: str) -> None:
    assert offered(BASH, command=command) == [
        f"{covers}, with any arguments",
        "exactly this command",
    ]


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    "command",
    [
        *("git", "python3 x.py", "python -m pytest", "bash x.sh", "sh -c 'rm x'", "sudo rm x"),
        *("env ls", "xargs rm", "timeout 5 npm test", "node x.js", "find . -name x", "nohup ls"),
        *("echo x > f", "ls $X", "echo $(date)", "A=1 npm test", "npx x", "uv run x", "perl x"),
        *("/usr/bin/python3.11 x.py", "./venv/bin/python x.py", "npm", "docker --debug ps"),
        *("java -version", "java -jar x.jar", "dotnet --info", "jython x.py", "graalpy x.py"),
        *("micropython x.py", "python3.11-dbg x.py", "qjs x.js", "wasmtime x.wasm", "d8 x.js"),
        *("qemu-x86_64 ./a", "ghc --version", "clojure -h", "swift --version", "nim --version"),
        *("sbt --version", "mix --version", "rails -v", "gradle -v", "mvn -q test"),
    ],
)
def test_an_interpreter_a_shell_a_wrapper_or_git_alone_covers_nothing_more(command: str) -> None:
    assert offered(BASH, command=command) == ["exactly this command"]


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    "command",
    [
        # an option before the subcommand, whose value may be the word that stands there
        *("terraform -chdir=x plan", "aws --profile dev s3 ls", "cargo +nightly fmt", "make -j2"),
        *("systemctl --user status x", "pip --version", "apt-get -s install x", "npm -s test"),
        *("npm run -s build", "npm run", "git --no-pager log"),
        # an operand, which is no subcommand
        *("rm build", "mv a b", "cat f", "cp a b", "mkdir build", "ansible all", "ls", "make ./x"),
        # a subcommand that has its own
        *("gh pr view 1", "docker compose ps", "git stash list", "kubectl config view", "go mod x"),
        # a program of which nothing is known, or another one of that name
        *("frob test", "./npm test", "bin/git status", "npm 'te st'", "npm $(cat x)", "npm t*"),
    ],
)
def test_a_first_word_that_is_no_subcommand_covers_nothing_more(command: str) -> None:
    assert offered(BASH, command=command) == ["exactly this command"]


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    "command",
    [
        *("cd /work/project && make test", "cd .. && make test", "cd src/a && npm test"),
        *("cd src && make test", "pushd ../x && make test", "make test; popd", "cd - && make test"),
    ],
)
def test_a_line_that_changes_the_folder_is_covered_as_it_stands(command: str) -> None:
    """Else an answer in one folder would be one in every folder."""
    assert offered(BASH, command=command) == ["exactly this command"]
    for other in ("cd /tmp/evil && make test", "cd evil && npm test", "make test"):
        assert with_grant(bash(command), bash(other)) is Decision.ASK


@pytest.mark.req("K10")
def test_a_grant_in_one_folder_covers_no_line_that_leaves_it() -> None:
    for line in ("cd /tmp && make test", "pushd x; make test", "env -C x make test", "make -C x"):
        assert with_grant(bash("make test"), bash(line)) is Decision.ASK


@pytest.mark.req("K10")
def test_a_grant_of_a_target_covers_no_other_target() -> None:
    tests = bash("make test")
    assert with_grant(tests, bash("make test -s")) is Decision.ALLOW
    for other in ("make deploy", "make test deploy", "make -s deploy test", "make"):
        assert with_grant(tests, bash(other)) is Decision.ASK


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    "url",
    [
        *("HTTPS://a.example/x", "https://me@a.example/x", "https://[::1]/", "https://my_host/x"),
        *("https://exämple.com/", "a.example", "ftp://a.example/x", "https://a.example\\@b/"),
    ],
)
@pytest.mark.parametrize("name", ["url", "address"])
def test_an_address_that_may_be_read_in_two_ways_is_covered_alone(url: str, name: str) -> None:
    """The model picks the spelling, and no spelling may open every address."""
    asked = call(FETCH, **{name: url})
    ask = Rule("ask", Action.ASK, frozenset(["web_fetch"]))
    (scope,) = scopes(asked, ask)
    assert scope.covers.startswith("exactly this address, with ")
    assert with_grant(asked, asked, ask) is Decision.ALLOW
    for other in ("https://b.example/", url + "x", url.lower() + "/"):
        assert with_grant(asked, call(FETCH, **{name: other}), ask) is Decision.ASK


@pytest.mark.req("K10")
def test_a_path_is_covered_by_its_file_or_its_folder_an_address_by_its_host() -> None:
    assert offered(WRITE, path="./src/a.py") == ["src/a.py", "everything below src/"]
    assert offered(WRITE, path="a.py") == ["a.py", "every file directly in the project"]
    assert offered(WRITE, path="/etc/x") == ["/etc/x", "everything below /etc/"]
    assert offered(WRITE, path="/x") == ["/x"]
    assert offered(FETCH, url="https://a.example/x?y") == ["anything at a.example"]
    assert offered(SPAWN, prompt="x") == ["every call of agent.spawn"]


@pytest.mark.req("K10")
def test_a_grant_covers_what_it_says_and_no_more() -> None:
    tests = bash("npm test")
    assert with_grant(tests, bash("npm test -- --watch")) is Decision.ALLOW
    assert with_grant(tests, bash("npm test | npm test")) is Decision.ALLOW
    for other in ("npm publish", "npm test; rm x", "npm test > f", "npm test $(rm x)", "nohup ls"):
        assert with_grant(tests, bash(other)) is Decision.ASK
    assert with_grant(tests, bash("npm test"), place=1) is Decision.ALLOW
    assert with_grant(tests, bash("npm  test"), place=1) is Decision.ASK
    file = call(WRITE, path="src/a.py")
    assert with_grant(file, call(WRITE, path="src/./a.py")) is Decision.ALLOW
    assert with_grant(file, call(WRITE, path="src/b.py")) is Decision.ASK
    assert with_grant(file, call(WRITE, path="src/b.py"), place=1) is Decision.ALLOW
    assert with_grant(file, call(WRITE, path="src/../b.py"), place=1) is Decision.ASK
    assert with_grant(file, call(WRITE, path="src/.git/config"), place=1) is Decision.ASK
    assert with_grant(file, call(operation("edit_file"), path="src/a.py")) is Decision.ASK


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example/other", Decision.ALLOW),
        ("https://a.example:8443", Decision.ALLOW),
        ("https://a.example", Decision.ALLOW),
        ("https://a.example.evil/", Decision.ASK),
        ("https://a.example@evil/", Decision.ASK),
        ("https://a.example:80@evil/", Decision.ASK),
        ("http://a.example/", Decision.ASK),
        ("https://aXexample/", Decision.ASK),
    ],
)
def test_a_host_is_that_host(url: str, expected: Decision) -> None:
    ask = Rule("ask", Action.ASK, frozenset(["web_fetch"]))
    assert with_grant(call(FETCH, url="https://a.example/x"), call(FETCH, url=url), ask) is expected


@pytest.mark.req("K10")
def test_a_grant_beats_the_ask_that_led_to_it_and_no_deny_or_forbid() -> None:
    asked = bash("npm test")
    exact = Rule(
        "exact",
        Action.ASK,
        frozenset(["bash"]),
        frozenset(["exec"]),
        frozenset([Risk.HIGH]),
        frozenset([Kind.RESOURCE]),
        when="true",
    )
    assert with_grant(asked, asked, exact) is Decision.ALLOW
    for action in (Action.DENY, Action.FORBID):
        wide = Rule("wide", action, kind=frozenset([Kind.RESOURCE]))
        scope = scopes(asked, None)[0]
        book = RuleBook([wide, granted(asked, None, scope)])
        assert decide(book, asked, PERSON).decision is Decision.DENY


@pytest.mark.req("K10")
def test_a_more_specific_ask_than_the_one_answered_still_asks() -> None:
    asked = bash("npm test")
    grant = granted(asked, None, scopes(asked, None)[0])
    risky = Rule(
        "risky", Action.ASK, grant.tool_name, grant.provider, frozenset([Risk.HIGH]), when="true"
    )
    assert decide(RuleBook([risky, grant]), asked, PERSON).decided_by == "rule risky"


@pytest.mark.req("K10", "K5a")
def test_a_protected_path_is_granted_by_name_alone() -> None:
    config = call(WRITE, path=".git/config")
    assert offered(WRITE, path=".git/config") == [".git/config"]
    assert with_grant(config, config) is Decision.ALLOW
    everything = Rule("all", Action.ALLOW, kind=frozenset([Kind.RESOURCE]))
    assert decide(RuleBook([everything]), config, PERSON).decision is Decision.ASK
    assert with_grant(config, config, everything) is Decision.ALLOW
    assert with_grant(config, call(WRITE, path=".git/hooks/x"), everything) is Decision.ASK
    assert offered(BASH, command="echo x > .git/config") == []


@pytest.mark.req("K10")
def test_a_deny_that_became_a_question_is_answered_for_once_only() -> None:
    deny = Rule("rm", Action.DENY, when='commands.exists(c, c.program == "rm")')
    asked = bash("$CMD x")
    assert decide(RuleBook([deny]), asked, PERSON).decision is Decision.ASK
    assert scopes(asked, deny) == ()
    anyway = granted(asked, None, scopes(asked, None)[0])
    assert decide(RuleBook([deny, anyway]), asked, PERSON).decision is Decision.ASK


@pytest.mark.req("K10")
def test_a_grant_is_shown_as_it_is_written() -> None:
    (scope, exact) = scopes(bash('npm test "${x}"'.replace("${x}", "a")), None)
    assert scope.rule.startswith('policy "granted-exec-bash-')
    assert 'match  = { provider = "exec", tool_name = "bash" }' in scope.rule
    assert 'action = "allow"' in scope.rule
    assert r"c.argv[0] == \"npm\"" in scope.rule
    assert exact.rule != scope.rule
    (hostile,) = scopes(bash('echo ${x}\n%{y} > "f"'), None)
    assert "$${x}" in hostile.rule
    assert "%%{y}" in hostile.rule
    assert hostile.rule.count("\n") == 5


@pytest.mark.req("K10")
def test_nothing_too_long_to_be_shown_is_offered() -> None:
    assert offered(BASH, command="echo " + "x" * 10_000) == []


DOWNLOAD = operation("download", provider="mcp")
RUN = operation("run", provider="mcp")
COPY = operation("copy", provider="mcp")
FOREIGN = [
    (call(DOWNLOAD, url="https://a.example/x", path="x"), {"path": "/root/.bashrc"}),
    (call(DOWNLOAD, url="https://a.example/x"), {"path": "/root/.bashrc"}),
    (call(DOWNLOAD, url="https://a.example/x", uri="https://b.example"), {"uri": "file:///etc"}),
    (call(RUN, command="ls", host="dev"), {"host": "prod"}),
    (call(RUN, command="ls"), {"host": "prod"}),
    (call(RUN, command="ls", host="dev", cwd="a"), {"cwd": "/x"}),
    (call(RUN, command="ls", env={"A": "b", "n": [1, None, 0.5, True]}), {"env": {"A": "c"}}),
    (call(RUN, command="ls", text="x"), {"text": "y"}),
    (call(COPY, path="a/f", host="dev"), {"host": "prod"}),
    (call(COPY, path="a/f"), {"recursive": True}),
    (call(COPY, source="a/f", target="a/g"), {"target": "b/g"}),
    (call(COPY, source="a/f", target="a/g"), {"target": "a/other"}),
    (call(COPY, path="a/f", content={"to": "x"}), {"content": {"to": "y"}}),
    (call(COPY, path="f", cwd="a"), {"cwd": "b"}),
]


@pytest.mark.req("K10")
@pytest.mark.parametrize(("asked", "changed"), FOREIGN)
def test_a_grant_leaves_open_no_argument_that_it_does_not_show(
    asked: Call, changed: dict[str, Any]
) -> None:
    offers = scopes(asked, None)
    assert offers
    other = call(asked.operation, **{**asked.arguments, **changed})
    for scope in offers:
        book = RuleBook([granted(asked, None, scope)])
        assert decide(book, asked, PERSON).decision is Decision.ALLOW
        assert decide(book, other, PERSON).decision is Decision.ASK


@pytest.mark.req("K10")
def test_a_grant_shows_the_arguments_that_must_be_as_they_were() -> None:
    assert offered(DOWNLOAD, url="https://a.example/x", path="x") == [
        'anything at a.example, with path = "x"'
    ]
    assert offered(RUN, command="ls -l", host="dev") == [
        'exactly this command, with host = "dev"',
    ]
    assert offered(COPY, path="a/f", content="x", force=True) == [
        "a/f, with force = true",
        "everything below a/, with force = true",
    ]


@pytest.mark.req("K10")
def test_content_and_what_is_known_to_be_harmless_may_differ() -> None:
    def stays(of: Operation, first: dict[str, Any], later: dict[str, Any]) -> bool:
        return with_grant(call(of, **first), call(of, **later)) is Decision.ALLOW

    assert stays(WRITE, {"path": "a", "content": "x"}, {"path": "a", "create_parents": True})
    assert stays(COPY, {"path": "a", "content": "x"}, {"path": "a", "content": "y"})
    assert stays(BASH, {"command": "ls", "timeout_s": 5}, {"command": "ls", "description": "d"})
