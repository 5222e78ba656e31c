"""S4, S5: what a whole process costs from the shell to the prompt."""

import os
import subprocess
import sys
import time
from pathlib import Path

from bench.reading import Reading, alternating, at_most

ROOT = Path(__file__).parents[2]
_CONFIGURED = ROOT / "examples" / "configured-project" / "agent.hcl"
_HARNESS = str(Path(sys.executable).with_name("harness"))
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name[:6] != "PYTHON"}
"""Compiled modules are kept, as in any installation: both sides get to use them."""


async def rows() -> list[Reading]:
    """All of them."""
    call = [_HARNESS, "call", "filesystem.read_file", "path=README.md"]
    peer = [sys.executable, str(ROOT / "bench" / "peers" / "mcp_once.py")]
    python = [sys.executable, "-c", "pass"]
    help_, check = [_HARNESS, "--help"], [_HARNESS, "config", "check", str(_CONFIGURED)]
    for command in (call, peer, help_, check, python):
        _run(command)
    cold = await alternating(lambda: _timed(call), lambda: _timed(peer), rounds=7)
    asked = await alternating(lambda: _timed(help_), lambda: _timed(python), rounds=15)
    checked = await alternating(lambda: _timed(check), lambda: _timed(python), rounds=15)
    return [
        at_most("S4", "a cold call, whole process", cold, "ms", 0.3, "FastMCP, one call"),
        at_most("S5", "harness --help", asked, "ms", 8, "python -c pass"),
        at_most("S5", "harness config check", checked, "ms", 25, "python -c pass"),
    ]


async def _timed(command: list[str]) -> float:
    began = time.perf_counter()
    _run(command)
    return (time.perf_counter() - began) * 1e3


def _run(command: list[str]) -> None:
    subprocess.run(
        command, cwd=ROOT, env=_ENVIRONMENT, check=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
