"""The sandbox hides the temporary folders, but not the program that has to run in it."""

import json
import os
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from process.harness import Harness


@pytest.mark.req("C14")
@pytest.mark.parametrize("where", ["in a project", "in the root of all files"])
def test_an_environment_below_a_temporary_folder_runs_commands_in_the_sandbox(
    harness: Harness, tmp_path: Path, where: str
) -> None:
    place = tmp_path / "environment"
    venv.create(place, symlinks=True, with_pip=False)
    packages = place / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    source = Path(__file__).parents[2] / "src"
    paths = [str(source), *site.getsitepackages()]
    (packages / "shared.pth").write_text("\n".join(paths) + "\n")
    done = subprocess.run(
        [str(place / "bin/python"), "-m", "pluggableharness.cli",
         "call", "exec.bash", "command=echo inside", "--json"],
        cwd=harness.project if where == "in a project" else "/",
        env={**os.environ, "XDG_STATE_HOME": str(harness.state)},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["payload"]["output"] == "inside\n"
