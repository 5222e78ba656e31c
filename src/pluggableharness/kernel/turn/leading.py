"""Where the paths of a call lead, as it is shown and compared (K10a).

It stands in the preview, so that every frontend, the record and the hooks have it.
"""

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.render import GroupNode, RenderNode, TextNode, TextStyle
from pluggableharness.kernel.policy import redirections

_NOT_TOLD = "where {!r} leads could not be told"


def with_places(call: Call, preview: RenderNode | None) -> RenderNode | None:
    """A preview under the paths that lead elsewhere than they say; as it is without such."""
    lines = tuple(
        TextNode(_said(text, leads_to), TextStyle.WARNING) for text, leads_to in redirections(call)
    )
    if not lines:
        return preview
    return GroupNode(lines if preview is None else (*lines, preview))


def moves(before: Call, now: Call) -> str:
    """What leads elsewhere than before, in words; "" when nothing does."""
    return "; ".join(
        f"{path!r} led to {before.places.get(path) or 'nobody knew where'!r} "
        f"and leads to {now.places.get(path) or 'nobody knows where'!r} now"
        for path in {**before.places, **now.places}
        if before.places.get(path) != now.places.get(path)
    )


def _said(text: str, leads_to: str) -> str:
    return f"{text!r} leads to {leads_to!r}" if leads_to else _NOT_TOLD.format(text)
