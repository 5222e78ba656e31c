"""go-plugin's own host runs our providers, with its automatic mutual TLS and without."""

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from interop.builds import go_programs

from pluggableharness.wire import event_pb2
from pluggableharness.wire.structs import from_struct

FILESYSTEM = (sys.executable, "-I", "-m", "pluggableharness.providers.filesystem")
TLS = pytest.mark.parametrize("options", [(), ("-mtls",)], ids=["plain", "mutual-tls"])


def host(
    *options: str,
    operation: str,
    arguments: dict[str, Any],
    directory: Path,
    command: tuple[str, ...] = FILESYSTEM,
    config: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Let the Go program start the provider, make one call and end it."""
    words = (operation, json.dumps(arguments), json.dumps(config or {}), str(directory))
    done = subprocess.run(
        [str(go_programs() / "host"), *options, *words, *command],
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@TLS
@pytest.mark.req("P1", "P10", "P28")
def test_a_go_host_reads_a_file_through_our_provider(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    answer = host(
        *options,
        operation="read_file",
        arguments={"path": "a.txt"},
        config={"allowed_roots": [str(tmp_path)]},
        directory=tmp_path,
    )
    assert {"read_file", "write_file", "edit_file"} <= set(answer["operations"])
    assert "two" in json.dumps(answer["events"][-1]["result"]["payload"])
    assert answer["exited"] is True


@TLS
@pytest.mark.req("P14")
def test_four_megabytes_pass(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "big.txt").write_text("x" * 99 + "\n")
    answer = host(
        *options, operation="say", arguments={"size": 3_500_000}, directory=tmp_path,
        command=(sys.executable, str(Path(__file__).parent / "speaking.py")),
    )  # fmt: skip
    assert answer["events"][-1]["result"]["payload"] == {"said": "x" * 3_500_000}


@TLS
@pytest.mark.req("P26")
def test_a_cancelled_calls_report_reaches_the_go_host(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    answer = host(
        *options, "-cancel", operation="linger", arguments={}, directory=tmp_path,
        command=(sys.executable, str(Path(__file__).parent / "speaking.py")),
    )  # fmt: skip
    [report] = answer["reports"]
    event = event_pb2.ToolResultEvent.FromString(base64.b64decode(report["payload"]))
    assert (event.tool_call_id, report["session"]) == ("call-1", "session-1")
    assert from_struct(event.error.details) == {"lingered": True}
