"""What leads elsewhere, or does more, by the time it runs than when it was judged (K10a)."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from unit.turn.doubles import CONTEXT, FakeFrontend, ask_resources, operation, ports

from pluggableharness.kernel.domain.call import Call, CallContext, ProposedCall
from pluggableharness.kernel.domain.message import Message, Role
from pluggableharness.kernel.domain.operation import Kind, Schema, SchemaType
from pluggableharness.kernel.domain.plan import Answer, PlanItem
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.turn.leading import moves
from pluggableharness.kernel.turn.turn import run_turn

PATH = Schema(SchemaType.OBJECT, properties={"path": Schema(SchemaType.STRING)})
ANY_WRITE = replace(operation("write", Kind.RESOURCE), input_schema=PATH)


def at(*places: str) -> Callable[[Call], Awaitable[Call]]:
    """A look at where /work/x leads, each time to the next of these."""
    left = list(places)

    async def locate(call: Call) -> Call:
        return replace(call, places={"/work/x": left.pop(0) if len(left) > 1 else left[0]})

    return locate


def calls_path() -> Message:
    return Message(Role.ASSISTANT, (ProposedCall("use-0", "toy.write", {"path": "x"}),))


@pytest.mark.req("K10a")
async def test_a_path_that_leads_elsewhere_than_shown_goes_back_to_the_person() -> None:
    seen: list[tuple[str, str]] = []

    def answer(item: PlanItem, changed: str) -> Answer:
        seen.append((str(item.preview), changed))
        return Answer(True)

    given, providers, *_ = ports(calls_path(), frontend=FakeFrontend(answer), decide=ask_resources)
    given = replace(given, locate=at("/work/a", "/work/b"))
    await run_turn(given, CONTEXT, [], [ANY_WRITE])
    assert [("/work/a" in shown, "/work/b" in shown) for shown, _ in seen] == [
        (True, False),
        (False, True),
    ]
    assert seen[1][1] == "'/work/x' led to '/work/a' and leads to '/work/b' now"
    assert providers.trace == ["start write", "end write"]


@pytest.mark.req("K7", "K10a")
async def test_a_line_that_does_more_by_the_time_it_runs_is_judged_anew_and_asked_about() -> None:
    """A repository's configuration that came between a rule's allow, or a person's, and the run."""
    why = "/work/.git/config holds core.fsmonitor, by which git may run other programs"
    seen: list[str] = []

    def answer(item: PlanItem, changed: str) -> Answer:
        seen.append(changed)
        return Answer(True)

    def by_rule(call: Call) -> Verdict:
        return Verdict(Decision.ASK if call.distrusted else Decision.ALLOW, "rule r")

    for decide, expected in (
        (by_rule, [f"since then, {why}"]),
        (ask_resources, ["", f"since then, {why}"]),
    ):
        seen.clear()
        looks = ["", why]

        async def locate(call: Call, looks: list[str] = looks) -> Call:
            return replace(call, distrusted=looks.pop(0) if len(looks) > 1 else looks[0])

        given, providers, *_ = ports(calls_path(), frontend=FakeFrontend(answer), decide=decide)
        await run_turn(replace(given, locate=locate), CONTEXT, [], [ANY_WRITE])
        assert seen == expected
        assert providers.trace == ["start write", "end write"]


@pytest.mark.req("K7", "K10a")
async def test_what_a_line_does_beside_its_words_is_shown_before_it_is_approved() -> None:
    programs = ["fsmonitor = 'good'", "fsmonitor = 'evil'"]
    looks = list(programs)
    seen: list[str] = []

    async def locate(call: Call) -> Call:
        return replace(call, distrusted=looks.pop(0) if len(looks) > 1 else looks[0])

    def answer(item: PlanItem, changed: str) -> Answer:
        seen.append(str(item.preview))
        return Answer(True)

    given, providers, *_ = ports(calls_path(), frontend=FakeFrontend(answer), decide=ask_resources)
    await run_turn(replace(given, locate=locate), CONTEXT, [], [ANY_WRITE])
    assert [[one in shown for one in programs] for shown in seen] == [[True, False], [False, True]]
    assert providers.trace == ["start write", "end write"]


@pytest.mark.req("K10a")
def test_a_name_that_came_or_went_has_not_moved_unless_it_leads_elsewhere() -> None:
    """A title that is an earlier call's new file, say."""

    def looked(places: dict[str, str]) -> Call:
        call = Call("c", ANY_WRITE, {"title": "x"}, CallContext("s", "t", "/work"))
        return replace(call, places=places)

    here = {"/work": "/real/work"}
    there, linked = {**here, "/work/x": "/real/work/x"}, {**here, "/work/x": "/etc/x"}
    assert moves(looked({}), looked(there)) == moves(looked(there), looked({})) == ""
    assert "leads to '/etc/x' now" in moves(looked({}), looked(linked))
    assert "led to '/etc/x'" in moves(looked(linked), looked({}))
    assert moves(looked(here), looked({"/work": "/elsewhere"})) != ""


@pytest.mark.req("K5a", "K10a")
async def test_a_rule_judges_anew_what_leads_elsewhere_by_the_time_it_runs() -> None:
    judged: list[str] = []

    def decide(call: Call) -> Verdict:
        judged.append(call.places["/work/x"])
        denied = call.places["/work/x"] == "/work/.git/config"
        return Verdict(Decision.DENY if denied else Decision.ALLOW, "rule r")

    given, providers, *_ = ports(calls_path(), decide=decide)
    await run_turn(replace(given, locate=at("/a", "/work/.git/config")), CONTEXT, [], [ANY_WRITE])
    assert judged == ["/a", "/work/.git/config"] and providers.trace == []
    given, providers, *_ = ports(calls_path(), decide=decide)
    await run_turn(replace(given, locate=at("/a", "/b")), CONTEXT, [], [ANY_WRITE])
    assert judged[2:] == ["/a", "/b"] and providers.trace == ["start write", "end write"]
