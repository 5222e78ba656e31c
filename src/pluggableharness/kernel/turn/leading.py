"""Where the paths of a call lead, as it is shown and compared (K10a).

It stands in the preview, so that every frontend, the record and the hooks have it.
"""

from itertools import starmap
from posixpath import normpath

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.domain.render import GroupNode, RenderNode, TextNode, TextStyle
from pluggableharness.kernel.policy import destination, leading, redirections


def with_places(call: Call, preview: RenderNode | None) -> RenderNode | None:
    """A preview under what its line does beside its words, and the paths that lead elsewhere than
    they say; as it is without such."""
    said = [call.distrusted] if call.distrusted else []
    said += starmap(leading, redirections(call))
    if not said:
        return preview
    lines = tuple(TextNode(one, TextStyle.WARNING) for one in said)
    return GroupNode(lines if preview is None else (*lines, preview))


def moves(before: Call, now: Call) -> str:
    """What leads elsewhere than before, or does more where it runs; "" when nothing does."""
    moved = [
        f"{in_quotes(path)} led to {_place(before, path)} and leads to {_place(now, path)} now"
        for path in {**before.places, **now.places}
        if _moved(before, now, path)
    ]
    if now.distrusted and now.distrusted != before.distrusted:
        moved.append(f"since then, {now.distrusted}")
    return "; ".join(moved)


def _place(call: Call, path: str) -> str:
    place = call.places.get(path)
    return in_quotes(place) if place else "nobody knows where"


def _moved(before: Call, now: Call, path: str) -> bool:
    """What was looked at only once has moved if it leads elsewhere than it says."""
    if path in before.places and path in now.places:
        return before.places[path] != now.places[path]
    return destination(before if path in before.places else now, path) != normpath(path)
