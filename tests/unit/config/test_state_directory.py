"""The user's state, records and what they allowed, is no project's to write (K5a, K10, C14)."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.configured import configured
from pluggableharness.kernel.domain.call import CallContext
from pluggableharness.kernel.domain.verdict import Decision, Verdict
from pluggableharness.kernel.judging import Judging
from pluggableharness.kernel.policy import Action, Rule
from pluggableharness.kernel.setup import Setup

WRITE = operation("write_file")
ALLOW = 'policy "w" {\n  match  = { provider = "filesystem" }\n  action = "allow"\n}\n'
BELOW = ["granted/x", "sessions/1.sqlite", "history", "new/x", "."]

pytestmark = pytest.mark.req("K5a", "C14")


def project(place: Path, how: str) -> Setup:
    """A project with a rule that allows every file operation, set up in one of three ways."""
    place.mkdir(exist_ok=True)
    if how == "agent.hcl":
        (place / "agent.hcl").write_text(ALLOW)
    made = Setup(place) if how == "library" else configured(place, os.environ)
    rules = made.rules or (Rule("w", Action.ALLOW, provider=frozenset(["filesystem"])),)
    return Setup(place, made.providers, rules=rules, policy_files=made.policy_files)


async def judged(setup: Setup, path: str) -> Verdict:
    judging = Judging(setup, lambda *spent: None)
    context = CallContext("s", "t", str(setup.working_directory))
    made = replace(call(WRITE, path=path, content="x"), context=context)
    return judging.explain(await judging.locate(made)).verdict


@pytest.mark.parametrize("how", ["agent.hcl", "no agent.hcl", "library"])
@pytest.mark.parametrize("where", ["the project", "beside the project", "a link in the project"])
async def test_a_write_there_is_asked_about_whatever_a_rule_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, where: str
) -> None:
    place = tmp_path / "project"
    place.mkdir()
    home = tmp_path / "home" if where == "beside the project" else place / "home"
    if where == "a link in the project":
        (tmp_path / "real").mkdir()
        home.symlink_to(tmp_path / "real")
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    setup = project(place, how)
    assert (await judged(setup, "src/x")).decision is Decision.ALLOW
    for name in BELOW:
        path = home / "pluggableharness" / name
        for spelling in (str(path), os.path.relpath(path, place), str(path.resolve())):
            assert (await judged(setup, spelling)).decision is Decision.ASK, spelling


@pytest.mark.parametrize("how", ["agent.hcl", "no agent.hcl", "library"])
def test_every_provider_is_told_to_keep_its_commands_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    setup = project(tmp_path / "project", how)
    assert setup.started
    state = str(tmp_path / "state" / "pluggableharness")
    assert all(state in one.guarded for one in setup.started)


def test_without_a_place_for_state_there_is_none_to_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    setup = project(tmp_path / "project", "no agent.hcl")
    assert setup.believed == setup.policy_files
