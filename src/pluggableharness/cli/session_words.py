"""What a list says of a recorded session, in a few words."""

import time

from pluggableharness.kernel.domain.session import SessionStatus
from pluggableharness.kernel.store.index import Summary


def began(one: Summary) -> str:
    """When it began, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(one.started // 1_000_000))


def ended(one: Summary) -> str:
    """How it ended, if it did; that of a call by hand says nothing about its call."""
    if one.by_hand and one.status == SessionStatus.COMPLETED.value:
        return "by hand"
    return one.status.replace("_", " ")


def about(one: Summary) -> str:
    """What it is about: its prompt, or who made its calls, an MCP client say."""
    return one.prompt or one.model
