"""Any mixture of filing, syncing, failing, closing and being killed, against a list."""

import asyncio
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from store_logs import SESSION, TOY, stored

from pluggableharness.kernel.domain.event import EventKind
from pluggableharness.kernel.store.errors import LogWriteError
from pluggableharness.kernel.store.log import EventLog
from pluggableharness.kernel.store.reading import read_events, verify


class LogMachine(RuleBasedStateMachine):
    """`filed` is what was appended, in order; the first `acknowledged` of it must survive."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp(prefix="log-machine-"))
        self.filed: list[bytes] = []
        self.acknowledged = 0
        self.generation = 0

    @initialize()
    def create(self) -> None:
        self.log = EventLog.create(self.base / "0", SESSION)

    @rule(payloads=st.lists(st.binary(max_size=20), min_size=1, max_size=5))
    def file(self, payloads: list[bytes]) -> None:
        for payload in payloads:
            event = self.log.append(EventKind.MESSAGE, payload, schema_version="test", producer=TOY)
            self.filed.append(payload)
            assert event.sequence == len(self.filed)

    @rule()
    def sync(self) -> None:
        asyncio.run(self.log.sync())
        self.acknowledged = len(self.filed)

    @rule()
    def sync_on_a_full_disk(self) -> None:
        connection = self.log._file.connection
        connection.execute("PRAGMA max_page_count = 1")
        self.log.append(EventKind.MESSAGE, bytes(20_000), schema_version="test", producer=TOY)
        self.filed.append(bytes(20_000))
        with pytest.raises(LogWriteError) as raised:
            asyncio.run(self.log.sync())
        assert not raised.value.lasting
        connection.execute("PRAGMA max_page_count = 1000000")

    @rule()
    def close_and_open(self) -> None:
        asyncio.run(self.log.close())
        self.acknowledged = len(self.filed)
        self.log = EventLog.open(self.log.path)
        assert self.log.sequence == len(self.filed)

    @rule()
    def be_killed_and_go_on(self) -> None:
        """What is on disk is all that is left, and the kernel before never comes back."""
        self.generation += 1
        directory = self.base / str(self.generation)
        directory.mkdir(mode=0o700)
        for path in self.log.path.parent.iterdir():
            if not path.name.endswith("-shm"):
                shutil.copy(path, directory / path.name)
        self.abandon()
        self.log = EventLog.open(directory / self.log.path.name)
        self.take_over()

    def take_over(self) -> None:
        """Learn what survived: at least what was acknowledged, at most what was filed."""
        survived = [payload for _, payload in stored(self.log.path)]
        assert self.acknowledged <= len(survived) <= len(self.filed)
        assert survived == self.filed[: len(survived)]
        asyncio.run(self.log.sync())
        self.filed = [payload for _, payload in stored(self.log.path)]
        self.acknowledged = len(self.filed)

    def abandon(self) -> None:
        self.log._file.close()

    @invariant()
    def the_disk_holds_a_beginning_of_what_was_filed(self) -> None:
        payloads = [payload for _, payload in stored(self.log.path)]
        assert payloads == self.filed[: len(payloads)]
        assert len(payloads) >= self.acknowledged

    def teardown(self) -> None:
        asyncio.run(self.log.close())
        assert verify(self.log.path, self.log.head).ok
        ids = [event.id for event in read_events(self.log.path)]
        assert len(ids) == len(set(ids)) == len(self.filed)
        shutil.rmtree(self.base)


@pytest.mark.req("K27", "K29", "R2")
def test_the_log_never_loses_doubles_or_reorders() -> None:
    """Case session-log-07, among other things."""
    run = settings(max_examples=20, stateful_step_count=15, deadline=None)
    run_state_machine_as_test(LogMachine, settings=run)
