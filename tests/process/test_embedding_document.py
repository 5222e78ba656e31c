"""The lines of the how-to on embedding run (K34)."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from process.harness import Harness

import pluggableharness as ph

ROOT = Path(__file__).parents[2]
HOW_TO = (ROOT / "docs/how-to/embed-the-kernel.md").read_text()


@pytest.mark.req("K34")
def test_an_example_without_its_arguments_says_how_it_is_called() -> None:
    first = ROOT / "examples/library/first.py"
    done = subprocess.run([sys.executable, first], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, "usage: first.py DIRECTORY\n")


def block(start: str) -> str:
    (code,) = re.findall(rf"```python\n({re.escape(start)}.*?)```\n", HOW_TO, re.DOTALL)
    return str(code)


async def run(code: str, **names: Any) -> dict[str, Any]:
    """Run lines that await, as the body of a coroutine function; what they leave behind."""
    body = "".join(f"    {line}\n" for line in code.splitlines())
    scope: dict[str, Any] = {name: getattr(ph, name) for name in ph.__all__}
    exec(f"async def body():\n{body}    return locals()", {**scope, **names}, out := {})  # type: ignore[var-annotated]
    left: dict[str, Any] = await out["body"]()
    return left


@pytest.mark.req("K34")
async def test_the_lines_on_setup_calls_and_records_run(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(harness.state))
    directory = harness.project
    setup = (await run(block("setup = Setup("), directory=directory))["setup"]
    assert [spec.name for spec in setup.providers] == ["filesystem", "hello"]
    left = await run(
        block("async with opened(project(directory)) as kernel:\n    names"), directory=directory
    )
    assert "filesystem.write_file" in left["names"]
    assert left["shown"] is not None
    assert isinstance(left["outcome"], ph.Success)
    (log,) = harness.logs()
    end = ph.SessionEnd(log.stem, ph.SessionStatus.COMPLETED)
    found = await run(block("found = record("), end=end)
    assert len(found["history"]) == 4


@pytest.mark.req("K34", "K36")
async def test_the_lines_on_a_vendors_model_say_what_is_missing(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ph.UsageError, match="ANTHROPIC_API_KEY"):
        await run(block("async with (\n    model("), directory=harness.project, decide=None)
