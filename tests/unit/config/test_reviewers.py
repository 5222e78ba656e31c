"""Reviewers that are programs: where they are, that they are there, and that they are guarded."""

from pathlib import Path

import pytest

from pluggableharness.kernel.config.project import file_config
from pluggableharness.kernel.configured import setup_of
from pluggableharness.kernel.domain.errors import UsageError


def project(place: Path, reviewer: str) -> Path:
    (place / "scripts").mkdir()
    for name in ("review", "review.py"):
        (place / "scripts" / name).touch(0o755)
    (place / "sub").mkdir()
    path = place / "agent.hcl"
    path.write_text(
        f'policy "risky" {{\n  match    = {{ risk = "critical" }}\n'
        f'  action   = "review"\n  reviewer = {reviewer}\n}}\n'
    )
    return path


@pytest.mark.req("K8")
@pytest.mark.parametrize("reviewer", ['["./scripts/review"]', '["scripts/review", "-v"]'])
def test_a_reviewer_is_found_beside_the_configuration_from_wherever_it_is_asked(
    tmp_path: Path, reviewer: str
) -> None:
    config = file_config(project(tmp_path, reviewer), tmp_path / "sub", {})
    (rule,) = config.rules
    assert rule.reviewer is not None
    assert rule.reviewer.command[0] == str(tmp_path / "scripts" / "review")


@pytest.mark.req("K5a", "K8")
def test_who_writes_a_reviewers_files_is_asked_about_it(tmp_path: Path) -> None:
    path = project(tmp_path, '["python3", "-I", "./scripts/review.py"]')
    setup = setup_of(file_config(path, tmp_path, {}), tmp_path, {})
    assert str(tmp_path / "scripts" / "review.py") in setup.policy_files


@pytest.mark.req("K5a", "K8", "C14")
def test_whatever_a_configuration_starts_below_the_project_is_believed_later(
    tmp_path: Path,
) -> None:
    """Programs and the files among their words, of reviewers, providers and MCP servers."""
    for name in ("review.sh", "p/main.py", "p/rules.txt", "p/prog", "m/server.py", "m/more.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "agent.hcl").write_text(
        """
        required_providers {
          one = { source = ["python3", "-I", "p/main.py", "--rules=p/rules.txt", "p"] }
          two = { source = "./p/prog" }
          three = { source = "mcp", command = ["python3", "./m/server.py", "m/more.json", "-v"] }
        }
        policy "r" {
          match    = { risk = "critical" }
          action   = "review"
          reviewer = ["./review.sh"]
        }
        """
    )
    setup = setup_of(file_config(tmp_path / "agent.hcl", tmp_path, {}), tmp_path, {})
    below = {file.removeprefix(f"{tmp_path}/") for file in setup.policy_files}
    expected = {"agent.hcl", ".agent/granted.hcl", "review.sh", "p/main.py", "p/rules.txt"}
    assert expected | {"p/prog", "m/server.py", "m/more.json"} == {
        file for file in below if not file.startswith("/")
    }
    assert all(set(one.guarded) == setup.believed for one in setup.started)


@pytest.mark.req("K8", "F1", "F11")
@pytest.mark.parametrize(
    ("reviewer", "said"),
    [
        ('["./scripts/reviw"]', "is not there, or is no executable file"),
        ('["./scripts"]', "is not there, or is no executable file"),
        ('["python3", "./scripts/reviw.py"]', "'./scripts/reviw.py' is relative to agent.hcl"),
    ],
)
def test_a_reviewer_that_is_not_there_is_an_error_at_load(
    tmp_path: Path, reviewer: str, said: str
) -> None:
    with pytest.raises(UsageError, match="'reviewer'") as refused:
        file_config(project(tmp_path, reviewer), tmp_path, {})
    assert said in str(refused.value)
    assert ":1:1: " in str(refused.value)
