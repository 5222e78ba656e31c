"""A kernel killed while it writes its log."""

import json
import subprocess
import sys
from pathlib import Path

import log_killing
import pytest


@pytest.mark.req("K27", "K29", "R2")
def test_whatever_a_killed_writer_acknowledged_is_there_once_and_in_order(tmp_path: Path) -> None:
    """Case session-log-07."""
    command = [sys.executable, log_killing.__file__, str(tmp_path), "200", "7"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    done = json.loads(run.stdout)
    assert done["rounds"] == 200
    assert done["rows"] >= done["acknowledged"] > 200
    assert done["recovered"] > 100
