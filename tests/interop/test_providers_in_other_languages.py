"""Providers that share no code with us run under our kernel as they are."""

import asyncio
import os
import shlex
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from interop.builds import go_programs, node_provider
from process.harness import Harness, lines, placed
from rogue_host import LIMIT_S, hosted

from pluggableharness.kernel.domain.cancelled import CallCancelled
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, LeadUp, Progress, Success
from pluggableharness.kernel.plugins.checking import Status, check_provider
from pluggableharness.kernel.plugins.spec import ProviderSpec


@dataclass(frozen=True)
class Foreign:
    """A provider that somebody else wrote, and one call to it."""

    command: tuple[str, ...]
    config: dict[str, str]
    operation: str
    arguments: dict[str, str]
    payload: dict[str, str]

    @property
    def spec(self) -> ProviderSpec:
        return ProviderSpec("foreign", self.command, dict(self.config))


@pytest.fixture(params=["go", "node"])
def foreign(request: pytest.FixtureRequest) -> Foreign:
    if request.param == "go":
        command = (str(go_programs() / "provider"),)
        return Foreign(
            command, {"greeting": "Ahoy"}, "greet", {"name": "Ada"}, {"greeting": "Ahoy Ada"}
        )
    return Foreign(node_provider(), {"ending": "?"}, "shout", {"text": "hey"}, {"loud": "HEY?"})


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    with placed(tmp_path) as started:
        yield started


@pytest.mark.req("P10", "P28", "P30")
async def test_a_call_streams_and_returns_with_the_configuration_it_was_given(
    foreign: Foreign,
) -> None:
    heard: list[LeadUp] = []

    async def hear(event: LeadUp) -> None:
        heard.append(event)

    async with hosted(foreign.spec) as host:
        call = host.make(f"foreign.{foreign.operation}", **foreign.arguments)
        assert await host.invoke(call, hear) == Success(foreign.payload)
        [progress] = heard
        assert isinstance(progress, Progress) and progress.fraction == 0.5
        assert host.providers.producer("foreign").source.startswith("interop/")


@pytest.mark.req("P25", "P26")
async def test_a_cancelled_call_reports_through_the_broker_what_it_had_done(
    foreign: Foreign,
) -> None:
    at_work = asyncio.Event()

    async def hear(event: LeadUp) -> None:
        at_work.set()

    async with hosted(foreign.spec) as host:
        call = host.make("foreign.wait", thing="a wall")
        running = asyncio.create_task(host.invoke(call, hear))
        await asyncio.wait_for(at_work.wait(), LIMIT_S)
        running.cancel()
        with pytest.raises(CallCancelled) as cancelled:
            await running
        assert cancelled.value.failure.category is ErrorCategory.CANCELLED
        assert cancelled.value.failure.details == {"worked_on": "a wall"}
        # It was not killed for that: the same process goes on.
        assert len(running_as(foreign.command)) == 1
        outcome = await host.run(f"foreign.{foreign.operation}", **foreign.arguments)
        assert outcome == Success(foreign.payload)


@pytest.mark.req("P15", "K15", "K16")
async def test_one_that_is_killed_ends_its_call_and_is_started_again(foreign: Foreign) -> None:
    async def hear(event: LeadUp) -> None:
        for pid in running_as(foreign.command):
            os.kill(pid, signal.SIGKILL)

    async with hosted(foreign.spec) as host:
        outcome = await host.invoke(host.make("foreign.wait", thing="a wall"), hear)
        assert isinstance(outcome, Failure)
        assert outcome.category is ErrorCategory.PROCESS_CRASHED
        again = await host.run(f"foreign.{foreign.operation}", **foreign.arguments)
        assert again == Success(foreign.payload)
    assert running_as(foreign.command) == []


@pytest.mark.req("K4", "K33")
def test_harness_call_runs_it(harness: Harness, foreign: Foreign) -> None:
    pairs = [f"{name}={value}" for name, value in foreign.arguments.items()]
    command = ("--provider", shlex.join(foreign.command))
    done = harness.run("call", f"foreign.{foreign.operation}", *pairs, "--json", *command)
    assert done.returncode == 0, done.stderr
    assert "progress" in {line["type"] for line in lines(done.stdout)}


@pytest.mark.req("P33")
async def test_it_passes_the_whole_check(foreign: Foreign) -> None:
    report = await check_provider(foreign.spec, invoke_resources=True)
    assert [line for line in report.lines if line.status is not Status.PASSED] == []


def running_as(command: tuple[str, ...]) -> list[int]:
    """The living processes that were started as exactly this command."""
    wanted = b"".join(word.encode() + b"\0" for word in command)
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cmdline").read_bytes() == wanted:
                found.append(int(entry.name))
        except OSError:
            continue
    return found
