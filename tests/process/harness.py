"""The `harness` command as tests start it: the real one, with a state directory of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HARNESS = (sys.executable, "-m", "pluggableharness.cli")


@dataclass(frozen=True)
class Harness:
    """Runs the command in a project, with its records below `state`."""

    project: Path
    state: Path
    started: "list[subprocess.Popen[str]]" = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "XDG_STATE_HOME": str(self.state)}

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*HARNESS, *words],
            cwd=self.project,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def start(self, *words: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [*HARNESS, *words],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def close(self) -> None:
        """End what a failed test has left running."""
        for process in self.started:
            process.kill()
            process.communicate()

    def script(self, text: str) -> str:
        path = self.state / "script.yaml"
        path.write_text(text)
        return str(path)

    def logs(self) -> list[Path]:
        return sorted((self.state / "pluggableharness" / "sessions").glob("*.sqlite"))


def lines(output: str) -> list[dict[str, Any]]:
    """The JSON objects of an output, one a line."""
    return [json.loads(line) for line in output.splitlines()]
