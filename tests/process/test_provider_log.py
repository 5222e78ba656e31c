"""What providers say beside their calls reaches whoever runs them (K28, C14)."""

import json
import sys

import pytest
from process.harness import Harness

TALKS = """
import sys

from pluggableharness.sdk import Context, Provider

provider = Provider("talks")

@provider.data_source()
async def now(ctx: Context[None]) -> dict[str, str]:
    'Answer.'
    print('{"@level": "warn", "@message": "old data", "days": 3}', file=sys.stderr, flush=True)
    print("plain words", file=sys.stderr, flush=True)
    return {"said": "yes"}

print('{"@level": "error", "@message": "before the handshake"}', file=sys.stderr, flush=True)
provider.serve()
"""
UNCONFINED = """
import runpy
from pluggableharness.providers.exec import sandbox

sandbox.mechanism = lambda: sandbox.Unavailable("this system has nothing for it")
runpy.run_module("pluggableharness.providers.exec", run_name="__main__")
"""


def configure(harness: Harness, name: str, source: str, settings: str = "") -> None:
    path = harness.project / f"{name}.py"
    path.write_text(source)
    words = json.dumps([sys.executable, str(path)])
    providers = f"required_providers {{\n  {name} = {{ source = {words} }}\n}}\n"
    (harness.project / "agent.hcl").write_text(providers + settings)


@pytest.mark.req("K28")
@pytest.mark.parametrize("settings", ["", 'settings { log_level = "debug" }\n'])
def test_what_a_provider_writes_on_stderr_joins_the_log_at_its_level(
    harness: Harness, settings: str
) -> None:
    configure(harness, "talks", TALKS, settings)
    called = harness.run("call", "talks.now", "--json")
    assert called.returncode == 0
    told = [
        "harness: error: provider.talks: before the handshake",
        "harness: warning: provider.talks: old data days=3",
    ]
    plain = ["harness: debug: provider.talks: plain words"]
    said = [line for line in called.stderr.splitlines() if "provider.talks" in line]
    assert said == told + (plain if settings else [])


@pytest.mark.req("C14")
def test_that_commands_cannot_be_confined_is_said_when_their_provider_starts(
    harness: Harness,
) -> None:
    configure(harness, "exec", UNCONFINED)
    called = harness.run("call", "exec.bash", "command=true", "--json")
    assert called.returncode == 0
    assert called.stderr == (
        "harness: warning: provider.exec: commands cannot be sandboxed here: this system has "
        "nothing for it\n"
    )
