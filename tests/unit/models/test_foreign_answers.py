"""Answers that no vendor should give, and keys and addresses that no request can carry (K21)."""

import json
import math
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

import pytest
from model_server import ModelServer, Reply
from unit.models.vendors import (
    ASKED,
    AT_ONCE,
    COMPATIBLE,
    TOOLS,
    Listener,
    answering,
    one_reply,
)

from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.message import (
    NOTHING_USED,
    Cut,
    Message,
    ModelReply,
    Role,
    Text,
    Usage,
)
from pluggableharness.kernel.domain.model_choice import ModelChoice, Vendor
from pluggableharness.kernel.domain.profile import Profile
from pluggableharness.kernel.models.fault import FaultKind, ModelFault
from pluggableharness.kernel.models.vendors import VendorModels

# Only the command line keeps its user from what a vendor's library warns of.
pytestmark = pytest.mark.filterwarnings("ignore")


@dataclass(frozen=True)
class Odd(Reply):
    """A stream with one more event in its middle, or with other figures at its end."""

    event: str = ""
    used: Mapping[str, Any] | None = None

    def blocks(self) -> list[str]:
        first, *rest = super().blocks()
        if self.used is not None:
            last = json.loads(rest[-2].removeprefix("data: ")) | {"usage": self.used}
            rest[-2] = f"data: {json.dumps(last)}\n\n"
        odd = [f"data: {self.event}\n\n"] if self.event else []
        return [first, *odd, *rest]


ODD = ["7", "null", "[]", "true", '"text"', '{"choices": 7}', '{"choices": [7]}', "{broken"]


async def text_or_fault(played: Odd) -> str | ModelFault:
    try:
        reply, _ = await one_reply(COMPATIBLE, played)
    except ModelFault as fault:
        return fault
    return reply.message.text


@pytest.mark.req("K21", "F10")
@pytest.mark.parametrize("event", ODD)
async def test_an_event_that_no_library_expects_is_a_fault_or_read_over(event: str) -> None:
    said = await text_or_fault(Odd(text="fine", event=event))
    if isinstance(said, ModelFault):
        assert said.kind is FaultKind.HOPELESS
        assert "answers what nobody understands" in str(said)
    else:
        assert said == "fine"


@pytest.mark.req("K21", "F10")
async def test_a_fallback_answers_for_a_model_whose_stream_makes_its_library_stumble() -> None:
    listener = Listener()
    with ModelServer([Odd(text="odd", event="7"), Reply(text="fine")]) as server:
        first = COMPATIBLE.choice(server)
        async with answering(first, replace(first, id="other")) as model:
            reply = await model.reply([ASKED], TOOLS, listener)
    assert reply.message.text == "fine"
    assert any("answers what nobody understands" in notice for notice in listener.notices)


FIGURES = [1.5, 10**30, -5, "many", None, True, [], math.nan]


@pytest.mark.req("K19", "K21")
@pytest.mark.parametrize("figure", [one for one in FIGURES if one is not True], ids=repr)
async def test_figures_that_count_nothing_cost_the_message_nothing(figure: Any) -> None:
    used = {"prompt_tokens": figure, "completion_tokens": figure, "total_tokens": figure}
    reply, _ = await one_reply(COMPATIBLE, Odd(text="fine", used=used))
    assert reply.message.text == "fine"
    assert reply.usage == NOTHING_USED


@pytest.mark.req("K19")
@pytest.mark.parametrize("figure", FIGURES, ids=repr)
def test_usage_and_price_are_figures_whoever_made_them(figure: Any) -> None:
    assert Usage(figure, 3, figure, figure) == Usage(0, 3, 0, 0)
    message = Message(Role.ASSISTANT, (Text("x"),))
    wrong = figure not in (1.5, 10**30, True)
    assert (ModelReply(message, cost_usd=figure).cost_usd == 0.0) == wrong


@pytest.mark.req("K36")
@pytest.mark.parametrize(
    ("finish", "cut"),
    [("stop", None), ("length", Cut.LENGTH), ("content_filter", Cut.FILTER)],
)
async def test_a_message_says_whether_its_vendor_cut_it(finish: str, cut: Cut | None) -> None:
    reply, _ = await one_reply(COMPATIBLE, Reply(text="so far", finish=finish))
    assert reply.cut is cut
    assert reply.message.text == "so far"


def made(environment: Mapping[str, str], choice: ModelChoice) -> None:
    VendorModels(environment, AsyncExitStack(), AT_ONCE)(Profile("tests", models=(choice,)))


KEYS = ["secret\n", "secret\r", "secret ", " secret", "sec\tret", "sécret", "secret\x00", "\u200bx"]


@pytest.mark.req("F10", "R6")
@pytest.mark.parametrize("key", KEYS, ids=ascii)
@pytest.mark.parametrize("vendor", list(Vendor))
def test_a_key_that_fits_no_request_is_refused_before_any_is_made(vendor: Vendor, key: str) -> None:
    choice = ModelChoice(vendor, "any", "http://localhost:1/v1", "THE_KEY")
    with pytest.raises(UsageError) as refused:
        made({"THE_KEY": key}, choice)
    assert "the key in THE_KEY" in str(refused.value)
    assert key.strip() not in str(refused.value)


ADDRESSES = [
    "localhost:1234/v1", "nothing", "http://", "http://[half", "http://host:99999", "http://host:x",
    "http://a b/v1", "http://host/\n", "ftp://host/v1", "//host/v1",
]  # fmt: skip


@pytest.mark.req("F10")
@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("written", ["base_url", "OPENAI_BASE_URL"])
def test_an_address_that_is_none_is_refused_before_any_request(written: str, address: str) -> None:
    in_file = address if written == "base_url" else ""
    choice = ModelChoice(Vendor.COMPATIBLE, "any", in_file, "")
    with pytest.raises(UsageError, match=f"the address in {written} is none"):
        made({"OPENAI_BASE_URL": address}, choice)
