"""What every end of a function means."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest

from pluggableharness.sdk import (
    Category,
    ConcurrencyConflict,
    Context,
    ExecutionFailed,
    InvalidArguments,
    KernelUnavailable,
    Misuse,
    NotFound,
    PermissionDenied,
    Provider,
    Secret,
    SessionOutcome,
    TimedOut,
    ToolFailure,
)
from pluggableharness.sdk.render import Action, Group, Table, Text
from pluggableharness.sdk.testing import ExitStatus, Failure, Outcome, OutputChunk, opened

WAIT = 5.0
SECRET = "hunter2-s3cret"


@dataclass(frozen=True, slots=True)
class Settings:
    token: Annotated[str, Secret] = ""


def provider_of(function: Any, **traits: Any) -> Provider[Settings]:
    provider = Provider("sample", settings=Settings, version="1")
    function.__doc__ = "Act."
    provider.resource(risk="low", name="act", **traits)(function)
    return provider


async def outcome_of(function: Any, *, settings: Any = None, **traits: Any) -> Outcome:
    async with opened(provider_of(function, **traits), settings=settings) as tool:
        return await tool("act")


@pytest.mark.req("P15", "P32")
@pytest.mark.parametrize(
    ("kind", "category"),
    [
        (InvalidArguments, "invalid_arguments"),
        (NotFound, "not_found"),
        (PermissionDenied, "permission_denied"),
        (ExecutionFailed, "execution_failed"),
        (TimedOut, "timeout"),
        (ConcurrencyConflict, "concurrency_conflict"),
        (ToolFailure, "unknown"),
    ],
)
async def test_a_failure_ends_the_call_with_its_category(kind: Any, category: Any) -> None:
    async def act(ctx: Context[Settings]) -> dict[str, Any]:
        raise kind("it is so", retryable=True, details={"where": ["here"]})

    outcome = await outcome_of(act)
    assert outcome.error == Failure(Category(category), "it is so", True, {"where": ["here"]})
    assert isinstance(outcome.exception, kind)


def test_there_is_no_failure_for_what_only_a_kernel_can_tell() -> None:
    assert "process_crashed" not in {category.value for category in Category}


@pytest.mark.req("P15", "P16")
@pytest.mark.parametrize("error", [ValueError("boom"), SystemExit(3), asyncio.CancelledError("x")])
async def test_any_other_exception_is_unknown_and_says_what_it_was_without_a_traceback(
    error: Any,
) -> Any:
    """Case plugin-process-03: an exception is an error, and the next call works."""

    async def act(ctx: Context[Settings], fail: bool = True) -> dict[str, Any]:
        if fail:
            raise error
        return {}

    async with opened(provider_of(act)) as tool:
        outcome = await tool("act")
        assert (await tool("act", fail=False)).payload == {}
        (entry,) = tool.logged
    assert outcome.failure.category is Category.UNKNOWN
    assert outcome.failure.message == f"{type(error).__name__}: {error}"
    assert outcome.failure.details is None
    assert not outcome.failure.retryable
    assert entry.level == "debug"
    assert entry.message.startswith("act failed: Traceback")


@pytest.mark.req("P16", "P31")
async def test_a_secret_is_in_nothing_that_a_provider_sends() -> Any:
    async def act(ctx: Context[Settings], how: str = "return") -> dict[str, Any]:
        token = ctx.settings.token
        await ctx.output(b"<" + token.encode() + b">")
        await ctx.progress(f"using {token}")
        await ctx.partial({"header": {token: [f"Bearer {token}"]}})
        await ctx.log("info", f"token {token}", token=token)
        if how == "fail":
            raise ExecutionFailed(f"refused {token}", details={"token": [token]})
        if how == "crash":
            raise RuntimeError(f"bad {token}")
        if how == "cancel":
            ctx.report = {"sent": token}
            await asyncio.Event().wait()
        return {"seen": token}

    provider = provider_of(act, streaming=True)

    @provider.operations["act"].preview
    async def _(ctx: Context[Settings], how: str) -> Group:
        return Group([Text(ctx.settings.token), Table(["a"], [[ctx.settings.token]])])

    @provider.operations["act"].render
    def _(payload: dict[str, Any]) -> Action:
        return Action("i", "label", "p", "t", {"payload": [SECRET]})

    async with opened(provider, settings={"token": SECRET}) as tool:
        outcomes = [await tool("act", how=how) for how in ("return", "fail", "crash")]
        waiting = tool.start("act", how="cancel")
        await waiting.until(lambda event: hasattr(event, "payload"))
        outcomes.append(await waiting.cancel())
        nodes = [await tool.preview("act", how="x"), tool.render("act", {})]
        told = [(outcome.events, outcome.error, outcome.report) for outcome in outcomes]
        everything = repr((told, nodes, tool.logged))
    assert SECRET not in everything
    assert everything.count("[secret]") > 20
    assert outcomes[0].payload == {"seen": "[secret]"}


@pytest.mark.req("P31", "P10")
async def test_a_secret_that_is_cut_between_chunks_is_masked_stream_by_stream() -> Any:
    async def act(ctx: Context[Settings], code: bool) -> dict[str, Any]:
        token = ctx.settings.token.encode()
        for number in range(len(token)):
            await ctx.output(token[number : number + 1])
            await ctx.output(b"x" * 70_000, "stderr")
            await ctx.progress("more")
        await ctx.output(b"\xffhunter")
        if code:
            await ctx.exit_status(0)
        return {}

    provider = provider_of(act, streaming=True)
    async with opened(provider, settings={"token": SECRET}) as tool:
        for code in (False, True):
            outcome = await tool("act", code=code)
            assert outcome.output("stdout") == b"[secret]\xffhunter"
            assert outcome.output("stderr") == b"x" * 70_000 * len(SECRET)
            assert isinstance(outcome.events[-2], ExitStatus if code else OutputChunk)


@pytest.mark.req("P31")
async def test_a_secret_is_masked_in_what_is_emitted_and_in_values_that_json_does_not_have() -> Any:
    async def act(ctx: Context[Settings]) -> dict[str, Any]:
        token = ctx.settings.token
        await ctx.emit("memory_write", b'{"token":"%b"}' % token.encode(), "1")
        await ctx.log("warn", "odd", error=RuntimeError(token), data=token.encode(), kept={1})
        raise ExecutionFailed("odd", details={"error": RuntimeError(token)})

    async with opened(provider_of(act), settings={"token": SECRET}) as tool:
        failed = (await tool("act")).error
        assert SECRET not in repr((failed, tool.logged, tool.emitted))
        (_, _, payload, _) = tool.emitted[0]
    assert payload == b'{"token":"%b"}' % (b"*" * len(SECRET))


@pytest.mark.req("P31")
async def test_a_secret_of_an_earlier_configuration_stays_masked() -> Any:
    async def act(ctx: Context[Settings]) -> dict[str, Any]:
        token = ctx.settings.token
        await configured_anew.wait()
        return {"seen": token}

    configured_anew = asyncio.Event()
    async with opened(provider_of(act), settings={"token": SECRET}) as tool:
        running = tool.start("act")
        await asyncio.sleep(0)
        tool._runner.configure({"token": "another-one"})
        configured_anew.set()
        assert (await running).payload == {"seen": "[secret]"}


async def test_a_test_that_expects_the_other_end_of_a_call_is_told_what_came() -> None:
    async def act(ctx: Context[Settings], fail: bool) -> dict[str, Any]:
        if fail:
            raise NotFound("nothing there")
        return {"count": 3}

    async with opened(provider_of(act)) as tool:
        with pytest.raises(AssertionError, match=r"did not fail.*'count': 3"):
            _ = (await tool("act", fail=False)).failure
        with pytest.raises(AssertionError, match=r"has no result.*nothing there"):
            _ = (await tool("act", fail=True)).payload


@pytest.mark.req("P31")
async def test_too_short_a_secret_does_not_mutilate_everything() -> Any:
    async def act(ctx: Context[Settings]) -> dict[str, Any]:
        return {"text": "an apple"}

    assert (await outcome_of(act, settings={"token": "a"})).payload == {"text": "an apple"}


@pytest.mark.req("P9")
async def test_a_call_knows_where_it_belongs() -> Any:
    async def act(ctx: Context[Settings]) -> dict[str, Any]:
        assert ctx.working_directory == Path("/somewhere")
        return {"ids": [ctx.call_id, ctx.session_id, ctx.turn_id]}

    async with opened(provider_of(act), cwd="/somewhere", session_id="s") as tool:
        assert (await tool("act")).payload == {"ids": ["call-1", "s", "turn-1"]}
        assert (await tool("act", session_id="t")).payload == {"ids": ["call-2", "t", "turn-1"]}


@pytest.mark.req("P9")
@pytest.mark.parametrize("directory", ["", "relative"])
async def test_a_call_without_an_absolute_directory_never_falls_back_to_the_providers_own(
    directory: Any,
) -> Any:
    async def act(ctx: Context[Settings]) -> dict[str, Any]:
        return {"cwd": str(ctx.working_directory)}

    async with opened(provider_of(act)) as tool:
        tool._cwd = directory
        error = (await tool("act")).failure
    assert error.category is Category.EXECUTION_FAILED
    assert "expected an absolute path" in error.message


@pytest.mark.req("P25", "P26")
async def test_a_cancelled_function_cleans_up_and_reports_what_it_had_done() -> Any:
    cleaned = []

    async def act(ctx: Context[Settings]) -> dict[str, Any]:
        await ctx.progress("started")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)
            ctx.report = {"written": ["a.txt"]}
        return {}

    async with opened(provider_of(act, streaming=True)) as tool:
        call = tool.start("act")
        await call.until(lambda event: True)
        outcome = await call.cancel()
    assert cleaned == [True]
    assert outcome.cancelled
    assert outcome.failure.category is Category.CANCELLED
    assert outcome.failure.details == {"written": ["a.txt"]}


@pytest.mark.req("P25", "P26")
@pytest.mark.parametrize("end", ["return", "fail"])
async def test_a_function_that_swallows_its_cancellation_was_cancelled_all_the_same(
    end: Any,
) -> Any:
    async def act(ctx: Context[Settings]) -> dict[str, Any]:
        await ctx.progress("started")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ctx.report = {"half": True}
            if end == "fail":
                raise ExecutionFailed("cancelled half-way") from None
        return {"looks": "fine"}

    async with opened(provider_of(act, streaming=True)) as tool:
        call = tool.start("act")
        await call.until(lambda event: True)
        outcome = await call.cancel()
    assert outcome.cancelled
    assert outcome.report == {"half": True}
    assert len(outcome.events) == 1


async def test_a_timeout_inside_the_function_is_no_cancellation_of_the_call() -> Any:
    async def act(ctx: Context[Settings]) -> dict[str, Any]:
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            return {"timed_out": True}
        return {}

    assert (await outcome_of(act)).payload == {"timed_out": True}


async def test_calls_that_still_run_are_cancelled_when_the_provider_closes() -> Any:
    ended = []

    async def act(ctx: Context[Settings]) -> dict[str, Any]:
        await ctx.progress("started")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)
        return {}

    async with opened(provider_of(act, streaming=True)) as tool:
        await tool.start("act").until(lambda event: True)
    assert ended == [True]


async def test_waiting_for_an_event_that_never_comes_fails_instead_of_hanging() -> Any:
    async def act(ctx: Context[Settings]) -> dict[str, Any]:
        return {}

    async with opened(provider_of(act)) as tool:
        with pytest.raises(AssertionError, match="ended without the event"):
            await tool.start("act").until(lambda event: False)


@pytest.mark.req("P32")
async def test_emit_log_and_run_session_are_plain_awaitables() -> Any:
    async def act(ctx: Context[Settings]) -> dict[str, Any]:
        await ctx.log("warn", "careful", count=2)
        emitted = await ctx.emit("memory_write", b"\x01", "3")
        session = await ctx.run_session("worker", "dig", providers=["search"], max_depth=1)
        return {"id": emitted.id, "sequence": emitted.sequence, "said": session.final_message}

    requests = []

    async def run_session(request: Any) -> Any:
        requests.append(request)
        return SessionOutcome("child", "completed", "dug", 0.5, 1, 2)

    async with opened(provider_of(act), run_session=run_session) as tool:
        outcome = await tool("act")
        (entry,) = tool.logged
        (emitted,) = tool.emitted
    assert outcome.payload == {"id": "event-1", "sequence": 1, "said": "dug"}
    assert (entry.level, entry.message, entry.fields) == ("warn", "careful", {"count": 2})
    assert (emitted[0].session_id, *emitted[1:]) == ("session-1", "memory_write", b"\x01", "3")
    (request,) = requests
    assert (request.profile, request.prompt, request.providers) == ("worker", "dig", ("search",))
    assert (request.max_depth, request.max_cost_usd) == (1, None)


async def test_without_a_kernel_run_session_says_so() -> Any:
    async def act(ctx: Context[Settings]) -> dict[str, Any]:
        await ctx.run_session("worker", "dig")
        return {}

    outcome = await outcome_of(act)
    assert outcome.failure.category is Category.UNKNOWN
    assert isinstance(outcome.exception, KernelUnavailable)


@pytest.mark.req("P32")
@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda ctx: ctx.log("loud", "x"), "ctx.log(): the level is 'loud', expected one of trace"),
        (lambda ctx: ctx.emit("news", b"", "1"), "ctx.emit(): the kind is 'news', expected one of"),
        (
            lambda ctx: ctx.run_session("a", "b", max_depth=0),
            "ctx.run_session(): max_depth is 0, expected more than 0",
        ),
        (
            lambda ctx: ctx.run_session("a", "b", max_cost_usd=float("nan")),
            "ctx.run_session(): max_cost_usd is nan, expected more than 0",
        ),
    ],
    ids=["level", "kind", "depth", "cost"],
)
async def test_a_callback_that_says_nothing_is_told_to_the_author(use: Any, message: Any) -> Any:
    async def act(ctx: Context[Settings]) -> dict[str, Any]:
        await use(ctx)
        return {}

    with pytest.raises(Misuse) as told:
        await outcome_of(act)
    assert str(told.value).startswith(message)
