"""What the harness and git act on later is not for a sandboxed command to write (K5a)."""

from pathlib import Path

import pytest
from process.sandboxes import bash, kind, output, tool  # noqa: F401 - fixtures

from pluggableharness.sdk.testing import Tool

pytestmark = [
    pytest.mark.req("C14", "K5a"),
    pytest.mark.parametrize("kind", ["bubblewrap"], indirect=True),
]


@pytest.mark.parametrize(
    "path", ["agent.hcl", ".agent/granted.hcl", ".git/config", ".git/hooks/pre-commit"]
)
async def test_rules_grants_and_what_git_runs_are_read_only(
    tool: Tool,  # noqa: F811
    tmp_path: Path,
    path: str,
) -> None:
    kept = tmp_path / path
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text("as it was")
    for command in (f"echo x >{path}", f"rm -f {path}", f"mv {path} other; echo x >{path}"):
        assert (await bash(tool, command)).payload["exit_code"] != 0
    assert await output(tool, f"cat {path}") == "as it was"
    assert kept.read_text() == "as it was"


async def test_git_still_commits(tool: Tool, tmp_path: Path) -> None:  # noqa: F811
    await output(tool, "git init -q && echo a >a && git add a")
    made = await output(tool, "git -c user.name=a -c user.email=a@b commit -qm one && git log -1")
    assert "one" in made
