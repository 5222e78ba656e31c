"""A kernel that is used as it is not meant to be: clear ends, and nothing left running (K34)."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from process.harness import Harness

import pluggableharness as ph


@pytest.fixture
def setup(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> ph.Setup:
    monkeypatch.setenv("XDG_STATE_HOME", str(harness.state))
    return ph.Setup(harness.project, providers=(ph.first_party("exec"),))


class Started:
    """Hears when a call has begun."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    def __call__(self, news: ph.News) -> None:
        if isinstance(news, ph.CallStarted):
            self.event.set()


@pytest.mark.req("K34", "K16", "K17")
async def test_closing_a_kernel_ends_its_running_call_as_cancelled(
    harness: Harness, setup: ph.Setup
) -> None:
    started = Started()
    async with ph.opened(setup) as kernel:
        sleeping = {"command": "sleep 300.125"}
        frontend = ph.answering(hear=started)
        call = asyncio.ensure_future(kernel.call("exec.bash", sleeping, frontend))
        await asyncio.wait_for(started.event.wait(), 30)
    outcome = await asyncio.wait_for(call, 30)
    assert isinstance(outcome, ph.Failure)
    assert outcome.category is ph.ErrorCategory.CANCELLED
    (log,) = harness.logs()
    assert ph.record(log).meta()["status"] == "cancelled"


@pytest.mark.req("K34", "K16")
async def test_a_kernel_is_of_no_use_after_its_block(setup: ph.Setup) -> None:
    async with ph.opened(setup) as kernel:
        assert await kernel.operations()
    everything: list[Any] = [
        kernel.operations(),
        kernel.preview("exec.bash", {"command": "true"}),
        kernel.explain("exec.bash", {"command": "true"}),
        kernel.call("exec.bash", {"command": "true"}, ph.answering()),
        kernel.calls("me", ph.answering()).__aenter__(),
    ]
    for use in everything:
        with pytest.raises(ph.UsageError, match="the kernel is closed"):
            await use
    assert not kernel._processes._seats


async def elsewhere(use: Awaitable[Any]) -> None:
    """Use something of a kernel in another thread's event loop, where it says so at once."""

    async def used() -> None:
        await use

    def in_a_thread() -> None:
        with pytest.raises(ph.UsageError, match=r"not the one .* asyncio.run_coroutine_threadsafe"):
            asyncio.run(asyncio.wait_for(used(), 30))

    await asyncio.to_thread(in_a_thread)


@pytest.mark.req("K34", "K16")
async def test_another_threads_loop_is_refused_at_the_call_and_harms_nothing(
    setup: ph.Setup, tmp_path: Path
) -> None:
    played = tmp_path / "play.yaml"
    played.write_text("messages:\n  - say: Done.\n")
    true = {"command": "true"}
    async with ph.opened(setup) as kernel:
        everything: list[Awaitable[Any]] = [
            kernel.operations(),
            kernel.preview("exec.bash", true),
            kernel.explain("exec.bash", true),
            kernel.call("exec.bash", true, ph.answering()),
            kernel.calls("me", ph.answering()).__aenter__(),
            kernel.session(ph.script(played), ph.answering()).__aenter__(),
        ]
        for use in everything:
            await elsewhere(use)
        assert not kernel._processes._seats
        allow = ph.answering(lambda item: ph.Answer(True))
        async with kernel.calls("me", allow) as calls:
            await elsewhere(calls.call("exec.bash", true))
            loop = asyncio.get_running_loop()

            def as_told() -> ph.Outcome:
                call = calls.call("exec.bash", true)
                return asyncio.run_coroutine_threadsafe(call, loop).result(30)

            assert isinstance(await asyncio.to_thread(as_told), ph.Success)
        async with kernel.session(ph.script(played), ph.answering()) as session:
            await elsewhere(session.run("go"))
            await elsewhere(session.stop())
            end = await session.run("go")
    assert end.final_text == "Done."


SAID = ph.Message(ph.Role.ASSISTANT, (ph.Text("hello"),))
NO_REPLIES: list[tuple[Any, str]] = [
    (None, "came to None"),
    ("hello", "came to a value of the type str"),
    (SAID, "came to a value of the type Message"),
    (ph.ModelReply(replace(SAID, role=ph.Role.USER)), "came to a message of the role Role.USER"),
    (ph.ModelReply(replace(SAID, role="assistant")), "came to a message of the role assistant"),  # type: ignore[arg-type]
    (ph.ModelReply(replace(SAID, blocks=("hello",))), "a value of the type str in it"),  # type: ignore[arg-type]
    (
        ph.ModelReply(replace(SAID, blocks=(ph.ToolResult("1", "a.b", ph.Success({})),))),
        "a message with a value of the type ToolResult in it",
    ),
    (ph.ModelReply("hello"), "a ModelReply of something else than a Message"),  # type: ignore[arg-type]
    (ph.ModelReply(replace(SAID, blocks=None)), "a ModelReply of something else"),  # type: ignore[arg-type]
    (ph.ModelReply(SAID, usage=None), "a ModelReply of something else"),  # type: ignore[arg-type]
]


@pytest.mark.req("K34", "K36", "P16")
@pytest.mark.parametrize(("given", "found"), NO_REPLIES, ids=[found for _, found in NO_REPLIES])
async def test_what_a_model_gives_back_and_is_no_reply_ends_the_session_as_the_models_mistake(
    harness: Harness, setup: ph.Setup, given: Any, found: str
) -> None:
    class Odd:
        name = "my own"

        async def reply(self, history: Any, offered: Any, heard: Any) -> Any:
            return given

    async with ph.opened(setup) as kernel, kernel.session(Odd(), ph.answering()) as session:
        end = await session.run("go")
    assert end.status is ph.SessionStatus.FAILED
    assert end.reason.startswith("the model 'my own' has a mistake: its reply ")
    assert found in end.reason
    read = ph.record(end.session_id)
    assert read.verify().ok
    assert read.meta()["status"] == "failed"
    assert [message.text for message in read.session().history] == ["go"]


@pytest.mark.req("K34", "P8")
@pytest.mark.parametrize("given", [None, [], {1: 2}])
async def test_arguments_that_are_no_object_are_a_failure_with_a_record(
    harness: Harness, setup: ph.Setup, given: Any
) -> None:
    async with ph.opened(setup) as kernel:
        outcome = await kernel.call("exec.bash", given, ph.answering())
    assert isinstance(outcome, ph.Failure)
    assert outcome.category is ph.ErrorCategory.INVALID_ARGUMENTS
    assert "a Python" in outcome.message
    (log,) = harness.logs()
    assert ph.record(Path(log)).verify().ok
