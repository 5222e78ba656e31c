"""Which model answers a conversation, and letting another answer from the next prompt on."""

import pytest
from model_server import Call, Reply
from process.harness import Harness
from process.talking import talking

from pluggableharness.kernel.codec.record_facts import read_facts
from pluggableharness.kernel.store.reading import read_events, read_meta

PROFILES = """
required_providers {
  agent = {}
}
policy "agents" {
  match  = { provider = "agent" }
  action = "allow"
}
agent_profile "default" {
  tools = ["agent.*"]
  depth = 1
  model {
    primary {
      provider = "openai-compatible"
      id       = "first"
    }
    fallback {
      provider = "openai-compatible"
      id       = "second"
    }
  }
}
agent_profile "other" {
  tools = []
}
agent_profile "third" {
  tools = []
  model {
    primary {
      provider = "google"
      id       = "far"
    }
  }
}
"""


@pytest.mark.req("F10", "K30", "K32")
def test_another_model_answers_from_the_next_prompt_on_and_the_record_says_so(
    harness: Harness,
) -> None:
    (harness.project / "agent.hcl").write_text(PROFILES)
    spawn = Call("agent.spawn_subagent", {"prompt": "help me", "profile": "other"})
    replies = [Reply("One."), Reply(calls=[spawn]), Reply("Helped."), Reply("Two."), Reply("Back.")]
    with talking(harness, replies, model=()) as (talk, server):
        talk.ready()
        talk.prompt("go")
        talk.expect("One")
        talk.ready()
        talk.prompt("/model")
        talk.expect(r"openai-compatible:first +answers")
        talk.expect(r"openai-compatible:second +can answer")
        talk.expect(r"openai-compatible:ID +any of its models")
        talk.ready()
        for bad, told in (
            ("google:far", "there is no key"),
            ("far", "name a model as PROVIDER:ID"),
        ):
            talk.prompt(f"/model {bad}")
            talk.expect(told)
            talk.ready()
        talk.prompt("/model openai-compatible:another")
        talk.expect("another answers from the next prompt on")
        talk.ready()
        talk.prompt("and now?")
        talk.expect("Two")
        talk.ready()
        talk.prompt("/model openai-compatible:first")
        talk.expect("first answers from the next prompt on; when it cannot")
        talk.ready()
        talk.prompt("and you?")
        talk.expect("Back")
        talk.ready()
        talk.prompt("/quit")
        assert talk.left() == 0
    asked = [one["model"] for one in server.requests]
    assert asked == ["first", "another", "another", "another", "first"], "sub-agents go along"
    (log,) = (log for log in harness.logs() if not read_meta(log).get("parent"))
    facts = [read_facts(row.payload) for row in read_events(log) if row.kind == "session"]
    models = [one["model"] for one in facts if one["event"] in ("started", "resumed")]
    assert models == [f"openai-compatible:{one}" for one in ("first", "another", "first")]
