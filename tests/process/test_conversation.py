"""`harness run` as a conversation: on a real terminal, with a model that is served on the spot."""

import signal

import pexpect
import pytest
from model_server import Call, ModelServer, Reply
from process.harness import Harness
from process.talking import MODEL, said, talking
from process_tree import eventually, seconds, with_word

from pluggableharness.kernel.codec.record_facts import read_facts
from pluggableharness.kernel.store.index import summary
from pluggableharness.kernel.store.reading import read_events, read_meta, verify

pytestmark = pytest.mark.providers("exec", "filesystem")


def ended_after_interrupt(process: pexpect.spawn) -> bool:
    process.kill(signal.SIGINT)
    return not process.isalive()


def facts(harness: Harness) -> list[str]:
    (log,) = harness.logs()
    assert verify(log).ok
    events = [read_facts(row.payload) for row in read_events(log) if row.kind == "session"]
    return [" ".join([str(one["event"]), *([one["status"]] if "status" in one else [])])
            for one in events if one["event"] not in ("notice", "instructed")]  # fmt: skip


@pytest.mark.req("K27", "K30", "K32")
def test_each_prompt_goes_on_with_one_session_in_one_record(harness: Harness) -> None:
    with talking(harness, [Reply("First **answer**."), Reply("Second answer.")]) as (talk, server):
        talk.say("first question", "answer")
        talk.say("second question", "Second answer")
        talk.ready()
        talk.process.send("\x04")
        talk.expect("record")
        assert talk.left() == 0
    assert said(harness) == ["first question", "First **answer**.", "second question",
                             "Second answer."]  # fmt: skip
    assert facts(harness) == ["started", "ended completed", "resumed", "ended completed"]
    assert len(server.requests[1]["messages"]) > len(server.requests[0]["messages"])
    (log,) = harness.logs()
    assert summary(log).status == "completed"


@pytest.mark.req("K17", "K32")
def test_an_interrupt_ends_the_turn_and_the_conversation_goes_on(harness: Harness) -> None:
    sleep = Reply("Running.", calls=[Call("exec.bash", {"command": f"sleep {seconds(317)}"})])
    with talking(harness, [sleep, Reply("Back again.")], "--allow-all") as (talk, _):
        talk.ready()
        talk.prompt("run it")
        eventually(lambda: bool(with_word(seconds(317))), "the command runs")
        talk.process.send("\x03")
        talk.expect("interrupted")
        talk.ready()
        eventually(lambda: not with_word(seconds(317)), "the command is gone")
        talk.prompt("and now?")
        talk.expect("Back again")
        talk.ready()
        talk.prompt("/quit")
        assert talk.left() == 0
    assert facts(harness) == ["started", "ended cancelled", "resumed", "ended completed"]


@pytest.mark.req("K10", "K17", "K32")
def test_an_interrupt_at_a_question_takes_it_back_and_runs_nothing(harness: Harness) -> None:
    touch = Reply("Touching.", calls=[Call("exec.bash", {"command": "touch made"})])
    with talking(harness, [touch, Reply("Fine.")]) as (talk, _):
        talk.say("touch it", "help > ")
        talk.process.send("\x03")
        talk.expect("no longer asked")
        talk.say("go on", "Fine")
        talk.leave()
    assert not (harness.project / "made").exists()
    assert facts(harness) == ["started", "ended cancelled", "resumed", "ended completed"]


@pytest.mark.req("K16", "K32")
def test_a_second_interrupt_leaves_at_once_with_the_terminal_as_it_was(harness: Harness) -> None:
    stubborn = f"trap '' TERM INT; sleep {seconds(317)}; sleep {seconds(317)}"
    running = Reply("Running.", calls=[Call("exec.bash", {"command": stubborn})])
    with talking(harness, [running], "--allow-all") as (talk, _):
        talk.ready()
        talk.prompt("run it")
        eventually(lambda: bool(with_word(seconds(317))), "the command runs")
        eventually(lambda: not talk.process.getecho(), "what is typed does not show")
        # Signals that come at once may be one; how often they come tells the harness nothing.
        eventually(lambda: ended_after_interrupt(talk.process), "it has left")
        assert talk.process.exitstatus == 130
        eventually(lambda: not with_word(seconds(317)), "the command is gone")


@pytest.mark.req("K32")
def test_two_interrupts_at_an_empty_prompt_leave_and_one_clears_what_is_typed(
    harness: Harness,
) -> None:
    with talking(harness, [Reply("Yes.")]) as (talk, _):
        talk.ready()
        talk.process.send("never sent\x03")
        talk.prompt("really sent")
        talk.expect("Yes")
        talk.ready()
        talk.process.send("\x03")
        talk.expect("again")
        talk.ready()
        talk.process.send("\x03")
        assert talk.left() == 0
    assert said(harness) == ["really sent", "Yes."]


@pytest.mark.req("K32")
def test_what_is_pasted_unmarked_never_breaks_the_prompt_whatever_sequence_it_holds(
    harness: Harness,
) -> None:
    """A program's colours, and what a terminal would say of itself, a mouse or a cursor."""
    sequences = ("[31m", "[5m", "[0;1;31m", "[m", "[M abc", "[<0;3;4M", "[<m", "[1;1R", "[?1;2c")
    with talking(harness, [Reply("Yes.")]) as (talk, _):
        talk.ready()
        talk.process.send("".join(f"\x1b{one}" for one in sequences) + "\x03sent")
        talk.prompt("")
        assert "Press ENTER" not in talk.expect("Yes")
        talk.leave()
    assert said(harness)[0].endswith("sent")


@pytest.mark.req("K11", "K32")
def test_plan_mode_is_turned_on_and_off_for_the_next_prompts(harness: Harness) -> None:
    replies = [Reply("Looked."), Reply("Could change.")]
    with talking(harness, replies) as (talk, server):
        talk.say("/plan", "plan >")
        talk.prompt("look")
        talk.expect("Looked")
        talk.say("/plan", "off")
        talk.say("go", "Could change")
        talk.ready()
    names = [{tool["function"]["name"] for tool in asked["tools"]} for asked in server.requests]
    assert "exec__bash" not in names[0] and "filesystem__read_file" in names[0]
    assert "exec__bash" in names[1]


@pytest.mark.req("K32", "F11")
def test_commands_say_what_there_is_and_a_mistyped_one_what_was_meant(harness: Harness) -> None:
    harness.configure(
        'agent_profile "default" {\n  max_turns = 7\n  tools = ["exec.bash", "user.ask_user"]\n}\n'
        'policy "look at git" {\n  match = { tool_name = "bash" }\n'
        '  when = "commands.all(c, c.program == \'git\')"\n  action = "allow"\n}\n',
        *("exec", "user"),
    )
    (harness.project / "cfg").symlink_to("agent.hcl")
    with talking(harness, []) as (talk, _):
        for typed, shown in (
            ("/polcy", "did you mean /policy"),
            ("/tools", r"exec.bash +resource +high"),
            ("/policy", "look at git +allow"),
            ("/policy exec.bash command='git log'", "verdict: allow by rule look at git"),
            ("/policy exec.bash comand=ls", "comand"),
            (
                "/policy exec.bash command='echo > cfg'",
                "'cfg' leads to",
            ),
            ("/cost", "0 of 7 for the last prompt"),
            ("/model", "openai-compatible:any"),
            ("/model google:other", "google:other: there is no key"),
            ("/resume", "no other session"),
            ("/help", "go on with another session"),
        ):
            talk.say(typed, shown)
        assert "did you mean" not in talk.say("/nonsense", "See /help"), "that is no slip"
        talk.leave()
    assert harness.logs() == [], "nobody said a word to a model"


@pytest.mark.req("K32")
def test_pasted_lines_are_one_prompt_and_prompts_are_remembered_in_private(
    harness: Harness,
) -> None:
    with talking(harness, [Reply("Both."), Reply("Again.")]) as (talk, _):
        talk.ready()
        talk.process.send("\x1b[200~one\ntwo\x1b[201~\r")
        talk.expect("Both")
        talk.leave()
    assert said(harness)[0] == "one\ntwo"
    kept = harness.state / "pluggableharness" / "history"
    assert kept.stat().st_mode & 0o777 == 0o600
    with talking(harness, [Reply("Again.")]) as (talk, server):
        talk.ready()
        talk.process.send("\x1b[A\r")
        talk.expect("Again")
        talk.ready()
    assert "one\ntwo" in str(server.requests[0]["messages"][-1]["content"])


@pytest.mark.req("K30", "K32")
def test_another_session_of_the_folder_is_chosen_and_goes_on(harness: Harness) -> None:
    with talking(harness, [Reply("The answer is 42.")]) as (talk, _):
        talk.say("what is it?", "42")
        talk.leave()
    (log,) = harness.logs()
    with talking(harness, [Reply("As I said.")]) as (talk, server):
        talk.say("/resume", "what is it")
        talk.say("1", "The answer is 42")
        talk.say("say it again", "As I said")
        talk.leave()
    assert harness.logs() == [log]
    assert facts(harness) == ["started", "ended completed", "resumed", "ended completed"]
    assert "what is it?" in str(server.requests[0]["messages"])


@pytest.mark.req("K30")
def test_run_resume_goes_on_in_conversation_or_with_one_prompt(harness: Harness) -> None:
    with ModelServer([Reply("One."), Reply("Two.")]) as server:
        first = harness.run("run", "say one", *MODEL, **server.environment)
        assert first.returncode == 0, first.stderr
        (log,) = harness.logs()
        resumed = ("run", "say two", "--resume", log.stem, *MODEL)
        done = harness.run(*resumed, **server.environment)
        assert done.returncode == 0, done.stderr
        assert "Two." in done.stdout
    assert said(harness) == ["say one", "One.", "say two", "Two."]
    with talking(harness, [Reply("Three.")], "--resume", log.stem) as (talk, _):
        talk.expect("Two")
        talk.say("say three", "Three")
        talk.say("/cost", "300 in, 30 out")
        talk.ready()
    assert read_meta(log)["prompt"] == "say one"


@pytest.mark.req("K32")
def test_a_dumb_terminal_holds_a_conversation_too(harness: Harness) -> None:
    with talking(harness, [Reply("Plain **answer**.")], TERM="dumb") as (talk, _):
        talk.expect("> ")
        talk.process.send("hello\n")
        shown = talk.expect(r"completed")
        assert "Plain **answer**." in shown
        assert "\x1b" not in str(talk.process.before)
        talk.expect("> ")
        talk.process.send("\x04")
        assert talk.left() == 0


@pytest.mark.req("K30", "K32")
def test_a_session_goes_on_with_its_recorded_model_and_leaving_it_says_how(
    harness: Harness,
) -> None:
    with talking(harness, [Reply("One.")]) as (talk, _):
        talk.say("say one", "One")
        talk.ready()
        talk.process.send("\x04")
        talk.expect(r"harness run --resume (\w+)")
        command = talk.process.match.group(1)
        assert talk.left() == 0
    (log,) = harness.logs()
    assert command == log.stem
    with talking(harness, [Reply("Two.")], "--resume", command, model=()) as (talk, server):
        talk.say("/model", "openai-compatible:any")
        talk.say("say two", "Two")
        talk.ready()
    assert server.requests[0]["model"] == "any"


@pytest.mark.req("K30", "K32")
def test_the_question_which_session_takes_the_beginning_of_an_id_as_well(harness: Harness) -> None:
    with talking(harness, [Reply("The answer is 42.")]) as (talk, _):
        talk.say("what is it?", "42")
        talk.leave()
    (log,) = harness.logs()
    with talking(harness, []) as (talk, _):
        talk.say("/resume", "what is it")
        talk.say("ZZZ", "no session")
        talk.say("/resume", "what is it")
        talk.say(log.stem[:25].lower(), "The answer is 42")


@pytest.mark.req("K30", "K32")
def test_a_session_that_cannot_go_on_is_told_and_the_conversation_stays(harness: Harness) -> None:
    with talking(harness, [Reply("The answer is 42.")]) as (talk, _):
        talk.say("what is it?", "42")
        (log,) = harness.logs()
        damaged = log.with_name(f"{'0' * 26}.sqlite")
        damaged.write_bytes(b"no log" * 1000)
        talk.say("/resume ../../etc/passwd", "no such log")
        talk.say(f"/resume {damaged.stem}", "no session log")
        talk.say(f"/resume {log.stem}", "is open already")
        talk.leave()
    damaged.unlink()
    assert facts(harness) == ["started", "ended completed"]


@pytest.mark.req("K22", "K30", "K32")
def test_a_session_of_another_folder_or_profile_does_not_go_on_where_it_never_was(
    harness: Harness,
) -> None:
    """Its record would name a folder that its calls did not run in, and its profile be no bound."""
    profiles = ('agent_profile "default" {}', 'agent_profile "reader" { tools = ["exec.bash"] }')
    harness.configure("\n".join((*profiles, "")), "exec")
    other = harness.project / "other"
    other.mkdir()
    with ModelServer([Reply("One."), Reply("Two.")]) as server:
        for words in (("--cwd", str(other)), ("--profile", "reader")):
            done = harness.run("run", "say it", *words, *MODEL, **server.environment)
            assert done.returncode == 0, done.stderr
    with talking(harness, []) as (talk, _):
        for log in harness.logs():
            talk.say(f"/resume {log.stem}", rf"harness\s+run\s+--resume\s+{log.stem}")
        talk.leave()


@pytest.mark.req("K17", "K30", "K32")
def test_what_was_seen_of_an_interrupted_answer_stays_in_history_and_record(
    harness: Harness,
) -> None:
    broken = Reply(["Half of ", "the answer ", "is never ", "sent."], hold=True)
    with talking(harness, [broken, Reply("Whole.")]) as (talk, server):
        talk.ready()
        talk.prompt("tell me")
        assert server.held.wait(25)
        talk.expect("Half of")
        talk.process.send("\x03")
        talk.expect("interrupted")
        talk.say("go on", "Whole")
        talk.leave()
    first, kept, second, last = said(harness)
    assert (first, second, last) == ("tell me", "go on", "Whole.")
    assert kept.startswith("Half of") and "interrupted" in kept
    asked = [one for one in server.requests[1]["messages"] if one["role"] != "system"]
    assert [one["role"] for one in asked] == ["user", "assistant", "user"]
    assert "Half of" in str(asked[1]["content"])
    (log,) = harness.logs()
    for told in (("replay",), ("replay", "--json"), ("show",), ("export", "--format", "markdown")):
        shown = harness.run("sessions", told[0], log.stem, *told[1:]).stdout
        assert "Half of" in shown and "[interrupted" in shown, told
        if "--json" not in told:
            assert "> tell me" in shown and "> go on" in shown, told
        if "markdown" in told:
            assert shown.count("# Session ") == 1
            assert [line for line in shown.split("\n") if line.startswith("## ")] == [
                "## Prompt 1",
                "## Prompt 2",
            ]
