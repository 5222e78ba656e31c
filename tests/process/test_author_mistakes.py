"""What the author of a provider is told of mistakes: of declarations, and of calls (P2, P15)."""

import shlex
import subprocess
import sys

import pytest
from process.harness import BOUND_S, Harness

WRONG = """
from pluggableharness.sdk import Context, Provider

provider = Provider("wrong")

@provider.data_source()
async def one(ctx: Context[None], x: complex) -> dict[str, str]:
    'One.'

@provider.data_source()
def two(ctx: Context[None]) -> dict[str, str]:
    'Two.'

@provider.data_source(name="three four")
async def three(ctx: Context[None], x: int) -> str:
    pass

provider.serve()
"""
TOLD = (
    "operation 'one': x is complex",
    "operation 'two': is not an async function",
    "operation 'three four': its name may hold",
    "operation 'three four': has no docstring",
    "operation 'three four': its result is no object",
)
FAILING = """
from pluggableharness.sdk import Context, Provider

provider = Provider("failing")

@provider.data_source()
async def divide(ctx: Context[None], by: int) -> dict[str, str]:
    'Divide.'
    return {"result": str(1 // by)}

provider.serve()
"""


@pytest.fixture
def command(harness: Harness, request: pytest.FixtureRequest) -> str:
    path = harness.project / "provider.py"
    path.write_text(request.param)
    return shlex.join([sys.executable, str(path)])


@pytest.mark.req("P2")
@pytest.mark.parametrize("command", [WRONG], indirect=True, ids=["wrong"])
def test_all_mistakes_in_all_declarations_are_told_without_a_traceback(
    harness: Harness, command: str
) -> None:
    called = harness.run("call", "wrong.one", "x=1", "--provider", command)
    checked = harness.run("check", *shlex.split(command))
    by_hand = subprocess.run(
        shlex.split(command), capture_output=True, text=True, timeout=BOUND_S, check=False
    )
    assert (called.returncode, checked.returncode, by_hand.returncode) == (2, 1, 1)
    for told in (called.stderr, checked.stdout, by_hand.stderr):
        assert "provider 'wrong' is declared wrongly:\n" in told
        assert [one for one in TOLD if one not in told] == []
        assert "Traceback" not in told and "exited" not in told


@pytest.mark.req("P15")
@pytest.mark.parametrize("command", [FAILING], indirect=True, ids=["failing"])
def test_an_exception_is_told_once_and_its_traceback_to_who_wants_it(
    harness: Harness, command: str
) -> None:
    words = ("call", "failing.divide", "by=0", "--provider", command)
    failed = harness.run(*words)
    assert failed.returncode == 1
    (line,) = failed.stderr.splitlines()
    assert line.startswith("failing.divide: unknown: ZeroDivisionError: ")
    harness.configure('settings { log_level = "debug" }\n', "task")
    told = harness.run(*words).stderr
    assert f'File "{harness.project / "provider.py"}", line 9, in divide' in told
