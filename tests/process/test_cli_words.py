"""The words of a command line: options anywhere, and a guess at what was meant."""

import pytest
from process.harness import Harness

pytestmark = pytest.mark.providers("filesystem")


@pytest.mark.req("K33")
@pytest.mark.parametrize(
    "words",
    [
        ("call", "filesystem.read_file", "--cwd", ".", "path=a.txt"),
        ("call", "--cwd=.", "filesystem.read_file", "path=a.txt", "--json", "start_line=1"),
        ("policy", "explain", "exec.bash", "--cwd", ".", "command=ls"),
        ("config", "check", "--cwd", ".", "agent.hcl"),
    ],
)
def test_options_may_stand_anywhere(harness: Harness, words: tuple[str, ...]) -> None:
    (harness.project / "a.txt").write_text("x\n")
    (harness.project / "agent.hcl").write_text("settings {}\n")
    done = harness.run(*words)
    assert done.returncode == 0, done.stderr


@pytest.mark.req("K30", "K33")
def test_a_new_prompt_may_stand_behind_the_options_of_resume(harness: Harness) -> None:
    script = harness.script("messages: [{say: an answer}]")
    assert harness.run("run", "--script", script).returncode == 0
    session = harness.logs()[-1].stem
    again = harness.run("sessions", "resume", session, "--script", script, "- again, please")
    assert again.returncode == 0, again.stderr
    assert "> - again, please" in harness.run("sessions", "show", session).stdout


@pytest.mark.req("K33")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rn", "--script", "x"), "there is no command 'rn'; did you mean run?"),
        (("sessions", "lst"), "there is no command 'lst'; did you mean list?"),
        (("config", "chek"), "there is no choice 'chek'; did you mean check?"),
        (("call", "exec.bash", "--tiemout", "5"), "no option --tiemout here; did you mean --tim"),
        (("run", "--scirpt", "x.yaml"), "no option --scirpt here; did you mean --script?"),
        (("--json", "tools"), "the options of a command stand behind it"),
        (("tools", "more"), "there is no place for 'more'"),
        (("sessions", "list", "--limit", "-2"), "'-2' is not a count; give 0 or more"),
        (("call",), "arguments are required: PROVIDER.OPERATION\n"),
        (("policy", "explain"), "arguments are required: PROVIDER.OPERATION\n"),
    ],
)
def test_a_mistyped_word_is_told_with_the_nearest(
    harness: Harness, words: tuple[str, ...], said: str
) -> None:
    done = harness.run(*words)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.req("K33")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("bogus",), "there is no command 'bogus'. There are: run, call,"),
        (("config", "bogus"), "there is no choice 'bogus'. There are: check,"),
        (("run", "--nonsense"), "there is no option --nonsense here."),
        (("call", "nope.x"), "there is no provider 'nope' here. There are: filesystem"),
    ],
)
def test_a_word_that_is_no_slip_of_any_is_told_without_a_guess(
    harness: Harness, words: tuple[str, ...], said: str
) -> None:
    done = harness.run(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "did you mean" not in done.stderr


@pytest.mark.req("K33")
@pytest.mark.parametrize(
    "words",
    [
        ("policy", "explain"),
        ("policy", "test"),
        *(("sessions", one) for one in ("list", "show", "replay", "resume", "verify", "export")),
    ],
)
def test_every_subcommand_says_what_it_does(harness: Harness, words: tuple[str, ...]) -> None:
    told = harness.run(*words, "--help").stdout
    assert told.split("\n\n")[1].strip().endswith(".")


@pytest.mark.req("K30")
def test_a_finished_session_has_nothing_left_to_do(harness: Harness) -> None:
    script = harness.script("messages: [{say: an answer}]")
    assert harness.run("run", "--script", script).returncode == 0
    (log,) = harness.logs()
    before = log.read_bytes()
    again = harness.run("sessions", "resume", log.stem, "--script", script, "--json")
    assert (again.returncode, again.stdout) == (0, "")
    assert "nothing left to do" in again.stderr
    assert log.read_bytes() == before
