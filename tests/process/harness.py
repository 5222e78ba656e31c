"""The `harness` command as tests start it: the real one, with a state directory of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HARNESS = (sys.executable, "-m", "pluggableharness.cli")
BOUND_S = 120
"""Seconds that only a hang takes."""


@dataclass(frozen=True)
class Harness:
    """Runs the command in a project, with its records below `state`."""

    project: Path
    state: Path
    started: "list[subprocess.Popen[str]]" = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "XDG_STATE_HOME": str(self.state)}

    def run(
        self, *words: str, stdin: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*HARNESS, *words],
            cwd=self.project,
            env={**self.environment, **environment},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=BOUND_S,
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

    def configure(self, text: str, *providers: str) -> None:
        """Write agent.hcl, with these built-in providers alone, since all of them take long."""
        named = "".join(f"  {name} = {{}}\n" for name in providers)
        required = f"required_providers {{\n{named}}}\n"
        (self.project / "agent.hcl").write_text(text + required)

    def script(self, text: str) -> str:
        path = self.state / "script.yaml"
        path.write_text(text)
        return str(path)

    def logs(self) -> list[Path]:
        return sorted((self.state / "pluggableharness" / "sessions").glob("*.sqlite"))


@contextmanager
def placed(folder: Path) -> Iterator[Harness]:
    """The command in an empty project of a folder, until what it has left running is ended."""
    project, state = folder / "project", folder / "state"
    project.mkdir()
    state.mkdir(mode=0o700)
    started = Harness(project, state)
    try:
        yield started
    finally:
        started.close()


def lines(output: str) -> list[dict[str, Any]]:
    """The JSON objects of an output, one a line."""
    return [json.loads(line) for line in output.splitlines()]
