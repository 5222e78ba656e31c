"""`harness policy`: explanations and second decisions, from the command line."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pluggableharness.providers.exec.sandbox import Mechanism, mechanism

RULES = """\
policy "git" {
  match  = { tool_name = "bash" }
  when   = "commands.all(c, c.program == 'git')"
  action = "allow"
}
"""
SCRIPT = """\
prompt: look
messages:
  - calls:
      - {id: a, tool: exec.bash, arguments: {command: git --version}}
      - {id: b, tool: exec.bash, arguments: {command: rm -rf nothing}}
  - say: done
"""
BOUND_S = 60


def harness(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pluggableharness.cli", *arguments],
        cwd=directory,
        env={**os.environ, "XDG_STATE_HOME": str(directory / "state")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )


@pytest.mark.req("F11")
def test_explain_names_the_rule_that_wins_and_why_the_others_do_not(tmp_path: Path) -> None:
    (tmp_path / "agent.hcl").write_text(RULES)
    said = harness(tmp_path, "policy", "explain", "exec.bash", "command=git status > f")
    assert said.returncode == 0, said.stderr
    assert "writes: ['f']" in said.stdout
    assert "does not match: it writes f" in said.stdout
    assert "verdict: ask by default for resource" in said.stdout
    wrong = harness(tmp_path, "policy", "explain", "exec.bsh", "command=ls")
    assert wrong.returncode == 2
    assert "exec.bash" in wrong.stderr


@pytest.mark.req("F11")
@pytest.mark.parametrize(
    ("operation", "said"),
    [
        ("web.web_fetch", 'add there web = { source = "builtin" }'),
        ("exce.bash", "there is no provider 'exce' here; did you mean exec? There are: exec."),
        ("bash", "'bash' is not PROVIDER.OPERATION"),
        ("exec.bsh", "exec.bash"),
    ],
)
def test_explain_says_why_an_operation_cannot_be_judged(
    tmp_path: Path, operation: str, said: str
) -> None:
    (tmp_path / "agent.hcl").write_text("required_providers {\n  exec = {}\n}\n" + RULES)
    refused = harness(tmp_path, "policy", "explain", operation, "command=ls")
    assert refused.returncode == 2
    assert said in refused.stderr
    assert refused.stdout == ""


@pytest.mark.req("F11")
def test_explain_starts_only_the_provider_that_it_speaks_of(tmp_path: Path) -> None:
    broken = '["/bin/false"]'
    (tmp_path / "agent.hcl").write_text(
        f"required_providers {{\n  exec = {{}}\n  other = {{ source = {broken} }}\n}}\n" + RULES
    )
    said = harness(tmp_path, "policy", "explain", "exec.bash", "command=git status")
    assert "verdict: allow by rule git" in said.stdout, said.stderr


@pytest.mark.req("F11", "K7")
@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
@pytest.mark.parametrize(
    ("settings", "verdict"),
    [("", "ask by default for resource"), ('sandbox = "read_only"', "allow by rule git")],
)
def test_git_in_a_repository_that_runs_programs_is_asked_about_without_a_sure_sandbox(
    settings: str, verdict: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.hcl").write_text(f'{RULES}provider "exec" {{\n  {settings}\n}}\n')
    for command in (["init", "-q"], ["config", "core.fsmonitor", "./x"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, timeout=BOUND_S)
    said = harness(tmp_path, "policy", "explain", "exec.bash", "command=git status")
    assert f"verdict: {verdict}" in said.stdout, said.stdout + said.stderr
    assert ("core.fsmonitor" in said.stdout) == (not settings)


@pytest.mark.req("F11", "K5a")
def test_explain_says_where_a_path_leads(tmp_path: Path) -> None:
    (tmp_path / "agent.hcl").write_text(
        'policy "all" {\n  match = { provider = "filesystem" }\n  action = "allow"\n}\n'
    )
    (tmp_path / "cfg").symlink_to("agent.hcl")
    said = harness(tmp_path, "policy", "explain", "filesystem.write_file", "path=cfg", "content=x")
    assert f"'cfg' leads to '{tmp_path}/agent.hcl'" in said.stdout, said.stdout + said.stderr
    assert "ask by protected path" in said.stdout


@pytest.mark.req("F11", "K5a")
def test_explain_knows_the_file_that_an_agent_hcl_leads_to(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "rules").write_text(
        'policy "all" {\n  match  = { provider = "filesystem" }\n  action = "allow"\n}\n'
    )
    (tmp_path / "agent.hcl").symlink_to("kept/rules")
    told = ("filesystem.write_file", "path=kept/rules", "content=x")
    said = harness(tmp_path, "policy", "explain", *told)
    assert "ask by protected path" in said.stdout, said.stdout + said.stderr


@pytest.mark.req("F11")
def test_recorded_calls_are_decided_again_by_the_present_rules(tmp_path: Path) -> None:
    (tmp_path / "agent.hcl").write_text(RULES)
    (tmp_path / "s.yaml").write_text(SCRIPT)
    assert harness(tmp_path, "run", "--script", "s.yaml").returncode == 3
    (log,) = (tmp_path / "state/pluggableharness/sessions").glob("*.sqlite")
    same = harness(tmp_path, "policy", "test", "--session", str(log))
    assert (same.returncode, same.stdout) == (0, "2 calls, 0 judged otherwise\n"), same.stderr
    (tmp_path / "agent.hcl").write_text(RULES.replace("'git'", "'rm'"))
    other = harness(tmp_path, "policy", "test", "--session", str(log))
    assert other.returncode == 1
    assert "git --version'" in other.stdout
    assert "was allow by rule git, would be ask by default for resource" in other.stdout
    assert "would be allow by rule git" in other.stdout
    assert other.stdout.endswith("2 calls, 2 judged otherwise\n")


@pytest.mark.req("K5a", "K8", "C14")
def test_what_the_harness_starts_and_git_believes_is_asked_about_and_held(tmp_path: Path) -> None:
    """A reviewer's program and a `.git` that is a file, under a rule that allows everything."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/review.sh").write_text("#!/bin/sh\n")
    (tmp_path / "tools/review.sh").chmod(0o755)
    (tmp_path / ".bare").mkdir()
    (tmp_path / ".git").write_text("gitdir: ./.bare\n")
    (tmp_path / "agent.hcl").write_text(
        'policy "all" {\n  action = "allow"\n}\npolicy "r" {\n  match    = { risk = "critical" }\n'
        '  action   = "review"\n  reviewer = ["./tools/review.sh"]\n}\n'
    )
    for path in ("tools/review.sh", ".bare/hooks/pre-commit"):
        words = ("filesystem.write_file", f"path={path}", "content=x")
        said = harness(tmp_path, "policy", "explain", *words)
        assert "verdict: ask by protected path" in said.stdout, said.stdout + said.stderr
    harness(
        tmp_path,
        *("call", "exec.bash"),
        "command=echo x >tools/review.sh; mkdir -p .bare/hooks; echo x >.bare/hooks/pre-commit",
    )
    if isinstance(mechanism(), Mechanism):
        assert (tmp_path / "tools/review.sh").read_text() == "#!/bin/sh\n"
        assert not (tmp_path / ".bare/hooks/pre-commit").exists()
