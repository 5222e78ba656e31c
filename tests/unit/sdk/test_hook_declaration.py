"""Hooks as an author declares them (K25)."""

from typing import Any

import pytest

from pluggableharness.sdk import DeclarationError, HookEvent, Provider
from pluggableharness.sdk.serving.messages import get_schema_response
from pluggableharness.wire import common_pb2, tool_pb2


async def anything(event: HookEvent[None]) -> Any:
    return True


@pytest.mark.req("K25")
@pytest.mark.parametrize(
    ("point", "mode", "says"),
    [
        ("pre-tool", "observe", "there is no point 'pre-tool'"),
        ("pre-tool-call", "deny", "there is no mode 'deny'"),
        ("post-tool-call", "veto", "comes too late"),
        ("pre-tool-call", "transform", "only at pre-model-call"),
    ],
)
def test_a_hook_that_cannot_be_is_refused(point: Any, mode: Any, says: str) -> None:
    provider = Provider("toy")
    provider.hook(point, mode=mode)(anything)
    with pytest.raises(DeclarationError, match=says):
        provider.check()


def test_a_hook_is_an_async_function() -> None:
    provider = Provider("toy")
    provider.hook("session-end", mode="observe")(lambda event: None)  # type: ignore
    with pytest.raises(DeclarationError, match="async"):
        provider.check()


def test_a_hook_is_declared_once() -> None:
    provider = Provider("toy")
    provider.hook("pre-tool-call", mode="veto")(anything)
    provider.hook("pre-tool-call", mode="observe")(anything)
    provider.check()
    provider.hook("pre-tool-call", mode="veto")(anything)
    with pytest.raises(DeclarationError, match="twice"):
        provider.check()


@pytest.mark.req("P1", "K25")
def test_get_schema_tells_the_points_once_each() -> None:
    provider = Provider("toy")
    provider.hook("pre-tool-call", mode="veto")(anything)
    provider.hook("pre-tool-call", mode="observe")(anything)
    provider.hook("session-start", mode="observe")(anything)
    schema = tool_pb2.GetSchemaResponse.FromString(get_schema_response(provider))
    assert list(schema.supported_hook_points) == [
        common_pb2.HOOK_POINT_SESSION_START,
        common_pb2.HOOK_POINT_PRE_TOOL_CALL,
    ]
