"""The line of a call that has ended."""

import pytest
from unit.frontends.fakes import BASH, call
from unit.frontends.watching import watched

from pluggableharness.kernel.domain.news import CallEnded
from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.kernel.domain.values import JsonObject


@pytest.mark.req("P13", "K32")
@pytest.mark.parametrize(
    ("payload", "sign"),
    [
        ({}, "✓"),
        ({"exit_code": 0}, "✓"),
        ({"exit_code": 0.0}, "✓"),
        ({"exit_code": None}, "✓"),
        ({"exit_code": "none"}, "✓"),
        ({"exit_code": 1}, "✗"),
        ({"exit_code": -9.0}, "✗"),
    ],
)
async def test_a_result_that_tells_of_a_program_that_failed_has_the_sign_of_it(
    payload: JsonObject, sign: str
) -> None:
    with watched() as terminal:
        await terminal.hear(CallEnded(call(BASH, command="make"), Success(payload)))
        (line,) = terminal.screen
        assert line.startswith(f"{sign} exec.bash make")
