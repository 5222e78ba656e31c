"""The life of a provider process: how it is ended, how it ended, and how that is told."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pluggableharness.guard import Ending, GuardedProcess, GuardLost
from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure
from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.plugins.log_lines import LogLines
from pluggableharness.kernel.plugins.output import LastLines, PipeReader
from pluggableharness.kernel.plugins.stream_guard import MAY_HAVE_HAPPENED

STOP_S: Final = 2.0
"""What a provider gets to stop in order, before it is killed (K16)."""

KILL_S: Final = 5.0
"""How long what was killed is waited for; only the system can keep it longer."""

_TOLD_LINES: Final = 5


@dataclass(frozen=True, slots=True)
class Death:
    """How a process ended: a phrase such as "was killed by SIGKILL", and the facts."""

    words: str
    facts: Mapping[str, Json]


class Life:
    """One process under its guard, until nothing of it is left."""

    def __init__(self, name: str, process: GuardedProcess, secrets: tuple[str, ...]) -> None:
        self.death: asyncio.Future[Death] = asyncio.get_running_loop().create_future()
        self.secrets = secrets
        """What is blotted out of anything told about the process."""
        self.stderr = LastLines()
        self._name = name
        assert process.stderr is not None
        self._stderr_pipe = PipeReader(process.stderr, self.listener())
        self._process = process
        self._condemned = ""
        self._watch = asyncio.create_task(self._await_end(), name=f"life of {name}")

    @property
    def usable(self) -> bool:
        """Whether calls may still be sent there."""
        return not self._condemned and not self.death.done()

    def listener(self) -> Callable[[bytes], None]:
        """Return what takes one more stream of what the process prints: it joins the log, and its
        end explains a crash."""
        log = LogLines(self._name, self.secrets)

        def heard(data: bytes) -> None:
            self.stderr.add(data)
            log.add(data)

        return heard

    def on_death(self, react: Callable[[], None]) -> None:
        """Have something done once it has ended."""
        self.death.add_done_callback(lambda _: react())

    def condemn(self, why: str) -> None:
        """Have it killed with all that it started, for a reason that its calls will tell."""
        self._condemned = self._condemned or why
        self._process.stop()

    async def died(self, within_s: float) -> bool:
        """Wait for its end so long; whether it has come."""
        await asyncio.wait([self.death], timeout=within_s)
        return self.death.done()

    async def end(self, grace_s: float) -> None:
        """Wait for its own end so long, then kill; return when nothing of it is left."""
        if grace_s:
            await self.died(grace_s)
        self._process.stop()
        try:
            async with asyncio.timeout(KILL_S):
                await self._process.gone()
        except TimeoutError:
            pass  # the system holds it; its guard goes on trying
        await asyncio.wait([self._watch], timeout=KILL_S)
        self._stderr_pipe.close()

    def crash(self, call: Call) -> Failure:
        """What a call reads whose process ended under it (P15)."""
        death = self._told_death()
        lines = self.stderr.lines(self.secrets)
        message = f"{call.operation.full_name}: provider {self._name} {death.words} in the call."
        if call.operation.kind is Kind.RESOURCE:
            message = f"{message} {MAY_HAVE_HAPPENED}"
        details = {**death.facts, "stderr": lines}
        return Failure(ErrorCategory.PROCESS_CRASHED, message + told(lines), details=details)

    @property
    def manner(self) -> str:
        """How it ended, as the end of a sentence about it."""
        return self._told_death().words

    def words(self) -> str:
        """How it ended, and the last of what it wrote, for a person."""
        return self.manner + told(self.stderr.lines(self.secrets))

    def _told_death(self) -> Death:
        death = self.death.result() if self.death.done() else Death("does not end", {})
        if not self._condemned:
            return death
        return Death(f"was stopped because it {self._condemned}", death.facts)

    async def _await_end(self) -> None:
        try:
            death = _death(await self._process.ended())
        except GuardLost as lost:
            death = Death(f"ended in an unknown way ({lost})", {})
        self._stderr_pipe.drain()
        if not self.death.done():
            self.death.set_result(death)


def told(lines: list[str]) -> str:
    """The last lines of stderr as the end of a message."""
    if not lines:
        return ""
    return "".join(["\nIts last words on stderr:", *(f"\n  {x}" for x in lines[-_TOLD_LINES:])])


def _death(ending: Ending) -> Death:
    if ending.signal is not None:
        return Death(f"was killed by {ending.signal}", {"signal": ending.signal})
    return Death(f"exited with code {ending.exit_code}", {"exit_code": ending.exit_code})
