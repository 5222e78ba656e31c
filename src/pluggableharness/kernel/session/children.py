"""Sessions below sessions: who may start one, with what, and who waits for whom (K22-K24, P23).

Owns the tree of the sessions that run. How one is opened is the kernel's matter, who asks the
plugin client's.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from pluggableharness.kernel.domain.child import ChildEnd, ChildRefused, ChildRequest
from pluggableharness.kernel.domain.errors import HarnessError
from pluggableharness.kernel.domain.identity import ulid
from pluggableharness.kernel.domain.model_choice import ModelChoice
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import ErrorCategory
from pluggableharness.kernel.domain.profile import Profile
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.domain.session import SessionEnd
from pluggableharness.kernel.session.relay import Relay
from pluggableharness.kernel.session.session import Mode, Session
from pluggableharness.kernel.session.spending import Spending
from pluggableharness.kernel.turn.ports import Frontend

_SPAWNING: Final = frozenset({"agent.spawn_subagent"})
"""Operations that only start children. A declaration cannot say so; whatever else calls
RunSession is refused there."""

_log = logging.getLogger("pluggableharness.sessions")


@dataclass(eq=False, slots=True)
class Member:
    """A session's place in its tree.

    `frontend` is the root's, seen from here; `depth` is how many levels may follow below;
    `ancestors` are the calls that wait for this session to end (P23). `providers`, if any,
    narrow the profile's tools, and those of all below. `mode` is one for the whole tree.
    """

    profile: Profile
    frontend: Frontend
    depth: int
    session_id: str = field(default_factory=ulid)
    own_act: bool = False
    parent: "Member | None" = None
    providers: tuple[str, ...] = ()
    ancestors: frozenset[str] = frozenset()
    spending: Spending = field(default_factory=Spending)
    mode: Mode = field(default_factory=Mode)
    turns: asyncio.Semaphore = field(init=False)
    children: "set[asyncio.Task[object]]" = field(default_factory=set)

    def __post_init__(self) -> None:
        self.turns = asyncio.Semaphore(self.profile.max_concurrent_subagents)

    @property
    def above(self) -> "Iterator[Member]":
        """The sessions above, from the parent to the root."""
        member = self.parent
        while member is not None:
            yield member
            member = member.parent

    @property
    def parent_id(self) -> str:
        """The session that started this one; "" for one that a person started."""
        return "" if self.parent is None else self.parent.session_id

    @property
    def callers(self) -> frozenset[str]:
        """The calls of the parent that wait for this session to end."""
        return self.ancestors - self.parent.ancestors if self.parent else frozenset()

    @property
    def cost_left_usd(self) -> float | None:
        """What the session may still spend, for itself and for those above; None for no limit."""
        left = [
            member.profile.bounds.max_cost_usd - member.spending.now.cost_usd
            for member in (self, *self.above)
            if member.profile.bounds.max_cost_usd is not None
        ]
        return max(0.0, min(left)) if left else None

    def needs(self, provider: str) -> bool:
        """Whether any operation of a provider may be in scope, as those above narrowed it."""
        narrowed = (one.providers for one in (self, *self.above) if one.providers)
        return self.own_act or (
            self.profile.uses(provider) and all(provider in there for there in narrowed)
        )

    def offered(self, operations: Sequence[Operation]) -> Sequence[Operation]:
        """What of all operations is in scope here (K23); for a person's own act, all (K4)."""
        if self.own_act:
            return operations
        return [
            operation
            for operation in operations
            if self.profile.has(operation)
            and self.needs(operation.provider)
            and (self.depth > 0 or operation.full_name not in _SPAWNING)
        ]


Open = Callable[[Member], AbstractAsyncContextManager[Session]]
"""Opens the session of a member; raises HarnessError."""


class Family:
    """The sessions of one kernel that run, with those that they were started by."""

    def __init__(self, profiles: Iterable[Profile], open_session: Open) -> None:
        self._profiles: Mapping[str, Profile] = {profile.name: profile for profile in profiles}
        self._open = open_session
        self._members: dict[str, Member] = {}

    @asynccontextmanager
    async def joined(self, member: Member) -> AsyncIterator[None]:
        """Count the session among those that run; its children end with it (K17)."""
        self._members[member.session_id] = member
        member.spending.limit_usd = member.profile.bounds.max_cost_usd
        try:
            yield
        finally:
            del self._members[member.session_id]
            await _ended(member.children)

    def ancestors(self, session_id: str) -> frozenset[str]:
        """The calls that wait for a session to end (P23)."""
        member = self._members.get(session_id)
        return frozenset() if member is None else member.ancestors

    def go_on_with(self, session_id: str, models: tuple[ModelChoice, ...]) -> None:
        """Let other models be the session's own, and of what it starts from now on."""
        member = self._members[session_id]
        member.profile = replace(member.profile, models=models)

    async def run(self, request: ChildRequest) -> ChildEnd:
        """Run a child to its end; beyond its parent's cap it waits its turn (K24).

        Raises ChildRefused, also when the child breaks off for a reason that is none of its
        own ends. Cancelling the task cancels the child, which then ends in order (K17).
        """
        parent = self._parent(request)
        member = _child(parent, self._profile(request.profile), request)
        task = asyncio.current_task()
        assert task is not None
        parent.children.add(task)
        try:
            async with parent.turns:
                return await self._run(member, request.prompt)
        except HarnessError as error:
            raise ChildRefused(ErrorCategory.EXECUTION_FAILED, f"it broke off: {error}") from error
        except (ChildRefused, asyncio.CancelledError):
            raise
        except Exception as error:
            _log.exception("child session %s broke off", member.session_id)
            broken = f"it broke off with an error of the kernel's own: {type(error).__name__}"
            raise ChildRefused(ErrorCategory.EXECUTION_FAILED, broken) from error
        finally:
            parent.children.discard(task)

    async def _run(self, member: Member, prompt: str) -> ChildEnd:
        async with self._open(member) as session:
            end = await session.run(prompt)
        return ChildEnd(
            member.session_id,
            end.status,
            _last_words(end),
            member.spending.now.cost_usd,
            member.spending.usage,
        )

    def _parent(self, request: ChildRequest) -> Member:
        parent = self._members.get(request.parent)
        if parent is None:
            raise ChildRefused(ErrorCategory.PERMISSION_DENIED, "the session has ended")
        if parent.depth < 1:
            raise ChildRefused(
                ErrorCategory.PERMISSION_DENIED,
                "no session may be started below this one; do the work here",
            )
        return parent

    def _profile(self, name: str) -> Profile:
        profile = self._profiles.get(name)
        if profile is None:
            there = ", ".join(sorted(self._profiles)) or "none at all"
            raise ChildRefused(
                ErrorCategory.NOT_FOUND,
                f"there is no agent profile {in_quotes(name)}; there are: {there}",
            )
        return profile


def _child(parent: Member, profile: Profile, request: ChildRequest) -> Member:
    """The child's place: everything that could widen takes the least that anyone says (K23)."""
    depth = min(parent.depth - 1, profile.depth)
    if request.depth is not None:
        depth = min(depth, request.depth)
    costs = (profile.bounds.max_cost_usd, request.cost_usd, parent.cost_left_usd)
    cost_usd = min((cost for cost in costs if cost is not None), default=None)
    session_id = ulid()
    return Member(
        replace(
            profile,
            bounds=replace(profile.bounds, max_cost_usd=cost_usd),
            models=profile.models or parent.profile.models,
        ),
        Relay(parent.frontend, session_id, profile.name),
        depth,
        session_id,
        parent=parent,
        providers=_narrowed(profile, request.providers),
        ancestors=parent.ancestors | request.callers,
        spending=Spending(parent=parent.spending),
        mode=parent.mode,
    )


def _narrowed(profile: Profile, providers: tuple[str, ...]) -> tuple[str, ...]:
    """The providers that a child is narrowed to; one that its profile has not is a mistake."""
    if profile.tools is not None:
        there = {tool.partition(".")[0] for tool in profile.tools}
        strange = sorted(set(providers) - there)
        if strange:
            asked = in_quotes(", ".join(strange))
            some = ", ".join(sorted(there)) or "no provider"
            raise ChildRefused(
                ErrorCategory.INVALID_ARGUMENTS,
                f"the profile {in_quotes(profile.name)} has no tools of {asked}; "
                f"it has some of: {some}",
            )
    return providers


def _last_words(end: SessionEnd) -> str:
    """All that comes back: what the child said, and why it ended if not in the normal way."""
    return "\n".join(text for text in (end.final_text, end.reason) if text)


async def _ended(tasks: "Iterable[asyncio.Task[object]]") -> None:
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
