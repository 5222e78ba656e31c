"""Answers that last and edits, at the terminal: shown first, narrowed, and never by accident."""

import asyncio
from dataclasses import replace

import pytest
from unit.frontends.fakes import BASH, call, item
from unit.frontends.watching import BOUND_S, watched

from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.kernel.domain.plan import Answer, Lasting, PlanItem, Scope
from pluggableharness.kernel.frontends.reply import reassigned

WIDE = Scope("npm test, with any arguments", "commands.all(c, true)", 'policy "wide" {\n}\n')
EXACT = Scope("exactly this command", "x", 'policy "exact" {\n  action = "allow"\n}\n')
TAKEN = Schema(
    SchemaType.OBJECT,
    properties={
        "command": Schema(SchemaType.STRING),
        "timeout_s": Schema(SchemaType.NUMBER),
        "working_directory": Schema(SchemaType.STRING),
    },
    required=("command",),
)
RUN = replace(BASH, input_schema=TAKEN)
ASKED = replace(item(call(RUN, command="npm test", timeout_s=5)), scopes=(WIDE, EXACT))


async def answered(typed: str, asked: PlanItem = ASKED) -> tuple[Answer | None, list[str]]:
    with watched() as terminal:
        terminal.type(typed)
        terminal.hang_up()
        async with asyncio.timeout(BOUND_S):
            answer = await terminal.frontend.decide(asked, "")
        return answer, terminal.screen


@pytest.mark.req("K10")
async def test_what_a_session_covers_is_shown_and_can_be_narrowed() -> None:
    answer, screen = await answered("s\n2\n")
    assert answer == Answer(True, lasting=Lasting.SESSION, scope=EXACT)
    assert "│ 1  npm test, with any arguments" in screen
    assert "│ 2  exactly this command" in screen
    assert any("a allow · s session · k always · d deny · e edit · ? help" in one for one in screen)


@pytest.mark.req("K10")
async def test_always_shows_the_rule_before_it_is_written() -> None:
    answer, screen = await answered("k\n2\ny\n")
    assert answer == Answer(True, lasting=Lasting.ALWAYS, scope=EXACT)
    shown = screen.index('│ policy "exact" {')
    assert screen[shown + 1] == '│   action = "allow"'


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    "typed", ["s\n\nd\n", "s\n3\nd\n", "k\n1\nn\nd\n", "k\n1\n\nd\n", "s\n0\nd\n"]
)
async def test_going_back_allows_nothing(typed: str) -> None:
    answer, _ = await answered(typed)
    assert answer == Answer(False)


@pytest.mark.req("K10")
async def test_without_a_scope_nothing_lasts() -> None:
    once = replace(ASKED, scopes=())
    answer, screen = await answered("s\nk\na\n", once)
    assert answer == Answer(True)
    assert sum("can only be allowed once" in line for line in screen) == 2


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    ("typed", "arguments"),
    [
        ("e\ncommand=npm run x\n", {"command": "npm run x", "timeout_s": 5}),
        ("e\ntimeout_s=9\n", {"command": "npm test", "timeout_s": 9}),
        (
            "e\nworking_directory=9\n",
            {"command": "npm test", "timeout_s": 5, "working_directory": "9"},
        ),
        ('e\n{"command": "ls"}\n', {"command": "ls"}),
    ],
)
async def test_an_edit_is_handed_back_to_be_checked(
    typed: str, arguments: dict[str, object]
) -> None:
    answer, screen = await answered(typed)
    assert answer == Answer(True, arguments=arguments)  # type: ignore[arg-type]
    assert '│ {"command": "npm test", "timeout_s": 5}' in screen


@pytest.mark.req("K10")
@pytest.mark.parametrize("line", ["nope=1", "command", "{", "[1]", '{"a": NaN}', "timeout_s=x"])
async def test_what_is_no_edit_is_told_and_can_be_typed_again(line: str) -> None:
    answer, screen = await answered(f"e\n{line}\n\nd\n")
    assert answer == Answer(False)
    assert sum(one.startswith("│ not edited: ") for one in screen) == 1
    answer, _ = await answered(f"e\n{line}\ntimeout_s=9\n")
    assert answer == Answer(True, arguments={"command": "npm test", "timeout_s": 9})


@pytest.mark.req("K10")
@pytest.mark.parametrize("line", ["", "timeout_s=5"])
async def test_without_a_change_the_question_stands(line: str) -> None:
    answer, screen = await answered(f"e\n{line}\nd\n")
    assert answer == Answer(False)
    assert any("not edited" in one for one in screen)


@pytest.mark.parametrize(
    "typed",
    ["{" * 100_000, '{"a":' * 50_000]
    + ['{"a":' * levels + "1" + "}" * levels for levels in (200, 500, 900)],
)
def test_hostile_json_is_an_error_like_any(typed: str) -> None:
    with pytest.raises(ValueError, match="JSON"):
        reassigned(typed, {}, TAKEN)


@pytest.mark.req("K10")
async def test_a_rule_with_control_characters_is_shown_exactly() -> None:
    """Case policy-and-schema-13."""
    hostile = Scope("ls \x1b[2K", "x", 'policy "x\r" {\n}\n')
    answer, screen = await answered("k\n1\nn\nd\n", replace(ASKED, scopes=(hostile,)))
    assert answer == Answer(False)
    assert r"│ 1  ls \x1b[2K" in screen
    assert r'│ policy "x\r" {' in screen
