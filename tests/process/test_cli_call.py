"""`harness call`: one operation by hand, streamed, with exit codes to rely on."""

import os
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pexpect
import pytest
from process.harness import BOUND_S, HARNESS, Harness, lines
from unit.turn.doubles import operation

from pluggableharness.cli.tools import as_table
from pluggableharness.kernel.store.reading import read_events, verify

NOTES = Path(__file__).parents[2] / "examples" / "notes-provider"


@pytest.mark.req("K4", "P8")
def test_arguments_are_read_by_the_schema_and_the_result_is_the_last_line(
    harness: Harness,
) -> None:
    (harness.project / "a.txt").write_text("one\ntwo\nthree\n")
    done = harness.run("call", "filesystem.read_file", "path=a.txt", "start_line=2", "--json")
    assert done.returncode == 0, done.stderr
    last = lines(done.stdout)[-1]
    assert last["type"] == "result"
    assert last["payload"]["content"] == "2|two\n3|three"
    assert last["payload"]["total_lines"] == 3


@pytest.mark.req("P10", "P14")
def test_output_is_there_while_the_command_still_runs(harness: Harness) -> None:
    os.mkfifo(harness.project / "go")
    running = harness.start(
        "call", "exec.bash", "command=echo first; read line < go; echo $line", "--json"
    )
    assert running.stdout is not None
    assert '"text":"first\\n"' in running.stdout.readline().replace(": ", ":")
    (harness.project / "go").write_text("second\n")
    rest, _ = running.communicate(timeout=30)
    kinds = [line["type"] for line in lines(rest)]
    assert kinds == ["output_chunk", "exit_status", "result"]


@pytest.mark.req("P13")
def test_a_command_that_fails_is_a_result_and_fails_the_call_by_hand(harness: Harness) -> None:
    done = harness.run("call", "exec.bash", "command=exit 7", "--json")
    assert done.returncode == 1
    assert lines(done.stdout)[-1]["payload"]["exit_code"] == 7


@pytest.mark.req("P8")
def test_bad_arguments_never_reach_the_provider_and_name_each_field(harness: Harness) -> None:
    done = harness.run(
        "call", "filesystem.read_file", "--args", '{"pth": "a", "start_line": "5"}', "--json"
    )
    assert done.returncode == 1
    error = lines(done.stdout)[-1]
    assert error["category"] == "invalid_arguments"
    for said in ("pth", "path", "start_line", '"5"'):
        assert said in error["message"]
    assert "call again" not in error["message"], "that is for models"


def test_arguments_come_from_a_file_and_from_standard_input(harness: Harness) -> None:
    (harness.project / "a.txt").write_text("x\n")
    (harness.project / "args.json").write_text('{"path": "a.txt"}')
    by_file = harness.run("call", "filesystem.read_file", "--args", "@args.json")
    by_stdin = harness.run("call", "filesystem.read_file", "--args", "-", stdin='{"path": "a.txt"}')
    assert by_file.returncode == by_stdin.returncode == 0
    assert by_file.stdout == by_stdin.stdout == "1|x\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("read_file",), "not PROVIDER.OPERATION"),
        (("filesytem.read_file",), "did you mean filesystem"),
        (("filesystem.read_file", "path"), "not NAME=VALUE"),
        (("filesystem.read_file", "--args", "@no.json"), "cannot be read"),
        (("x.y", "--provider", "/nowhere/at/all"), "/nowhere/at/all"),
        (("filesystem.read_file", "--cwd", "no-such"), "not a directory"),
    ],
)
def test_a_call_that_cannot_be_made_says_why_and_exits_2(
    harness: Harness, words: tuple[str, ...], said: str
) -> None:
    done = harness.run("call", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_operation_is_not_found_and_lists_what_there_is(harness: Harness) -> None:
    done = harness.run("call", "filesystem.raed_file", "path=a", "--json")
    assert done.returncode == 1
    error = lines(done.stdout)[-1]
    assert error["category"] == "not_found"
    assert "filesystem.read_file" in error["message"]


@pytest.mark.req("P29", "C6")
def test_a_preview_shows_the_diff_and_changes_nothing(harness: Harness) -> None:
    path = harness.project / "a.txt"
    path.write_text("old\n")
    done = harness.run(
        "call", "filesystem.edit_file", "path=a.txt", "old_str=old", "new_str=new", "--preview"
    )
    assert done.returncode == 0
    assert "old" in done.stdout
    assert "new" in done.stdout
    assert path.read_text() == "old\n"


@pytest.mark.req("P29")
def test_a_preview_that_fails_is_not_taken_for_none_that_there_is(harness: Harness) -> None:
    chatty = str(Path(__file__).with_name("chatty_provider.py"))
    (harness.project / "agent.hcl").write_text(
        f'required_providers {{\n  chatty = {{ source = ["{sys.executable}", "{chatty}"] }}\n}}\n'
    )
    for text, told in (("hello", "would say hello"), ("break", "gave no preview of this call")):
        done = harness.run("call", "chatty.everything", f"text={text}", "--preview")
        assert done.returncode == 0, done.stderr
        assert told in done.stdout


@pytest.mark.req("P29", "C6")
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_preview_of_a_call_that_would_fail_ends_with_1(
    harness: Harness, form: tuple[str, ...]
) -> None:
    (harness.project / "a.txt").write_text("old old\n")
    words = ("path=a.txt", "old_str=old", "new_str=new", "--preview")
    done = harness.run("call", "filesystem.edit_file", *words, *form)
    assert "would fail" in done.stdout, done.stderr
    assert done.returncode == 1


@pytest.mark.req("K4")
def test_reading_first_is_not_asked_of_a_person(harness: Harness) -> None:
    (harness.project / "a.txt").write_text("old\n")
    done = harness.run("call", "filesystem.write_file", "path=a.txt", "content=new")
    assert done.returncode == 0, done.stderr
    assert (harness.project / "a.txt").read_text() == "new"


@pytest.mark.req("K4", "P28")
def test_another_provider_of_the_name_is_given_no_setting_of_ours(harness: Harness) -> None:
    named = f'filesystem = {{ source = ["{sys.executable}", "{HELLO}"] }}'
    (harness.project / "agent.hcl").write_text(f"required_providers {{\n  {named}\n}}\n")
    done = harness.run("call", "filesystem.greet", "name=Ada")
    assert (done.returncode, done.stdout) == (0, "text: Hello, Ada!\n"), done.stderr


@pytest.mark.req("K27")
def test_a_call_leaves_a_record_with_its_intent_and_its_outcome(harness: Harness) -> None:
    harness.run("call", "filesystem.write_file", "path=a.txt", "content=new")
    (log,) = harness.logs()
    assert verify(log).ok
    kinds = [event.kind for event in read_events(log)]
    assert kinds.index("tool_call") < kinds.index("tool_result")


@pytest.mark.req("K14")
def test_a_deadline_ends_the_call_as_a_timeout_with_what_there_was(harness: Harness) -> None:
    done = harness.run("call", "exec.bash", "command=echo early; sleep 60", "timeout_s=1", "--json")
    assert done.returncode == 1
    error = lines(done.stdout)[-1]
    assert error["category"] == "timeout"
    assert error["details"]["output"] == "early\n"


def test_anyones_provider_runs_by_its_command_line(harness: Harness, tmp_path: Path) -> None:
    import sys

    hello = Path(__file__).parents[2] / "examples" / "hello-provider" / "hello_provider.py"
    done = harness.run(
        "call", "hello.greet", "name=Ada", "--provider", f"{sys.executable} {hello}", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert "Ada" in str(lines(done.stdout)[-1]["payload"])
    assert "notice" not in done.stderr


HELLO = Path(__file__).parents[2] / "examples" / "hello-provider" / "hello_provider.py"
BY_HAND = ("--provider", f"{sys.executable} {HELLO}")
AUDIT = HELLO.parents[1] / "audit-provider" / "audit_provider.py"


@pytest.mark.req("K4", "K25")
@pytest.mark.parametrize("loaded", ["", f'hello = {{ source = ["{sys.executable}", "{HELLO}"] }}'])
@pytest.mark.parametrize("action", ["forbid", "deny", "ask", "veto"])
def test_an_executable_by_hand_is_judged_by_the_projects_rules_and_hooks(
    harness: Harness, loaded: str, action: str
) -> None:
    """Whether the project loads a provider of that name or not; an ask is answered by the call."""
    audit = f'audit = {{ source = ["{sys.executable}", "{AUDIT}"] }}'
    rule = f'policy "r" {{\n  when = "provider == \'hello\'"\n  action = "{action}"\n}}\n'
    hook = (
        'provider "audit" {\n  log = "log"\n  protected = ["Ada"]\n}\n'
        'hook "pre-tool-call" {\n  provider = "audit"\n  mode = "veto"\n}\n'
    )
    (harness.project / "agent.hcl").write_text(
        f"required_providers {{\n  {audit}\n  {loaded}\n}}\n" + (hook if action == "veto" else rule)
    )
    done = harness.run("call", "hello.greet", "name=Ada", *BY_HAND)
    assert done.returncode == (0 if action == "ask" else 3), done.stderr
    done = harness.run("call", "hello.greet", "name=Bob", *BY_HAND)
    assert done.returncode == (0 if action in ("ask", "veto") else 3), done.stderr


@pytest.mark.req("K25", "F4")
def test_an_executable_by_hand_is_no_other_provider_to_the_lock_file_but_answers_no_hook(
    harness: Harness,
) -> None:
    python = f'"{sys.executable}"'
    config = f"""
        required_providers {{
          audit = {{ source = [{python}, "{AUDIT}"] }}
          hello = {{ source = [{python}, "{NOTES}/notes_provider.py"] }}
        }}
        provider "audit" {{
          log = "log"
        }}
        provider "hello" {{
          token = env("NOTES_TOKEN")
        }}
    """
    token = {"NOTES_TOKEN": "abc123"}
    (harness.project / "agent.hcl").write_text(config)
    accepted = harness.run("config", "accept", **token)
    assert accepted.returncode == 0, accepted.stderr
    lock = harness.project / ".agent" / "agent.lock.hcl"
    pinned = lock.read_text()
    called = harness.run("call", "hello.greet", "name=Ada", *BY_HAND, **token)
    assert called.returncode == 0, called.stderr
    assert lock.read_text() == pinned
    hook = 'hook "pre-tool-call" {\n  provider = "audit"\n  mode = "veto"\n}\n'
    (harness.project / "agent.hcl").write_text(config + hook)
    refused = harness.run("call", "audit.greet", "name=Ada", *BY_HAND, **token)
    assert refused.returncode == 2
    assert "would take the place of provider 'audit'" in refused.stderr


def test_a_provider_that_calls_itself_otherwise_is_called_with_a_notice(harness: Harness) -> None:
    import sys

    hello = Path(__file__).parents[2] / "examples" / "hello-provider" / "hello_provider.py"
    done = harness.run("call", "helo.greet", "name=Ada", "--provider", f"{sys.executable} {hello}")
    assert done.returncode == 0, done.stderr
    assert "notice: the provider calls itself 'hello', not 'helo'" in done.stderr


def test_tools_lists_every_operation_with_its_schemas(harness: Harness) -> None:
    done = harness.run("tools", "--json")
    assert done.returncode == 0, done.stderr
    import json

    listed = {f"{one['provider']}.{one['operation']}": one for one in json.loads(done.stdout)}
    bash = listed["exec.bash"]
    assert (bash["kind"], bash["risk"], bash["safe"]) == ("resource", "high", False)
    assert bash["default_timeout_s"] == 600
    assert bash["input_schema"]["properties"]["command"]["type"] == "string"
    edit = listed["filesystem.edit_file"]
    assert (edit["key_fields"], edit["idempotent"]) == (["path"], False)


def test_a_pipe_in_the_place_of_the_configuration_is_refused_and_not_waited_for(
    harness: Harness,
) -> None:
    os.mkfifo(harness.project / "agent.hcl")
    done = harness.run("tools")
    assert done.returncode == 2
    assert "no regular file" in done.stderr


@pytest.mark.req("K32")
def test_what_a_provider_says_of_itself_cannot_reach_the_terminal() -> None:
    text = as_table((replace(operation("read"), description="Reads.\x1b[2J\u202e"),))
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.req("K4", "K25")
def test_hooks_of_the_project_have_their_say_in_a_call_by_hand(harness: Harness) -> None:
    audit = Path(__file__).parents[2] / "examples" / "audit-provider" / "audit_provider.py"
    (harness.project / "agent.hcl").write_text(
        f"""
        required_providers {{
          filesystem = {{ source = "builtin" }}
          audit      = {{ source = ["{sys.executable}", "{audit}"] }}
        }}
        provider "audit" {{
          log       = "${{path.root}}/audit.jsonl"
          protected = ["secret"]
        }}
        hook "pre-tool-call" {{
          provider = "audit"
          mode     = "veto"
        }}
        """
    )
    for name in ("secret", "open"):
        (harness.project / name).write_text("text")
    denied = harness.run("call", "filesystem.read_file", "path=secret")
    assert denied.returncode == 3, denied.stderr
    assert "hook pre-tool-call of audit" in denied.stderr
    assert "could not say" not in denied.stderr
    assert harness.run("call", "filesystem.read_file", "path=open").stdout == "1|text\n"


@pytest.mark.req("P30")
def test_a_terminal_shows_a_result_as_its_provider_draws_it_and_a_pipe_its_fields(
    harness: Harness,
) -> None:
    shutil.copytree(NOTES, harness.project, dirs_exist_ok=True)
    (harness.project / "notes").mkdir()
    (harness.project / "notes" / "to-do.txt").write_text("buy milk\n")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {"NOTES_TOKEN": "abc123", "NO_COLOR": "1", "PATH": path}
    words = [*HARNESS[1:], "call", "notes.load", "name=to-do"]
    seen, _ = pexpect.run(
        shlex.join([HARNESS[0], *words]),
        cwd=str(harness.project),
        env={**harness.environment, **environment},
        timeout=BOUND_S,
        withexitstatus=True,
    )
    assert seen.decode().split("\r\n") == ["notes/to-do.txt", "buy milk", ""]
    piped = harness.run(*words[-3:], **environment)
    assert piped.stdout.splitlines() == ["path: notes/to-do.txt", 'text: "buy milk\\n"']
