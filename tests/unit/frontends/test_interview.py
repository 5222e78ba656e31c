"""Interactive calls: the person's answer in the shape of the operation's output."""

import asyncio

import pytest
from unit.frontends.fakes import TEXT, call, operation
from unit.frontends.watching import BOUND_S, watched

from pluggableharness.kernel.domain.operation import Kind, Schema, SchemaType
from pluggableharness.kernel.domain.values import JsonObject

ANSWER = Schema(
    SchemaType.OBJECT,
    properties={"answer": TEXT, "selected": Schema(SchemaType.ARRAY, items=TEXT)},
    required=("answer",),
)
ASK = operation("user.ask_user", "question", kind=Kind.INTERACTIVE, output=ANSWER)


async def answered(typed: str, **arguments: object) -> tuple[JsonObject | None, list[str]]:
    with watched() as terminal:
        terminal.type(typed)
        terminal.hang_up()
        async with asyncio.timeout(BOUND_S):
            answer = await terminal.frontend.answer(call(ASK, question="Which?", **arguments))
        return answer, terminal.screen


@pytest.mark.req("C21")
async def test_a_line_is_the_answer() -> None:
    answer, screen = await answered("the blue one\n")
    assert answer == {"answer": "the blue one"}
    assert screen[:3] == ["┌ user.ask_user", "│ question  Which?", "└ > "]


@pytest.mark.req("C21")
@pytest.mark.parametrize(
    ("typed", "several", "expected"),
    [
        ("2\n", False, {"answer": "blue", "selected": ["blue"]}),
        ("blue\n", False, {"answer": "blue", "selected": ["blue"]}),
        ("7\n0\n1\n", False, {"answer": "red", "selected": ["red"]}),
        ("1,2\n2\n", False, {"answer": "blue", "selected": ["blue"]}),
        ("2, 1,2\n", True, {"answer": "blue, red", "selected": ["blue", "red"]}),
        ("b\n", False, {"answer": "blue", "selected": ["blue"]}),
        ("c\nA\n", False, {"answer": "red", "selected": ["red"]}),
        ("b a\n", True, {"answer": "blue, red", "selected": ["blue", "red"]}),
        ("9999999999999999999\n\u0662\n \n", False, None),
        ("7\n8\n9\n1\n", False, None),
        ("", False, None),
    ],
)
async def test_options_are_chosen_by_number_or_letter(
    typed: str, several: bool, expected: JsonObject | None
) -> None:
    """Case agent-user-task-05: a number out of range, and the end of the input."""
    answer, screen = await answered(typed, options=["red", "blue"], multiple=several)
    assert answer == expected
    assert screen[-1] != ""
    assert [line for line in screen if line[0] == "│" and line[2:3].isdigit()] == [
        "│ 1. red",
        "│ 2. blue",
    ]


@pytest.mark.req("C21")
async def test_a_letter_that_is_an_option_means_itself() -> None:
    answer, _ = await answered("a\n", options=["b", "a"])
    assert answer == {"answer": "a", "selected": ["a"]}


@pytest.mark.req("C21")
async def test_what_may_be_typed_is_said() -> None:
    _, screen = await answered("\n", options=["red", "blue"], multiple=True, default="blue")
    assert screen[-1] == "└ 1-2, several: 1,2 (Return for the default) > "


@pytest.mark.req("C21")
async def test_an_empty_line_is_the_default_or_no_answer() -> None:
    assert (await answered("\n", default="blue"))[0] == {"answer": "blue"}
    assert (await answered("\n\n\nred\n"))[0] is None


@pytest.mark.req("C21")
async def test_a_default_beside_the_options_is_the_answer_of_who_just_confirms() -> None:
    options = ["keep both", "drop one"]
    for default in ("ask me later", "keep both, drop one"):
        answer, _ = await answered("\n", options=options, multiple=True, default=default)
        assert answer == {"answer": default}
    answer, _ = await answered("\n", options=options, default="drop one")
    assert answer == {"answer": "drop one", "selected": ["drop one"]}


@pytest.mark.req("C21")
async def test_a_question_is_as_suspect_as_any_text() -> None:
    _, screen = await answered("x\n", options=["a\x1b[2Jb"])
    assert r'│ 1. "a\x1b[2Jb"' in screen


@pytest.mark.parametrize(
    ("schema", "typed", "expected"),
    [
        (Schema(SchemaType.BOOLEAN), "maybe\nYes\n", True),
        (Schema(SchemaType.NUMBER), "two\nnan\n2\n", 2),
        (Schema(SchemaType.NUMBER), "2.5\n", 2.5),
        (Schema(SchemaType.STRING, enum_values=("on", "off")), "of\noff\n", "off"),
        (Schema(SchemaType.ARRAY, items=TEXT), '{}\n["a"]\n', ["a"]),
        (Schema(SchemaType.OBJECT), '[]\n{"a": 1}\n', {"a": 1}),
    ],
)
async def test_every_field_that_the_output_requires_is_asked_for(
    schema: Schema, typed: str, expected: object
) -> None:
    output = Schema(
        SchemaType.OBJECT, properties={"name": TEXT, "value": schema}, required=("name", "value")
    )
    form = operation("forms.fill", kind=Kind.INTERACTIVE, output=output)
    with watched() as terminal:
        terminal.type("Ada\n" + typed)
        answer = await terminal.frontend.answer(call(form))
        assert answer == {"name": "Ada", "value": expected}
        assert any(line.startswith("└ value > ") for line in terminal.screen)


async def test_a_cancelled_question_leaves_the_screen_to_others() -> None:
    with watched() as terminal:
        asked = asyncio.ensure_future(terminal.frontend.answer(call(ASK, question="Which?")))
        await terminal.until(lambda: "└ > " in terminal.out.getvalue())
        asked.cancel()
        await asyncio.wait([asked], timeout=BOUND_S)
        assert asked.cancelled()
        terminal.type("red\n")
        answer = await terminal.frontend.answer(call(ASK, question="Which?"))
        assert answer == {"answer": "red"}
