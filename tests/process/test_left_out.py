"""A provider that cannot be had is left out, and everything else goes on (P2, F4)."""

import json
import sys
from pathlib import Path

import pytest
from process.harness import Harness, lines

from pluggableharness.kernel.store.reading import read_events

HEAD = """\
required_providers {{
  filesystem = {{ source = "builtin" }}
  gone       = {{ source = {source} }}
}}
"""
ENDS_AT_ONCE = f'["{sys.executable}", "-c", "raise SystemExit(4)"]'
NOT_THERE = '["no-such-program-anywhere"]'


def with_one_missing(harness: Harness, source: str = ENDS_AT_ONCE, more: str = "") -> None:
    (harness.project / "agent.hcl").write_text(HEAD.format(source=source) + more)
    (harness.project / "a.txt").write_text("hello\n")


def scripted(harness: Harness, *calls: str) -> str:
    path = harness.project / "script.yaml"
    listed = ", ".join(f"{{tool: {one}, arguments: {{path: a.txt}}}}" for one in calls)
    path.write_text(f"messages:\n  - calls: [{listed}]\n  - say: Done.\n")
    return str(path)


@pytest.mark.req("P2", "F4")
@pytest.mark.parametrize(
    ("source", "why"),
    [(ENDS_AT_ONCE, "exited with code 4"), (NOT_THERE, "no-such-program-anywhere")],
)
def test_a_session_goes_on_without_it_says_so_and_refuses_its_calls(
    harness: Harness, source: str, why: str
) -> None:
    with_one_missing(harness, source, 'policy "all" {\n  action = "allow"\n}\n')
    done = harness.run(
        "run", "--json", "--script", scripted(harness, "filesystem.read_file", "gone.look")
    )
    assert done.returncode == 0, done.stderr
    told = lines(done.stdout)
    warnings = [one["message"] for one in told if one["type"] == "notice"]
    assert len([one for one in warnings if "gone is left out" in one and why in one]) == 1
    assert "hello" in done.stdout
    refused = [one for one in told if one["type"] == "call_refused"]
    assert ["gone.look" in json.dumps(one) for one in refused] == [True]
    (log,) = harness.logs()
    assert sum(b"gone is left out" in one.payload for one in read_events(log)) == 1


@pytest.mark.req("P2", "F4")
def test_tools_list_the_others_and_say_what_is_not_loaded(harness: Harness) -> None:
    with_one_missing(harness)
    done = harness.run("tools")
    assert done.returncode == 1
    assert "filesystem.read_file" in done.stdout
    assert "provider gone is not loaded" in done.stderr and "exited with code 4" in done.stderr


@pytest.mark.req("P2", "K4")
@pytest.mark.parametrize("source", [ENDS_AT_ONCE, NOT_THERE])
def test_a_call_concerns_its_own_provider_alone(harness: Harness, source: str) -> None:
    with_one_missing(harness, source)
    done = harness.run("call", "filesystem.read_file", "path=a.txt")
    assert done.returncode == 0 and "gone" not in done.stderr
    refused = harness.run("call", "gone.look")
    assert refused.returncode == 2 and "gone" in refused.stderr


@pytest.mark.req("P2")
@pytest.mark.parametrize("source", [ENDS_AT_ONCE, NOT_THERE])
def test_doctor_says_how_each_provider_is(harness: Harness, source: str) -> None:
    with_one_missing(harness, source)
    done = harness.run("doctor", "--json")
    health = {one["name"]: one["health"] for one in json.loads(done.stdout)}
    assert health["provider filesystem"] == "ok"
    assert health["provider gone"] == "broken"
    assert "configuration" not in health
    assert done.returncode == 1


@pytest.mark.req("P2", "F4")
def test_without_any_that_starts_there_is_no_session(harness: Harness) -> None:
    (harness.project / "agent.hcl").write_text(
        f"required_providers {{\n  one = {{ source = {ENDS_AT_ONCE} }}\n"
        f"  two = {{ source = {NOT_THERE} }}\n}}\n"
    )
    done = harness.run("run", "--script", scripted(harness, "one.look"))
    assert done.returncode == 2
    assert not harness.logs()


@pytest.mark.req("K26", "K25")
@pytest.mark.parametrize("mode", ["veto", "transform"])
def test_what_its_hook_was_to_judge_does_not_happen(harness: Harness, mode: str) -> None:
    hook = f'hook "pre-model-call" {{\n  provider = "gone"\n  mode = "{mode}"\n}}\n'
    with_one_missing(harness, more=hook)
    done = harness.run("run", "--json", "--script", scripted(harness, "filesystem.read_file"))
    assert done.returncode == 1
    assert lines(done.stdout)[-1]["status"] == "failed"
    assert "hello" not in done.stdout


PROVIDER = '''\
from pluggableharness.sdk import Context, Provider

provider = Provider("mine", version="1.0.0")


@provider.data_source()
async def look(ctx: Context[None]) -> dict[str, float]:
    """Look NOTHING."""
    return {}


if __name__ == "__main__":
    provider.serve()
'''


@pytest.mark.req("F4")
def test_one_that_has_changed_is_left_out_until_it_is_accepted(harness: Harness) -> None:
    source: Path = harness.project / "mine.py"
    source.write_text(PROVIDER)
    with_one_missing(harness, f'["{sys.executable}", "./mine.py"]')
    assert harness.run("tools").returncode == 0
    source.write_text(PROVIDER.replace("NOTHING", "everywhere"))
    changed = harness.run("tools")
    assert changed.returncode == 1
    assert "filesystem.read_file" in changed.stdout and "gone.look" not in changed.stdout
    assert "harness config accept" in changed.stderr and "everywhere" in changed.stderr
    done = harness.run("run", "--json", "--script", scripted(harness, "gone.look"))
    assert "gone.look" in json.dumps([x for x in lines(done.stdout) if x["type"] == "call_refused"])
    assert harness.run("config", "accept").returncode == 0
    assert harness.run("tools").returncode == 0
