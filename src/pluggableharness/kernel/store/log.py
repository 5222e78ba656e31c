"""The session's log as the kernel writes it: filed in order at once, durable on request.

`append` assigns sequence, id and hash in memory; `sync` returns when all of that is on disk.
Syncs of one iteration of the event loop share a commit. It runs in place: a commit takes a
fraction of a millisecond, and a hop to a thread and back twice that. Only what would hold up
the loop goes to a thread: another process's lock, a large batch, a slow disk, a checkpoint.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from time import time_ns
from typing import Any

from pluggableharness.kernel.codec.json_text import JSON, json_bytes, unicode_text
from pluggableharness.kernel.domain.event import Event, EventKind, Producer
from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.domain.message import Usage
from pluggableharness.kernel.domain.plan import Applied, PlanItem
from pluggableharness.kernel.store import tables
from pluggableharness.kernel.store.chain import first_link, link, producer_digest
from pluggableharness.kernel.store.errors import LogBusy, LogFailed, LogWriteError, write_failure
from pluggableharness.kernel.store.file import ROW_BYTES, Batch, LogFile
from pluggableharness.kernel.store.location import log_path, make_private
from pluggableharness.kernel.store.plan_items import plan_item_row
from pluggableharness.kernel.store.recovery import Tail, read_tail, recovery_note
from pluggableharness.version import __version__

KERNEL = Producer("kernel", __version__, category="kernel")
"""The producer of whatever the kernel itself files."""

Clock = Callable[[], int]
"""Nanoseconds since 1970, UTC."""

_SLOW_S = 0.005
_LARGE_BYTES = 256 << 10


class EventLog:
    """The one writer of a session's log (K27, K29).

    For one event loop and the thread that it runs in. Made by `create` or `open`, which
    block for some milliseconds; ended by `close`.
    """

    def __init__(self, file: LogFile, tail: Tail, clock: Clock) -> None:
        self._file = file
        self._clock = clock
        self._session_id = tail.session_id
        self._sequence = tail.sequence
        self._hash = tail.hash
        self._producers = tail.producers
        self._pending = Batch()
        self._waiters: list[asyncio.Future[None]] = []
        self._scheduled = False
        self._writing = False
        self._thread: Thread | None = None
        self._lasting: LogFailed | None = None
        self._closed = False

    @classmethod
    def create(cls, directory: Path, session_id: str, *, clock: Clock = time_ns) -> "EventLog":
        """Start the log of a new session in the directory, which is made when missing.

        Raises NoStateDirectory and LogFailed.
        """
        make_private(directory)
        try:
            file = LogFile.create(log_path(directory, session_id), session_id)
        except LogFailed as failed:
            failed.before_start = True
            raise
        return cls(file, Tail(session_id, 0, first_link(session_id), {}), clock)

    @classmethod
    def open(cls, path: Path, *, clock: Clock = time_ns) -> "EventLog":
        """Go on with a log that is there, after its last row has been verified.

        When the kernel before was killed, SQLite recovers what had been committed; a row of
        kind `session` then says so, and what was dropped. Raises LogInUse and the other
        LogFailed, and LogUnreadable for what is no log or does not verify.
        """
        file = LogFile.open(path)
        try:
            log = cls(file, read_tail(path, file.connection), clock)
            if file.left_over is not None:
                note = json_bytes(recovery_note(file.left_over, file.kept_frames()))
                log.append(EventKind.SESSION, note, schema_version=JSON)
        except BaseException:
            file.close()
            raise
        return log

    @property
    def path(self) -> Path:
        """The log's file."""
        return self._file.path

    @property
    def session_id(self) -> str:
        """The session whose log this is."""
        return self._session_id

    @property
    def sequence(self) -> int:
        """The number of the last row filed; 0 for none."""
        return self._sequence

    @property
    def head(self) -> str:
        """The hash of the last row filed, in hex: what `verify` takes as its head (K29)."""
        return self._hash.hex()

    def append(
        self,
        kind: EventKind,
        payload: bytes,
        *,
        schema_version: str,
        producer: Producer = KERNEL,
    ) -> Event:
        """File an event behind all others; it is durable when the next `sync` returns.

        `producer` is whom the kernel knows it to come from, whatever the event itself says
        (K28). Raises ValueError, and files nothing, when a text is not Unicode.
        """
        self._check_open()
        key, digest = self._producers.get(producer) or self._introduce(producer)
        time = self._clock() // 1000
        event_id = ulid(time // 1000)
        sequence = self._sequence + 1
        name = kind.value
        mark = link(self._hash, sequence, time, digest, event_id, name, schema_version, payload)
        pending = self._pending
        pending.rows.append((sequence, event_id, time, name, key, schema_version, payload, mark))
        pending.size += ROW_BYTES + len(payload)
        self._sequence = sequence
        self._hash = mark
        return Event(sequence, event_id, time, name, producer, schema_version, payload, mark)

    def put_meta(self, key: str, value: str) -> None:
        """Set an entry of `session_meta`, durable with the rows around it."""
        self._put(tables.PUT_META, (key, value))

    def put_plan_item(self, item: PlanItem, turn_id: str, applied: Applied | None = None) -> None:
        """Write a plan item as it now stands over what was there, durable likewise (K9)."""
        self._put(tables.PUT_PLAN_ITEM, plan_item_row(item, turn_id, applied))

    def add_cost(self, account: str, model: str, usage: Usage, cost_usd: float) -> None:
        """Add a line to the cost ledger, at the last row filed (K20, K30).

        `account` is "session", "review" (K8), or the id of a child session.
        """
        spent = (usage.input_tokens, usage.output_tokens, cost_usd)
        self._put(tables.ADD_COST, (self._sequence, account, model, *spent))

    async def sync(self) -> None:
        """Return when everything filed so far is on disk.

        Raises LogBusy or LogWriteError when it is not, to all that wait; see there what
        becomes of the rows. They are never written out of order. Cancelling the wait
        cancels nothing else.
        """
        self._check_open()
        if self._lasting is not None:
            raise self._lasting
        if not self._pending and not self._writing:
            return
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        self._waiters.append(waiter)
        if not self._writing and not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._commit, loop)
        await waiter

    async def close(self) -> None:
        """Make everything durable and leave a single file.

        Raises what `sync` does, and lets go of the file even then. A second close does nothing.
        """
        if self._closed:
            return
        try:
            await self.sync()
        finally:
            self._closed = True
            await asyncio.to_thread(self._let_go)

    def _let_go(self) -> None:
        if self._thread is not None:
            self._thread.join()
        self._file.close()

    def _introduce(self, producer: Producer) -> tuple[int, bytes]:
        """Give a producer its number in this log, and a row of its own."""
        known = len(self._producers) + 1, producer_digest(producer)
        texts = (producer.name, producer.version, producer.source, producer.category)
        self._put(tables.ADD_PRODUCER, (known[0], *texts, producer.protocol_version))
        self._producers[producer] = known
        return known

    def _put(self, statement: str, values: tuple[Any, ...]) -> None:
        """Add a statement to what is pending; its texts are made Unicode, so that SQLite takes it
        when others wait for the commit. Numbers of tokens are bounded where they are made."""
        self._check_open()
        fit = [unicode_text(value) if isinstance(value, str) else value for value in values]
        self._pending.statements.append((statement, tuple(fit)))
        self._pending.size += ROW_BYTES + sum(len(text) for text in fit if isinstance(text, str))

    def _check_open(self) -> None:
        if self._closed:
            raise self._closed_error()

    def _closed_error(self) -> LogFailed:
        return LogWriteError(self.path, "the log has been closed")

    def _commit(self, loop: asyncio.AbstractEventLoop) -> None:
        """Write what is pending for all who wait: here if that is quick, else in a thread."""
        self._scheduled = False
        batch, self._pending = self._pending, Batch()
        waiters, self._waiters = self._waiters, []
        error = self._closed_error() if self._closed else None
        in_thread = error is None and self._would_block(batch)
        if error is None and not in_thread:
            try:
                self._file.commit(batch)
            except LogBusy:
                in_thread = True
            except LogFailed as failed:
                error = failed
        if in_thread:
            self._start_thread(loop, batch, waiters)
        else:
            self._settle(batch, waiters, error)

    def _would_block(self, batch: Batch) -> bool:
        file = self._file
        return batch.size > _LARGE_BYTES or file.last_commit_s > _SLOW_S or file.upkeep_due

    def _start_thread(
        self,
        loop: asyncio.AbstractEventLoop,
        batch: Batch,
        waiters: list[asyncio.Future[None]],
    ) -> None:
        """Commit in a thread of its own: starting one costs little beside what brought us here,
        and a thousand sessions on a slow disk keep no thousand idle ones."""

        def commit() -> None:
            error: LogFailed | None = None
            try:
                self._file.commit_patiently(batch)
            except LogFailed as failed:
                error = failed
            except Exception as unforeseen:
                # Whatever it is, those who wait must not wait for ever.
                error = write_failure(self.path, unforeseen)
            try:
                loop.call_soon_threadsafe(ended, error)
            except RuntimeError:
                pass  # The loop was closed meanwhile: nobody waits any more.

        def ended(error: LogFailed | None) -> None:
            self._writing = False
            self._settle(batch, waiters, error)
            if self._waiters:
                self._commit(loop)

        self._writing = True
        # A daemon, so that a lock held by others does not hold up the kernel's exit.
        self._thread = Thread(target=commit, name="log-commit", daemon=True)
        self._thread.start()

    def _settle(
        self, batch: Batch, waiters: list[asyncio.Future[None]], error: LogFailed | None
    ) -> None:
        """Wake those who wait for a batch; after a failure, those behind them too.

        What was not written goes back before what was filed since.
        """
        if error is not None:
            batch.extend(self._pending)
            self._pending = batch
            waiters += self._waiters
            self._waiters = []
            if error.lasting:
                self._lasting = error
        for waiter in waiters:
            if waiter.done():
                continue
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(error)
