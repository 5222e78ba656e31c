"""What a person must not miss of a question stands first, and above the keys of a long one."""

import pytest
from unit.frontends.fakes import EDIT, call, diff, item
from unit.frontends.person import PROMPT, Person
from unit.frontends.watching import watched

from pluggableharness.kernel.domain.render import GroupNode, RenderNode, TextNode, TextStyle

FAILS = TextNode("This would fail: a.py was not read", TextStyle.WARNING)
LEADS = TextNode("a.py leads to b.py", TextStyle.WARNING)
CHANGE = diff("-x", "+y")


@pytest.mark.req("P29", "K10", "K32")
@pytest.mark.parametrize(
    ("preview", "warned", "shown"),
    [
        (FAILS, ["│ This would fail: a.py was not read"], []),
        (
            GroupNode((FAILS, CHANGE)),
            ["│ This would fail: a.py was not read"],
            ["│ 1 - x", "│ 1 + y"],
        ),
        (
            GroupNode((LEADS, GroupNode((CHANGE, FAILS)))),
            ["│ a.py leads to b.py", "│ This would fail: a.py was not read"],
            ["│ 1 - x", "│ 1 + y"],
        ),
        (CHANGE, [], ["│ 1 - x", "│ 1 + y"]),
    ],
)
async def test_what_a_preview_warns_of_is_read_first_and_the_question_is_asked_all_the_same(
    preview: RenderNode, warned: list[str], shown: list[str]
) -> None:
    with watched() as terminal:
        terminal.type("a\n")
        answer = await terminal.frontend.decide(item(call(EDIT, path="a.py"), preview), "")
        assert answer is not None and answer.allow
        assert terminal.screen[:-1] == [
            "┌ moderate · filesystem.edit_file",
            *warned,
            "│ path  a.py",
            *shown,
            "│ asked: default for resource",
        ]


@pytest.mark.req("K32")
@pytest.mark.parametrize(("rows", "heads"), [(24, 2), (100, 1)])
def test_the_head_of_a_question_is_repeated_where_the_window_is_too_low_for_it(
    rows: int, heads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Person, "rows", rows)
    person = Person("one\n" * 20 + "last")
    try:
        person.sees(PROMPT)
        lines = [line for line in str(person.terminal.before).splitlines() if "exec.bash" in line]
        assert len(lines) == heads
        assert ("run one" in lines[-1]) is (heads == 2)
        person.types("?")
        person.sees(PROMPT)
        person.types("a")
        person.sees("allowed")
    finally:
        person.terminal.close(force=True)
