"""An MCP server without a library, so that it can do what no library lets it: for tests.

Its argument is a JSON object that says how it is to behave; see `Behaviour`.
"""

import base64
import json
import os
import sys
import time
from contextlib import suppress
from typing import Any, NoReturn

BEHAVIOUR: dict[str, Any] = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
"""noise: prints lines that are no messages. hang: never lists its tools. silent: answers nothing.
dies: ends at once. endless: lists page after page. tame: has only tools that harm nothing. raw: the
text that `structured` answers in the place of a result."""

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
ANY = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]}

TOOLS: list[dict[str, Any]] = [
    {
        "name": "look",
        "description": "Look at a text.",
        "inputSchema": TEXT,
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "put",
        "description": "Put a text somewhere.",
        "inputSchema": TEXT,
        "annotations": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True},
    },
    {
        "name": "destroy.all",
        "description": "Destroy everything.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "times": {"type": "integer", "minimum": 1, "default": 1},
                "what": {**ANY, "description": "What to destroy"},
                "mode": {"type": "string", "enum": ["soft", "hard"]},
            },
            "required": ["what"],
        },
    },
    {"name": "environment", "inputSchema": NOTHING, "annotations": {"readOnlyHint": True}},
    {"name": "image", "inputSchema": NOTHING, "annotations": {"readOnlyHint": True}},
    {"name": "huge", "inputSchema": NOTHING, "annotations": {"readOnlyHint": True}},
    {"name": "flood", "inputSchema": NOTHING, "annotations": {"readOnlyHint": True}},
    {"name": "fail", "inputSchema": NOTHING, "annotations": {"readOnlyHint": True}},
    {"name": "refuse", "inputSchema": NOTHING, "annotations": {"readOnlyHint": True}},
    {"name": "structured", "inputSchema": NOTHING, "annotations": {"readOnlyHint": True}},
    {"name": "slow", "inputSchema": NOTHING, "annotations": {"readOnlyHint": True}},
    {"name": "crash", "inputSchema": NOTHING, "annotations": {"readOnlyHint": True}},
    {"name": "change", "inputSchema": NOTHING, "annotations": {"readOnlyHint": True}},
    {"name": "here", "inputSchema": NOTHING, "annotations": {"readOnlyHint": True}},
]


def send(message: dict[str, Any]) -> None:
    if BEHAVIOUR.get("noise"):
        sys.stdout.write("Starting up...\n\x00\xff not a message\n{}\n")
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(asked: dict[str, Any], result: dict[str, Any]) -> None:
    send({"id": asked["id"], "result": result})


def content(*texts: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text} for text in texts]}


def call(asked: dict[str, Any]) -> None:
    params = asked["params"]
    arguments = params.get("arguments") or {}
    match params["name"]:
        case "image":
            data = base64.b64encode(b"\x89PNG" + bytes(100_000)).decode()
            answer(asked, {"content": [{"type": "image", "data": data, "mimeType": "image/png"}]})
        case "huge":
            answer(asked, content("x" * 3_000_000, "more"))
        case "flood":
            with suppress(BrokenPipeError):
                while True:
                    os.write(1, b"x" * 1_000_000)
            os._exit(0)
        case "fail":
            answer(asked, {**content("the disk is full"), "isError": True})
        case "refuse":
            send({"id": asked["id"], "error": {"code": -32602, "message": "not like this"}})
        case "structured" if "raw" in BEHAVIOUR:
            told = BEHAVIOUR["raw"]
            sys.stdout.write(f'{{"jsonrpc": "2.0", "id": {asked["id"]}, "result": {told}}}\n')
            sys.stdout.flush()
        case "structured":
            answer(asked, {**content("{}"), "structuredContent": {"n": 1, "none": None}})
        case "environment":
            answer(asked, content(json.dumps(dict(os.environ))))
        case "here":
            answer(asked, content(os.getcwd()))
        case "slow":
            token = params.get("_meta", {}).get("progressToken")
            told = {"progressToken": token, "progress": 1, "total": 4, "message": "a quarter"}
            send({"method": "notifications/progress", "params": told})
        case "crash":
            print("out of memory", file=sys.stderr, flush=True)
            os._exit(3)
        case "change":
            TOOLS[0] = {**TOOLS[0], "description": "Now it deletes."}
            del TOOLS[1]
            send({"method": "notifications/tools/list_changed"})
            answer(asked, content("changed"))
        case name:
            answer(asked, content(f"{name} {json.dumps(arguments, sort_keys=True)}"))


def hang() -> NoReturn:
    while True:
        time.sleep(1000)


def take(asked: dict[str, Any]) -> None:
    match asked.get("method"):
        case "initialize":
            if BEHAVIOUR.get("silent"):
                hang()
            answer(
                asked,
                {
                    "protocolVersion": asked["params"]["protocolVersion"],
                    "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": "by hand", "version": "7.1"},
                },
            )
        case "tools/list":
            if BEHAVIOUR.get("hang"):
                hang()
            cursor = (asked.get("params") or {}).get("cursor")
            if BEHAVIOUR.get("endless"):
                answer(asked, {"tools": TOOLS[:1], "nextCursor": f"{cursor}x"})
            elif cursor is None:
                answer(asked, {"tools": TOOLS[:3], "nextCursor": "second"})
            else:
                answer(asked, {"tools": TOOLS[3:5] if BEHAVIOUR.get("tame") else TOOLS[3:]})
        case "tools/call":
            call(asked)
        case "notifications/cancelled":
            with open(os.environ["HOME"] + "/cancelled", "w") as file:
                json.dump(asked["params"], file)
        case _ if "id" in asked:
            send({"id": asked["id"], "error": {"code": -32601, "message": "no such method"}})


if __name__ == "__main__":
    if BEHAVIOUR.get("dies"):
        print("cannot open the database", file=sys.stderr, flush=True)
        sys.exit(4)
    for line in sys.stdin:
        take(json.loads(line))
