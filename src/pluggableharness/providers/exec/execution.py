"""Runs one command and tells the call's stream and record what happens (C10, C11)."""

from __future__ import annotations

import asyncio
import errno
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pluggableharness.providers.exec.places import Folder, led_elsewhere
from pluggableharness.providers.exec.record import Record
from pluggableharness.providers.exec.sandbox import Sandbox
from pluggableharness.sdk import (
    Context,
    ExecutionFailed,
    InvalidArguments,
    PermissionDenied,
    ToolFailure,
)
from pluggableharness.sdk.processes import Child, Chunk, Ending, GuardLost, running


@dataclass(frozen=True, slots=True)
class Work:
    """A command line, what it finds, and what confines it."""

    argv: list[str]
    folder: Folder
    env: Mapping[str, str]
    sandbox: Sandbox
    stdin: int = subprocess.DEVNULL


async def execute(ctx: Context[Any], record: Record, work: Work, timeout_s: float) -> bool:
    """Run a command to the end of all that it starts; True if it ran out of its time.

    Raises:
        ToolFailure: the command could not be run.
        asyncio.CancelledError: the call was cancelled; all is gone by then, and recorded.
    """
    try:
        around = work.sandbox.around(ctx.working_directory, work.folder.path, record.tell)
        with around as confinement:
            async with running(
                work.argv,
                cwd=work.folder.path,
                folder=work.folder.identity,
                env=work.env,
                stdin=work.stdin,
                timeout_s=timeout_s,
                confinement=confinement,
            ) as child:
                await _follow(ctx, record, child)
                return child.timed_out
    except OSError as error:
        raise _not_started(error, work.argv[0], work.folder.path) from error
    except GuardLost as lost:
        raise ExecutionFailed(f"how the command ended is not known: {lost}") from lost


async def _follow(ctx: Context[Any], record: Record, child: Child) -> None:
    relay = _Relay(ctx)
    try:
        async for event in child:
            await record.add(event)
            await relay.send(event)
    except asyncio.CancelledError:
        # Nobody listens any more, but what there was is part of the report (P26).
        relay.abandon()
        child.stop()
        async for event in child:
            await record.add(event)
        raise
    finally:
        await relay.settle()


class _Relay:
    """Sends events in their order, each while the next one is read and kept.

    One is on its way at most, so a slow consumer is felt (P14); without it the reading and the
    sending of a gigabyte would take turns.
    """

    def __init__(self, ctx: Context[Any]) -> None:
        self._ctx = ctx
        self._on_its_way: asyncio.Task[None] | None = None

    async def send(self, event: Chunk | Ending) -> None:
        await self.settle()
        self._on_its_way = asyncio.create_task(self._send(event))

    async def settle(self) -> None:
        """Wait until what is on its way has arrived; raises what kept it from that."""
        if self._on_its_way:
            task, self._on_its_way = self._on_its_way, None
            await task

    def abandon(self) -> None:
        """Give up what is on its way."""
        if self._on_its_way:
            self._on_its_way.cancel()
            self._on_its_way = None

    async def _send(self, event: Chunk | Ending) -> None:
        match event:
            case Chunk(data, stream):
                await self._ctx.output(data, stream)
            case Ending(exit_code, signal):
                await self._ctx.exit_status(exit_code, signal)


def _not_started(error: OSError, program: str, folder: Path) -> ToolFailure:
    if error.errno == errno.E2BIG:
        return InvalidArguments(
            "the command and the environment that is configured for it are together longer than "
            "the system passes to a program: write the command to a file and run that"
        )
    if error.errno == errno.ESTALE:
        return led_elsewhere(folder)
    if error.filename == str(folder):
        return PermissionDenied(f"cannot run in {folder}: {error.strerror}")
    if error.filename == program:
        return ExecutionFailed(
            f"the program {program!r} cannot be started: {error.strerror}. The shell of bash is "
            "named by `shell` of provider exec, which can be set to one that is installed"
        )
    return ExecutionFailed(f"the command could not be started: {error}")
