"""MCP tools as operations: names, kind and risk, content (K35)."""

import re
from collections.abc import Mapping

import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.bridges.inward.tools import (
    contents,
    operation_name,
    payload_of,
    traits_of,
)
from pluggableharness.sdk.failures import ExecutionFailed
from pluggableharness.sdk.operation import NAME


def tool(**hints: bool) -> types.Tool:
    annotations = types.ToolAnnotations.model_validate(hints) if hints else None
    return types.Tool(name="t", input_schema={"type": "object"}, annotations=annotations)


@pytest.mark.req("K35")
@pytest.mark.parametrize(
    ("hints", "override", "expected"),
    [
        ({}, {}, ("resource", "high", False)),
        ({"read_only_hint": True}, {}, ("data_source", "read_only", False)),
        ({"read_only_hint": False}, {}, ("resource", "high", False)),
        ({"destructive_hint": False}, {}, ("resource", "moderate", False)),
        ({"destructive_hint": False, "open_world_hint": False}, {}, ("resource", "low", False)),
        ({"idempotent_hint": True}, {}, ("resource", "high", True)),
        ({"read_only_hint": True}, {"kind": "resource"}, ("resource", "high", False)),
        ({"read_only_hint": True}, {"risk": "low"}, ("resource", "low", False)),
        ({"idempotent_hint": True}, {"kind": "data_source"}, ("data_source", "read_only", False)),
        ({}, {"kind": "resource", "risk": "critical"}, ("resource", "critical", False)),
    ],
)
def test_annotations_give_kind_and_risk_and_the_configuration_overrides_them(
    hints: Mapping[str, bool], override: Mapping[str, str], expected: tuple[str, str, bool]
) -> None:
    traits = traits_of(tool(**hints), override)
    assert (traits.kind, traits.risk, traits.idempotent) == expected
    assert traits.safe is (traits.kind == "data_source")


@pytest.mark.req("K35", "P1")
def test_a_legal_name_is_kept() -> None:
    assert operation_name("create_issue-2") == "create_issue-2"


@pytest.mark.req("K35", "P1")
@given(st.text(max_size=90), st.text(max_size=90))
def test_every_name_is_legal_and_no_two_tools_share_one(one: str, other: str) -> None:
    assert re.fullmatch(NAME, operation_name(one))
    assert (operation_name(one) == operation_name(other)) is (one == other)


@pytest.mark.req("K35", "P14")
def test_content_is_bounded_and_says_what_is_left_out() -> None:
    blocks: list[types.ContentBlock] = [
        types.TextContent(text="a" * 700_000),
        types.TextContent(text="b" * 700_000),
        types.TextContent(text="c"),
        types.ImageContent(data="AAAA", mime_type="image/png"),
        types.ResourceLink(name="r", uri="file:///r"),
        types.EmbeddedResource(resource=types.TextResourceContents(uri="file:///x", text="d")),
    ]
    whole, cut, empty, image, link, resource = contents(blocks)
    assert whole == {"type": "text", "text": "a" * 700_000}
    assert len(cut["text"]) == 1024 * 1024 - 700_000
    assert cut["size_bytes"] == 700_000
    assert "ask for less" in cut["left_out"]
    assert (empty["text"], empty["size_bytes"]) == ("", 1)
    assert image == {
        "type": "image",
        "mime_type": "image/png",
        "size_bytes": 3,
        "left_out": "binary content is not passed on",
    }
    assert link["uri"] == "file:///r"
    assert resource["uri"] == "file:///x"


@pytest.mark.req("K35", "P14")
def test_blocks_without_end_are_bounded_and_counted() -> None:
    blocks: list[types.ContentBlock] = [types.TextContent(text="a")] * 250_000
    *kept, left = contents(blocks)
    assert len(kept) == 1000
    assert left == {"type": "more", "left_out": "249000 more blocks; ask for less at a time"}
    assert len(contents(blocks[:1000])) == 1000


@pytest.mark.req("K35")
def test_structured_content_is_kept_within_the_bound() -> None:
    result = types.CallToolResult(content=[], structured_content={"a": None})
    assert payload_of("t", result) == {"content": [], "structured": {"a": None}}
    scalar = types.CallToolResult(content=[], structured_content=[1])
    assert payload_of("t", scalar)["structured"] == {"value": [1]}
    large = types.CallToolResult(content=[], structured_content={"a": "x" * 2_000_000})
    (left,) = payload_of("t", large)["content"]
    assert left["type"] == "structured"
    assert left["size_bytes"] > 2_000_000


@pytest.mark.req("K35", "P15")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([types.TextContent(text="disk full")], "disk full"),
        ([], "the server does not say why"),
        ([types.TextContent(text="x" * 9000)], "x…"),
    ],
    ids=["text", "nothing", "long"],
)
def test_a_tools_failure_is_an_error_that_says_what_the_server_said(
    content: list[types.ContentBlock], said: str
) -> None:
    with pytest.raises(ExecutionFailed, match=said) as failed:
        payload_of("t", types.CallToolResult(content=content, is_error=True))
    assert len(failed.value.message) < 4100
