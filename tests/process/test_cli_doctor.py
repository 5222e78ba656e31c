"""`harness doctor`: what works here, and what does not and why."""

import json

import pytest
from process.harness import Harness

pytestmark = pytest.mark.req("C14", "C7")


def test_it_says_what_commands_run_in_and_which_ripgrep_there_is(harness: Harness) -> None:
    done = harness.run("doctor", "--json")
    told = {one["name"]: one for one in json.loads(done.stdout)}
    assert done.returncode == 0, done.stdout
    assert told["ripgrep"]["said"].split(".")[0].isdigit()
    assert "sandboxed" in told["confinement"]["said"]
    assert "sandboxed" in told["sandbox"]["said"]
    assert "bash" in told["provider exec"]["said"]
    assert str(harness.state) in told["records"]["said"]


def test_settings_decide_what_commands_run_in(harness: Harness) -> None:
    (harness.project / "agent.hcl").write_text('provider "exec" {\n  sandbox = "none"\n}\n')
    text = harness.run("doctor").stdout
    assert "warning  sandbox" in text and "commands run not sandboxed" in text


def test_what_is_broken_is_said_and_is_exit_code_1(harness: Harness) -> None:
    (harness.project / "agent.hcl").write_text('provider "exec" {\n  sandbox = "jail"\n}\n')
    done = harness.run("doctor")
    assert done.returncode == 1
    assert "broken" in done.stdout and "'jail' is none of" in done.stdout
    (harness.project / "agent.hcl").write_text("provider {\n")
    done = harness.run("doctor")
    assert done.returncode == 1
    assert "broken   configuration" in done.stdout and "ok       ripgrep" in done.stdout


@pytest.mark.req("K5a")
def test_it_says_what_holds_the_rules_and_hooks_and_what_does_not(harness: Harness) -> None:
    told = {one["name"]: one for one in json.loads(harness.run("doctor", "--json").stdout)}
    assert "In deeper folders" in told["rules and hooks"]["said"]
    (harness.project / "agent.hcl").write_text('provider "exec" {\n  sandbox = "none"\n}\n')
    text = harness.run("doctor").stdout
    assert "warning  rules and hooks" in text and "held by nothing: a command may change" in text
