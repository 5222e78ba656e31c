"""The way back to the kernel, when there is none or it does not answer."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from pluggableharness.sdk import KernelUnavailable
from pluggableharness.sdk.callbacks import CallRef, SessionRequest
from pluggableharness.sdk.serving import kernel_link
from pluggableharness.sdk.serving.kernel_link import KernelLink

CALL = CallRef("call-1", "session-1")


@pytest.fixture
async def link(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A link of a process that waits for no one, so that a test need not either."""
    monkeypatch.setattr(kernel_link, "WAIT_S", 0)
    link = KernelLink("sample")
    yield link
    await link.close()


def entries(capsys: pytest.CaptureFixture[str]) -> Any:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


@pytest.mark.req("P32")
async def test_without_a_kernel_emit_and_run_session_say_so(link: Any) -> None:
    with pytest.raises(KernelUnavailable, match="sample has no kernel to call back"):
        await link.emit(CALL, "message", b"", "1")
    with pytest.raises(KernelUnavailable, match="announced no KernelCallbackService"):
        await link.run_session(CALL, SessionRequest("worker", "dig"))


@pytest.mark.req("P32")
async def test_without_a_kernel_an_entry_is_one_json_line_in_go_plugins_form(
    link: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    link.log(CALL, "warn", "odd\nthing", {"count": 1, "odd": {1}})
    (entry,) = entries(capsys)
    assert entry["@timestamp"].endswith("Z")
    del entry["@timestamp"]
    assert entry == {
        "@level": "warn",
        "@module": "sample",
        "@message": "odd\nthing",
        "count": 1,
        "odd": "{1}",
    }


@pytest.mark.req("P26")
async def test_a_report_that_no_kernel_takes_is_logged_and_not_lost(
    link: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    await link.report_cancelled(CALL, {"written": ["a.txt"]})
    (entry,) = entries(capsys)
    assert entry["@level"] == "warn"
    assert entry["report"] == {"written": ["a.txt"]}


async def test_entries_for_a_kernel_that_went_away_go_to_stderr(
    link: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link.announce("unix", str(tmp_path / "nobody-listens"))
    link.log(CALL, "info", "first", {})
    link.log(CALL, "info", "second", {})
    assert entries(capsys) == []
    await link.close()
    assert [entry["@message"] for entry in entries(capsys)] == ["first", "second"]


async def test_a_kernel_that_takes_no_entries_cannot_fill_the_memory(
    link: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link.announce("unix", str(tmp_path / "nobody-listens"))
    for number in range(kernel_link.MAX_WAITING + 5):
        link.log(CALL, "info", str(number), {})
    assert len(entries(capsys)) == 5


async def test_a_host_that_announces_late_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kernel_link, "WAIT_S", 25)
    link = KernelLink("sample")
    emitting = asyncio.create_task(link.emit(CALL, "message", b"", "1"))
    await asyncio.sleep(0)
    assert not emitting.done()
    link.announce("unix", str(tmp_path / "nobody-listens"))
    with pytest.raises(KernelUnavailable, match="Emit did not reach the kernel: UNAVAILABLE"):
        await emitting
    await link.close()
