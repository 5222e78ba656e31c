"""Getting at a call's files: through the jail, one writer at a time, known or refused.

Owns the state that outlives a call: which files are being written (C5) and what each session
has seen of them (C3).
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct

from pluggableharness.providers.filesystem.known import Known, version_of
from pluggableharness.providers.filesystem.locks import FileLocks
from pluggableharness.providers.filesystem.offloop import in_thread, never
from pluggableharness.providers.filesystem.replacing import OldFile, changed_meanwhile
from pluggableharness.sdk import ConcurrencyConflict, ExecutionFailed, PermissionDenied
from pluggableharness.sdk.jail import Jail, Place, from_system, not_a_file

_INLINE: Final = 1 << 20
"""Bytes of a file that are read without a thread, which would cost more than the reading."""

Check = Callable[[], None]
T = TypeVar("T")


class Target(Struct, frozen=True):
    """A path as a call gave it, where it may lead, and where it led when that was approved."""

    path: str
    base: Path
    jail: Jail
    approved: str | None

    def locate(self, *, make_folders: bool = False) -> Place:
        """Find where the path leads. Raises as the jail does."""
        return self.jail.locate(
            self.path, base=self.base, make_folders=make_folders, approved=self.approved
        )


class Access(Struct, frozen=True):
    """The files of one provider process."""

    locks: FileLocks
    known: Known

    async def shared(
        self, target: Target, work: Callable[[Place, Check], T], inline: int = _INLINE
    ) -> T:
        """Run work that only reads, in a thread when the file has more than `inline` bytes."""
        with target.locate() as place:
            if place.status is None or place.status.st_size <= inline:
                return _reading(work, place, never)

        def run(check: Check) -> T:
            with target.locate() as place:
                return _reading(work, place, check)

        # The folder is not kept open meanwhile: many calls may wait for a thread.
        return await in_thread(run)

    async def alone(
        self, target: Target, work: Callable[[Place, Check], T], *, make_folders: bool = False
    ) -> T:
        """Run work that writes, when no other writes to the same real file.

        In a thread whatever the size, since making a file durable takes longer than that.
        """
        with target.locate(make_folders=make_folders) as place:
            key = place.key

        def run(check: Check) -> T:
            with target.locate() as place:
                if place.key != key:
                    raise changed_meanwhile(place)
                return _writing(work, place, check)

        async with self.locks.hold(key):
            return await in_thread(run)

    def refusal(
        self, session: str, place: Place, old: OldFile, check: Check
    ) -> ExecutionFailed | None:
        """Say why a session may not overwrite a file: it has not seen what is in it (C3)."""
        seen = self.known.seen(session, place.key)
        if seen is None:
            return ExecutionFailed(
                f"{place.shown} exists and was not read in this session, so what it holds would "
                "be lost unseen. Read it with read_file first; what read_file cannot show has to "
                "be moved away first."
            )
        if not seen.is_still(version_of(old.descriptor, old.status, check)):
            return ExecutionFailed(
                f"{place.shown} has changed since this session read it, and writing would lose "
                "that change. Read it again with read_file, then write what is to be kept of both."
            )
        return None


def _reading(work: Callable[[Place, Check], T], place: Place, check: Check) -> T:
    try:
        return work(place, check)
    except OSError as error:
        raise from_system(error, place.path) from None


def _writing(work: Callable[[Place, Check], T], place: Place, check: Check) -> T:
    try:
        return work(place, check)
    except OSError as error:
        failure = from_system(error, place.path)
        if isinstance(failure, PermissionDenied):
            raise failure from None
        raise ExecutionFailed(
            f"{place.shown} could not be written ({os.strerror(error.errno or 0)}); it is as it "
            "was. Remove the cause, then write again."
        ) from None


@contextmanager
def opened(place: Place, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Open the file that is at a place. Raises NotFound, ExecutionFailed for a folder."""
    if place.status is not None and stat.S_ISDIR(place.status.st_mode):
        raise not_a_file(place.path, place.status.st_mode)
    try:
        descriptor = place.open(flags)
    except OSError:
        raise ConcurrencyConflict(
            f"{place.shown} became a symbolic link while it was being opened. Try again.",
            retryable=True,
        ) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def opened_for_change(place: Place) -> Iterator[OldFile | None]:
    """Open the file that is to be replaced; None when there is none.

    Opened for writing, although it is only read: a file that may not be written may not be
    replaced by way of its folder either.
    """
    if place.status is None:
        yield None
        return
    with opened(place, os.O_RDWR) as descriptor:
        yield OldFile(descriptor, os.fstat(descriptor))
