"""MCP tools as operations: names, kind and risk, and what comes back."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mcp_types import CallToolResult, ContentBlock, TextContent, Tool

from pluggableharness.sdk.failures import ExecutionFailed
from pluggableharness.sdk.naming import bounded
from pluggableharness.sdk.operation import OperationKind, Traits
from pluggableharness.sdk.shapes import Kind, Shape

_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST: Final = 64
_MOST_TEXT: Final = 1024 * 1024
"""Characters of text, and of structured content, that a result carries on."""
_MOST_BLOCKS: Final = 1000
"""Blocks of content that it carries on: each costs more than its text, wherever it goes."""
_MOST_SAID: Final = 4000
"""Characters of an error's message."""

_STRING: Final = Shape(Kind.STRING, str)
_NUMBER: Final = Shape(Kind.NUMBER, float)


def operation_name(tool: str) -> str:
    """The tool's name; one with other characters, or too long, gets a digest behind what is left.

    No two tools share one, and none depends on what else the server offers.
    """
    if tool and len(tool) <= _LONGEST and not _ILLEGAL.search(tool):
        return tool
    digest = hashlib.sha256(tool.encode(errors="surrogatepass")).hexdigest()[:12]
    return f"{_ILLEGAL.sub('_', tool)[: _LONGEST - 13]}_{digest}"


def traits_of(tool: Tool, override: Mapping[str, str]) -> Traits:
    """Kind and risk: as agent.hcl has it, else as the server says, else resource and high."""
    kind, risk, idempotent = _said(tool)
    if "kind" in override or "risk" in override:
        kind = OperationKind(override.get("kind", OperationKind.RESOURCE))
        is_resource = kind is OperationKind.RESOURCE
        risk = override.get("risk", "high") if is_resource else "read_only"
        idempotent = idempotent and is_resource
    safe = kind is OperationKind.DATA_SOURCE
    return Traits(kind, risk, streaming=True, safe=safe, idempotent=idempotent)


def _said(tool: Tool) -> tuple[OperationKind, str, bool]:
    hints = tool.annotations
    if hints is not None and hints.read_only_hint:
        return OperationKind.DATA_SOURCE, "read_only", False
    idempotent = hints is not None and bool(hints.idempotent_hint)
    if hints is None or hints.destructive_hint is not False:
        return OperationKind.RESOURCE, "high", idempotent
    risk = "low" if hints.open_world_hint is False else "moderate"
    return OperationKind.RESOURCE, risk, idempotent


def description_of(tool: Tool) -> str:
    """What the server says of a tool, which may be nothing."""
    told = tool.description or tool.title or f"{tool.name}, of which the server says nothing"
    return told.strip() or tool.name


def result_shape(tool: Tool) -> Shape:
    """What every result is: the content in order, and the structured one where there is any."""
    declared = tool.output_schema
    fits = f", that fits this JSON Schema: {json.dumps(declared)}" if declared else ""
    item = Shape(
        Kind.OBJECT,
        dict,
        description="text has its text; of what is no text, what it is and how large",
        properties={
            "type": _STRING,
            "text": _STRING,
            "uri": _STRING,
            "mime_type": _STRING,
            "size_bytes": _NUMBER,
            "left_out": Shape(Kind.STRING, str, description="What is not passed on, and why"),
        },
        required=("type",),
        closed=True,
    )
    return Shape(
        Kind.OBJECT,
        dict,
        properties={
            "content": Shape(Kind.ARRAY, list, items=item),
            "structured": Shape(Kind.OBJECT, dict, description=f"The same as values{fits}"),
        },
        required=("content",),
        closed=True,
    )


def payload_of(name: str, result: CallToolResult) -> dict[str, Any]:
    """A result's payload.

    Raises:
        ExecutionFailed: the server says that the tool failed; the message is what it says.
    """
    content = contents(result.content)
    payload: dict[str, Any] = {"content": content}
    structured = result.structured_content
    if structured is not None:
        size = len(json.dumps(structured))
        if size > _MOST_TEXT:
            left = {"type": "structured", "size_bytes": size, "left_out": _too_large(size)}
            payload["content"] = [*content, left]
        else:
            is_object = isinstance(structured, Mapping)
            payload["structured"] = structured if is_object else {"value": structured}
    if not result.is_error:
        return payload
    said = "\n".join(one["text"] for one in content if "text" in one).strip()
    cut = bounded(said, _MOST_SAID)
    raise ExecutionFailed(cut or f"{name} failed, and the server does not say why", details=payload)


def contents(blocks: Sequence[ContentBlock]) -> list[dict[str, Any]]:
    """Content blocks as values: text within a bound, and of everything else what it is."""
    left = _MOST_TEXT
    found: list[dict[str, Any]] = []
    for block in blocks[:_MOST_BLOCKS]:
        item = _content(block)
        text = item.get("text")
        if text is not None and len(text) > left:
            item["size_bytes"] = len(text.encode(errors="surrogatepass"))
            item["left_out"] = _too_large(item["size_bytes"])
            item["text"] = text[:left]
        left -= len(item.get("text", ""))
        found.append(item)
    if (more := len(blocks) - _MOST_BLOCKS) > 0:
        found.append({"type": "more", "left_out": f"{more} more blocks; ask for less at a time"})
    return found


def _content(block: ContentBlock) -> dict[str, Any]:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    given = block.model_dump(mode="json", exclude_none=True)
    inner = given.get("resource", given)
    item: dict[str, Any] = {"type": given["type"]}
    for name in ("uri", "mime_type", "text"):
        if isinstance(inner.get(name), str):
            item[name] = inner[name]
    data = inner.get("data", inner.get("blob"))
    if isinstance(data, str):
        # Base64: a model cannot read it, and the record would keep it for ever.
        item["size_bytes"] = len(data) * 3 // 4
        item["left_out"] = "binary content is not passed on"
    return item


def _too_large(size: int) -> str:
    return f"cut: {size} bytes are more than a result carries on; ask for less at a time"
