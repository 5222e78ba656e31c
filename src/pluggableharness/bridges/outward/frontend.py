"""The frontend of a connection: every question and event goes to the request that it is of."""

from pluggableharness.bridges.outward.exchange import Exchange, can_ask
from pluggableharness.bridges.outward.questions import answer, answer_to, form_of, question
from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.news import (
    CallEnded,
    CallEvent,
    FromChild,
    ItemDecided,
    News,
)
from pluggableharness.kernel.domain.plan import Answer, PlanItem
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Decision


class Connection:
    """Knows the exchanges that are under way.

    What belongs to none of them, a question of a sub-agent say, goes to the oldest: its call
    waits for the sub-agent.
    """

    def __init__(self) -> None:
        self.exchanges: dict[str, Exchange] = {}

    @property
    def attended(self) -> bool:
        """Whether some request came from a client that can ask its person."""
        return any(can_ask(one.context) for one in self.exchanges.values())

    async def hear(self, news: News) -> None:
        """Pass on what a call tells while it runs; the rest is in its result."""
        told = news.news if isinstance(news, FromChild) else news
        if isinstance(told, CallEvent):
            exchange = self._of(told.call)
            if exchange is not None:
                await exchange.tell(told.call.id, told.event)
        elif isinstance(told, CallEnded):
            exchange = self._of(told.call)
            if exchange is not None:
                await exchange.tell_rest(told.call.id)
        elif isinstance(told, ItemDecided) and told.verdict.downgraded_from is Decision.ASK:
            exchange = self._of(told.item.call)
            if exchange is not None:
                exchange.unasked = not can_ask(exchange.context)

    async def decide(self, item: PlanItem, changed: str) -> Answer | None:
        """Ask by elicitation; None when the client cannot."""
        exchange = self._of(item.call)
        if exchange is None or not can_ask(exchange.context):
            return None
        return answer(item, await exchange.ask(question(item, changed)))

    async def answer(self, call: Call) -> JsonObject | None:
        """Put an interactive call to the person as a form; None when that cannot be."""
        exchange, form = self._of(call), form_of(call)
        if exchange is None or form is None or not can_ask(exchange.context):
            return None
        return answer_to(call, await exchange.ask(form))

    def _of(self, call: Call) -> Exchange | None:
        oldest = next(iter(self.exchanges.values()), None)
        return self.exchanges.get(call.tool_use_id, oldest)
