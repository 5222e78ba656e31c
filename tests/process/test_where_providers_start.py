"""A provider starts in the folder of its configuration, wherever the harness does (F3)."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from process.harness import BOUND_S, HARNESS, Harness, lines

MCP_SERVER = Path(__file__).parent / "mcp_server.py"
PROVIDER = '''
import os

from pluggableharness.sdk import Context, Provider

provider = Provider("where", version="1.0.0")


@provider.data_source()
async def here(ctx: Context[None]) -> dict[str, str]:
    """Tell the folder of this process."""
    return {"text": os.getcwd()}


if __name__ == "__main__":
    provider.serve()
'''


def asked(harness: Harness, elsewhere: Path, *words: str) -> str:
    """What the operation says when the harness itself is started elsewhere."""
    done = subprocess.run(
        [*HARNESS, "call", "where.here", "--json", *words],
        cwd=elsewhere,
        env=harness.environment,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
    )
    assert done.returncode == 0, done.stderr
    payload = lines(done.stdout)[-1]["payload"]
    return str(payload["text"] if "text" in payload else payload["content"][0]["text"])


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


@pytest.mark.req("F3")
@pytest.mark.parametrize("below", ["", "sub/folder"])
@pytest.mark.parametrize(
    "source",
    [
        pytest.param("source = COMMAND", id="a program"),
        pytest.param('source = "mcp", command = COMMAND', id="an MCP server"),
    ],
)
def test_a_provider_starts_where_its_agent_hcl_is(
    harness: Harness, elsewhere: Path, source: str, below: str
) -> None:
    script = MCP_SERVER.read_text() if "mcp" in source else PROVIDER
    (harness.project / "where.py").write_text(script)
    (harness.project / below).mkdir(parents=True, exist_ok=True)
    command = json.dumps([sys.executable, "where.py"])
    required = f"required_providers {{\n  where = {{ {source.replace('COMMAND', command)} }}\n}}\n"
    (harness.project / "agent.hcl").write_text(required)
    said = asked(harness, elsewhere, "--cwd", str(harness.project / below))
    assert said == str(harness.project)


@pytest.mark.req("C19")
@pytest.mark.parametrize("is_link", [False, True])
def test_a_project_has_one_list_of_tasks_for_sessions_in_all_of_its_folders(
    harness: Harness, tmp_path: Path, is_link: bool
) -> None:
    harness.configure("", "task")
    (harness.project / "sub").mkdir()
    seen_as = tmp_path / "link" if is_link else harness.project
    if is_link:
        seen_as.symlink_to(harness.project)
    below = ("--cwd", str(seen_as / "sub"))
    assert harness.run("call", "task.task_create", "title=one", *below).returncode == 0
    assert harness.run("call", "task.task_create", "title=two").returncode == 0
    listed = lines(harness.run("call", "task.task_list", "--json", *below).stdout)[-1]["payload"]
    assert [task["title"] for task in listed["tasks"]] == ["one", "two"]
    assert not (harness.project / "sub" / ".agent").exists()


@pytest.mark.req("F3")
@pytest.mark.parametrize("command", [("./where.py",), (sys.executable, "where.py")])
def test_a_provider_of_the_command_line_starts_where_it_was_typed(
    harness: Harness, elsewhere: Path, command: Sequence[str]
) -> None:
    script = elsewhere / "where.py"
    script.write_text(f"#!{sys.executable}\n{PROVIDER}")
    script.chmod(0o755)
    words = ("--cwd", str(harness.project), "--provider", " ".join(command))
    assert asked(harness, elsewhere, *words) == str(elsewhere)
