"""One frontend for a whole tree of sessions (K10, P24): everything goes up, and says from where."""

import asyncio
from dataclasses import dataclass, replace

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.news import FromChild, News
from pluggableharness.kernel.domain.plan import Answer, PlanItem
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.turn.ports import Frontend


@dataclass(frozen=True, slots=True)
class Relay:
    """Passes news and questions of one child to the frontend of the session above it."""

    above: Frontend
    session_id: str
    profile: str

    @property
    def attended(self) -> bool:
        """Whether somebody sits at the root."""
        return self.above.attended

    async def hear(self, news: News) -> None:
        """Pass news on, with the child's place in front."""
        if isinstance(news, FromChild):
            news = replace(news, path=(self.profile, *news.path))
        else:
            news = FromChild(self.session_id, (self.profile,), news)
        await self.above.hear(news)

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        """Put the child's question to whoever sits at the root."""
        return await self.above.decide(replace(item, call=self._placed(item.call)), changed)

    async def answer(self, call: Call) -> JsonObject | None:
        """Put the child's interactive call to whoever sits at the root."""
        return await self.above.answer(self._placed(call))

    def _placed(self, call: Call) -> Call:
        context = call.context
        return replace(call, context=replace(context, path=(self.profile, *context.path)))


@dataclass(frozen=True, slots=True)
class OneByOne:
    """A frontend of which one interactive call is answered at a time (P24).

    `turn` is shared by all sessions that this frontend is attached to.
    """

    frontend: Frontend
    turn: asyncio.Lock

    @property
    def attended(self) -> bool:
        """Whether somebody is there to answer."""
        return self.frontend.attended

    async def hear(self, news: News) -> None:
        """Pass news on."""
        await self.frontend.hear(news)

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        """Pass a question on; several may wait at once, and how is the frontend's matter."""
        return await self.frontend.decide(item, changed)

    async def answer(self, call: Call) -> JsonObject | None:
        """Put an interactive call to the person when the one before is answered.

        Its deadline, where it has one, counts from then on (K14).
        """
        async with self.turn, asyncio.timeout(call.deadline_s):
            return await self.frontend.answer(call)
