"""A plan as lines of a terminal: its items at a glance, and what runs without being asked."""

from collections.abc import Sequence

from rich.text import Text

from pluggableharness.kernel.domain.plan import Plan, PlanItem
from pluggableharness.kernel.frontends.drawing import Drawing
from pluggableharness.kernel.frontends.lines import boxed, columns
from pluggableharness.kernel.frontends.looks import Looks
from pluggableharness.kernel.frontends.question import item_lines, risk_text, title_of
from pluggableharness.kernel.frontends.text import shown
from pluggableharness.kernel.frontends.words import brief, cut


def overview_lines(plan: Plan, looks: Looks, width: int) -> Sequence[Text]:
    """A line for each item: its risk, what it calls, what was decided, and with which arguments."""
    rows = [
        [
            Text(f"{number}", "faint"),
            risk_text(item.call.operation.risk),
            Text(shown(item.call.operation.full_name, looks.encoding), "bold"),
            Text(item.verdict.decision.value, "faint"),
            Text(brief(item.call, looks.glyphs.ellipsis, looks.encoding)),
        ]
        for number, item in enumerate(plan.items, 1)
    ]
    taken = sum(max(row[i].cell_len + 2 for row in rows) for i in range(4))
    for row in rows:
        row[4] = Text(cut(row[4].plain, width - taken, looks.glyphs.ellipsis))
    return [Text("plan", "faint"), *columns(rows, width)]


def allowed_lines(item: PlanItem, place: str, looks: Looks, width: int) -> Sequence[Text]:
    """What an item that nobody is asked about will do, and who allowed it."""
    body = item_lines(Drawing(looks, width - 2), item)
    by = f"allowed by {shown(item.verdict.decided_by, looks.encoding)}"
    return boxed(title_of(item, looks, place, by), body, looks)
