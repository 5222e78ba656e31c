"""All providers of a kernel: launched when first needed, locked, restarted, ended (K15, K16).

Owns which process serves which call. How one is started, called and ended stands in the
modules below; what a lock means, in `kernel.scheduling`.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.event import Producer
from pluggableharness.kernel.domain.hook import (
    HookAnswer,
    HookFailed,
    HookPayload,
    HookTrouble,
    Subscription,
)
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.render import RenderNode
from pluggableharness.kernel.plugins.callbacks import File, RunChild, no_children
from pluggableharness.kernel.plugins.errors import ProviderLoadError, ProvidersNotLoaded
from pluggableharness.kernel.plugins.hooks import ask_hook
from pluggableharness.kernel.plugins.process import ProviderProcess, start_provider
from pluggableharness.kernel.plugins.running import Running
from pluggableharness.kernel.plugins.seat import Seat
from pluggableharness.kernel.plugins.spec import Admit, Instance, ProviderSpec
from pluggableharness.kernel.scheduling import lock_request
from pluggableharness.kernel.schema import did_you_mean

Ancestors = Callable[[str], frozenset[str]]
"""The calls that wait for a session to end: the one that spawned it and those above (P23)."""

PREVIEW_S: Final = 2.0
"""A slower preview is none, nor a slower view of a recorded payload (P29, P30)."""

_log = logging.getLogger("pluggableharness.providers")

_UNASSIGNED: Final = ""
"""Session of a process that was started to learn what it declares; the first one takes it."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What came of loading providers: the operations of those that did, and all that is wrong."""

    operations: tuple[Operation, ...]
    errors: tuple[ProviderLoadError, ...]


class ProviderProcesses:
    """The provider processes of one kernel, shared by all its sessions (P18)."""

    def __init__(
        self,
        specs: Iterable[ProviderSpec],
        file: File,
        ancestors: Ancestors = lambda session_id: frozenset(),
        run_child: RunChild = no_children,
        absent: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Start nothing yet. `file` stores what providers emit (K28). `absent` may not start."""
        self._specs = {spec.name: spec for spec in specs}
        self._file = file
        self._ancestors = ancestors
        self._run_child = run_child
        self._seats: dict[tuple[str, str | None], Seat] = {}
        self._declared: dict[str, tuple[Operation, ...]] = {}
        self._producers: dict[str, Producer] = {}
        self._own_names: dict[str, str] = {}
        self._absent = dict(absent)
        self._closed = False

    async def operations(
        self, admit: Admit | None = None, needed: Callable[[str], bool] = lambda name: True
    ) -> tuple[Operation, ...]:
        """Return what the needed providers declare, starting those that do not run yet (K15).

        One that does not load (P2), or is not admitted (F4), is left out from then on and is in
        `absent`.

        Raises:
            ProvidersNotLoaded: none of those needed is left, with every reason of each.
        """
        loaded = await self.load(filter(needed, self._specs))
        for error in loaded.errors:
            await self._leave_out(error.provider, str(error))
        refused = admit(loaded.operations, self.producer) if admit is not None else {}
        for name, reason in refused.items():
            await self._leave_out(name, reason)
        missing = {name: reason for name, reason in self._absent.items() if needed(name)}
        if missing and not any(map(needed, self._specs)):
            raise ProvidersNotLoaded(missing)
        return tuple(one for one in loaded.operations if one.provider in self._specs)

    @property
    def absent(self) -> Mapping[str, str]:
        """The providers that are left out, and why, as far as it is known by now."""
        return self._absent

    async def _leave_out(self, name: str, reason: str) -> None:
        """Have nothing to do with a provider from now on: no call and no hook reaches it."""
        self._absent[name] = reason
        self._specs.pop(name, None)
        mine = [key for key in self._seats if key[0] == name]
        await asyncio.gather(*(self._seats.pop(key).close() for key in mine))

    async def load(self, names: Iterable[str]) -> Loaded:
        """Learn what the named providers declare, all at the same time."""
        results = await asyncio.gather(*(self._load(name) for name in names))
        processes = [result for result in results if isinstance(result, ProviderProcess)]
        return Loaded(
            tuple(one for process in processes for one in process.introduction.operations),
            tuple(result for result in results if isinstance(result, ProviderLoadError)),
        )

    def producer(self, name: str) -> Producer:
        """Who a provider is, as its process described itself last (P30)."""
        return self._producers.get(name, Producer(name, category="tool"))

    def own_name(self, name: str) -> str:
        """What the provider that is loaded as `name` calls itself; "" when it has not said."""
        return self._own_names.get(name, "")

    def locked(self, call: Call) -> Running:
        """A context manager that waits for the lock of the call's process, and holds it.

        Entering starts the process if need be, and raises ProviderLoadError when it cannot be
        had (K15, P18-P22).
        """
        seat = self._seat_of(call)
        ancestors = self._ancestors(call.context.session_id)
        return Running(seat, seat.locks.hold(lock_request(call, ancestors)))

    async def preview(self, call: Call) -> RenderNode | None:
        """What the call would do; None when nobody says so within 2 s (P29)."""
        try:
            seat = self._seat_of(call)
            if seat.present is not None and not seat.present.previews(call.operation.name):
                return None
            async with asyncio.timeout(PREVIEW_S):
                process = await seat.process()
                return await process.preview(call)
        except (ProviderLoadError, TimeoutError):
            return None

    async def render(self, provider: str, payload: bytes, schema_version: str) -> RenderNode | None:
        """What a recorded payload looks like; None when nobody says so within 2 s (P30)."""
        spec = self._specs.get(provider)
        if spec is None:
            return None
        try:
            async with asyncio.timeout(PREVIEW_S):
                process = await self._any_seat(spec).process()
                return await process.render(payload, schema_version)
        except (ProviderLoadError, TimeoutError):
            return None

    async def hook(
        self, session_id: str, subscription: Subscription, payload: HookPayload
    ) -> HookAnswer:
        """A subscriber's answer about what happens in a session (K25). Raises HookFailed."""
        spec = self._specs.get(subscription.provider)
        if spec is None:
            reason = self._absent.get(subscription.provider, "there is no such provider")
            raise HookFailed(HookTrouble.UNKNOWN, reason)
        seat = self._seat_for(spec, session_id)
        return await ask_hook(seat.process, subscription, payload)

    async def end_session(self, session_id: str) -> None:
        """End the processes that were this session's own (F8)."""
        mine = [key for key in self._seats if key[1] == session_id]
        await asyncio.gather(*(self._seats.pop(key).close() for key in mine))

    async def close(self) -> None:
        """Ask every process to stop, wait 2 s, then kill; nothing of them is left (K16)."""
        self._closed = True
        seats = list(self._seats.values())
        self._seats.clear()
        await asyncio.gather(*(seat.close() for seat in seats))

    async def _load(self, name: str) -> ProviderProcess | ProviderLoadError:
        spec = self._specs.get(name)
        if spec is None:
            meant = did_you_mean(name, self._specs)
            return ProviderLoadError(name, [f"there is no such provider{meant}"])
        try:
            return await self._any_seat(spec).process()
        except ProviderLoadError as error:
            return error

    def _seat_of(self, call: Call) -> Seat:
        name = call.operation.provider
        if name not in self._specs:
            # Left out while a session that was offered its operations runs on.
            raise ProviderLoadError(name, [self._absent[name]])
        return self._seat_for(self._specs[name], call.context.session_id)

    def _seat_for(self, spec: ProviderSpec, session_id: str) -> Seat:
        if spec.instance is Instance.SHARED:
            return self._seat(spec, None)
        key = (spec.name, session_id)
        unassigned = (spec.name, _UNASSIGNED)
        if key not in self._seats and unassigned in self._seats:
            self._seats[key] = self._seats.pop(unassigned)
        return self._seat(spec, session_id)

    def _any_seat(self, spec: ProviderSpec) -> Seat:
        for (name, _), seat in self._seats.items():
            if name == spec.name:
                return seat
        return self._seat(spec, None if spec.instance is Instance.SHARED else _UNASSIGNED)

    def _seat(self, spec: ProviderSpec, session_id: str | None) -> Seat:
        key = (spec.name, session_id)
        seat = self._seats.get(key)
        if seat is None:
            seat = self._seats[key] = Seat(partial(self._start, spec))
        return seat

    async def _start(self, spec: ProviderSpec) -> ProviderProcess:
        if self._closed:
            # Nobody would end it any more.
            raise ProviderLoadError(spec.name, ["the kernel that it was for has been closed"])
        process = await start_provider(spec, self._file, self._run_child)
        declared = process.introduction.operations
        if spec.name not in self._declared:
            for warning in process.introduction.warnings:
                _log.warning("%s.%s", spec.name, warning)
        if self._declared.setdefault(spec.name, declared) != declared:
            await process.close()
            raise ProviderLoadError(
                spec.name,
                [
                    "it now declares other operations than when it was loaded, and what was "
                    "decided about those may not hold: start the harness anew to accept them"
                ],
            )
        self._producers[spec.name] = process.introduction.producer
        self._own_names[spec.name] = process.introduction.calls_itself
        return process
