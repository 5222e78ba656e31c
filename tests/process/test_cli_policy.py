"""`harness policy`: explanations and second decisions, from the command line."""

import shutil
import subprocess

import pytest
from process.harness import BOUND_S, Harness

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


@pytest.mark.req("F11")
def test_explain_names_the_rule_that_wins_and_why_the_others_do_not(harness: Harness) -> None:
    (harness.project / "agent.hcl").write_text(RULES)
    said = harness.run("policy", "explain", "exec.bash", "command=git status > f")
    assert said.returncode == 0, said.stderr
    assert "writes: ['f']" in said.stdout
    assert "does not match: it writes f" in said.stdout
    assert "verdict: ask by default for resource" in said.stdout
    wrong = harness.run("policy", "explain", "exec.bsh", "command=ls")
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
    harness: Harness, operation: str, said: str
) -> None:
    (harness.project / "agent.hcl").write_text("required_providers {\n  exec = {}\n}\n" + RULES)
    refused = harness.run("policy", "explain", operation, "command=ls")
    assert refused.returncode == 2
    assert said in refused.stderr
    assert refused.stdout == ""


@pytest.mark.req("F11")
def test_explain_starts_only_the_provider_that_it_speaks_of(harness: Harness) -> None:
    broken = '["/bin/false"]'
    (harness.project / "agent.hcl").write_text(
        f"required_providers {{\n  exec = {{}}\n  other = {{ source = {broken} }}\n}}\n" + RULES
    )
    said = harness.run("policy", "explain", "exec.bash", "command=git status")
    assert "verdict: allow by rule git" in said.stdout, said.stderr


@pytest.mark.req("F11", "K7")
@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
@pytest.mark.parametrize(
    ("settings", "verdict"),
    [("", "ask by default for resource"), ('sandbox = "read_only"', "allow by rule git")],
)
def test_git_in_a_repository_that_runs_programs_is_asked_about_without_a_sure_sandbox(
    settings: str, verdict: str, harness: Harness
) -> None:
    (harness.project / "agent.hcl").write_text(f'{RULES}provider "exec" {{\n  {settings}\n}}\n')
    for command in (["init", "-q"], ["config", "core.fsmonitor", "./x"]):
        subprocess.run(["git", *command], cwd=harness.project, check=True, timeout=BOUND_S)
    said = harness.run("policy", "explain", "exec.bash", "command=git status")
    assert f"verdict: {verdict}" in said.stdout, said.stdout + said.stderr
    assert ("core.fsmonitor" in said.stdout) == (not settings)


@pytest.mark.req("F12")
@pytest.mark.parametrize(
    ("call", "verdict"),
    [
        (("task.task_create", "title=x"), "allow by rule tasks"),
        (("filesystem.read_file", "path=x"), "allow by rule reads"),
        (("filesystem.write_file", "path=x", "content=y"), "ask by default for resource"),
    ],
)
def test_what_init_writes_allows_reads_and_tasks_and_asks_about_the_rest(
    harness: Harness, call: tuple[str, ...], verdict: str
) -> None:
    assert harness.run("init").returncode == 0
    said = harness.run("policy", "explain", *call)
    assert f"verdict: {verdict}" in said.stdout, said.stdout + said.stderr


@pytest.mark.req("F11", "K5a")
def test_explain_says_where_a_path_leads(harness: Harness) -> None:
    (harness.project / "agent.hcl").write_text(
        'policy "all" {\n  match = { provider = "filesystem" }\n  action = "allow"\n}\n'
    )
    (harness.project / "cfg").symlink_to("agent.hcl")
    said = harness.run("policy", "explain", "filesystem.write_file", "path=cfg", "content=x")
    assert f"'cfg' leads to '{harness.project}/agent.hcl'" in said.stdout, said.stdout + said.stderr
    assert "ask by protected path" in said.stdout


@pytest.mark.req("F11", "K5a")
def test_explain_knows_the_file_that_an_agent_hcl_leads_to(harness: Harness) -> None:
    (harness.project / "kept").mkdir()
    (harness.project / "kept" / "rules").write_text(
        'policy "all" {\n  match  = { provider = "filesystem" }\n  action = "allow"\n}\n'
    )
    (harness.project / "agent.hcl").symlink_to("kept/rules")
    told = ("filesystem.write_file", "path=kept/rules", "content=x")
    said = harness.run("policy", "explain", *told)
    assert "ask by protected path" in said.stdout, said.stdout + said.stderr


@pytest.mark.req("F11")
def test_recorded_calls_are_decided_again_by_the_present_rules(harness: Harness) -> None:
    harness.configure(RULES, "exec")
    (harness.project / "s.yaml").write_text(SCRIPT)
    assert harness.run("run", "--script", "s.yaml").returncode == 3
    (log,) = harness.logs()
    same = harness.run("policy", "test", "--session", str(log))
    assert (same.returncode, same.stdout) == (0, "2 calls, 0 judged otherwise\n"), same.stderr
    harness.configure(RULES.replace("'git'", "'rm'"), "exec")
    other = harness.run("policy", "test", "--session", str(log))
    assert other.returncode == 1
    assert "git --version'" in other.stdout
    assert "was allow by rule git, would be ask by default for resource" in other.stdout
    assert "would be allow by rule git" in other.stdout
    assert other.stdout.endswith("2 calls, 2 judged otherwise\n")


@pytest.mark.req("F11", "K5a")
def test_recorded_calls_are_decided_again_by_where_their_paths_lead(harness: Harness) -> None:
    (harness.project / "cfg").symlink_to("agent.hcl")
    (harness.project / ".bare" / "hooks").mkdir(parents=True)
    (harness.project / ".git").write_text("gitdir: ./.bare\n")
    harness.configure(
        'policy "all" {\n  match = { provider = "filesystem" }\n  action = "allow"\n}\n',
        "filesystem",
    )
    calls = "".join(
        f"      - {{id: {path}, tool: filesystem.write_file,"
        f" arguments: {{path: {path}, content: x}}}}\n"
        for path in ("cfg", ".bare/hooks/pre-commit", "plain")
    )
    script = f"prompt: look\nmessages:\n  - calls:\n{calls}  - say: done\n"
    (harness.project / "s.yaml").write_text(script)
    assert harness.run("run", "--script", "s.yaml").returncode == 3
    (log,) = harness.logs()
    same = harness.run("policy", "test", "--session", str(log))
    assert (same.returncode, same.stdout) == (0, "3 calls, 0 judged otherwise\n"), same.stderr


@pytest.mark.req("K5a", "K8", "C14")
def test_what_the_harness_starts_and_git_believes_is_asked_about_and_held(harness: Harness) -> None:
    """A reviewer's program and a `.git` that is a file, under a rule that allows everything."""
    (harness.project / "tools").mkdir()
    (harness.project / "tools/review.sh").write_text("#!/bin/sh\n")
    (harness.project / "tools/review.sh").chmod(0o755)
    (harness.project / ".bare").mkdir()
    (harness.project / ".git").write_text("gitdir: ./.bare\n")
    (harness.project / "agent.hcl").write_text(
        'policy "all" {\n  action = "allow"\n}\npolicy "r" {\n  match    = { risk = "critical" }\n'
        '  action   = "review"\n  reviewer = ["./tools/review.sh"]\n}\n'
    )
    for path in ("tools/review.sh", ".bare/hooks/pre-commit"):
        words = ("filesystem.write_file", f"path={path}", "content=x")
        said = harness.run("policy", "explain", *words)
        assert "verdict: ask by protected path" in said.stdout, said.stdout + said.stderr
    harness.run(
        *("call", "exec.bash"),
        "command=echo x >tools/review.sh; mkdir -p .bare/hooks; echo x >.bare/hooks/pre-commit",
    )
    if isinstance(mechanism(), Mechanism):
        assert (harness.project / "tools/review.sh").read_text() == "#!/bin/sh\n"
        assert not (harness.project / ".bare/hooks/pre-commit").exists()
