"""A call's arguments in a person's own editor: kept when they are bad, and the terminal given back.

The editors are small scripts at a real terminal.
"""

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from process_tree import alive, descendants, eventually, stopped
from unit.frontends.person import EDIT_ONCE, PROMPT, Person

from pluggableharness.kernel import private

COMMAND = """{"command": "first\\nsecond 'x' \\"y\\"\\n", "timeout_s": 5}"""

Begin = Callable[..., Person]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Begins a question whose editor is a shell script; TMPDIR shows what is left behind."""
    people = []

    def begun(script: str, **environment: str) -> Person:
        editor = tmp_path / "my editor"
        editor.write_text(f"#!/bin/sh\nfile=$1; cd {tmp_path}\n{script}\n")
        editor.chmod(0o700)
        (tmp_path / "tmp").mkdir()
        given = {"VISUAL": f"'{editor}'", "TMPDIR": str(tmp_path / "tmp"), **environment}
        person = Person(COMMAND, program=EDIT_ONCE, **given)
        people.append(person)
        person.sees(PROMPT)
        person.types("e")
        return person

    yield begun
    for person in people:
        person.terminal.close(force=True)


def ignores(pid: int, number: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    (mask,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigIgn:"))
    return bool(int(mask, 16) >> (number - 1) & 1)


def left_behind(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "tmp").iterdir())


@pytest.mark.req("K10", "K32")
def test_an_editor_gets_every_line_in_private_and_what_it_saves_is_asked_again(
    begin: Begin, tmp_path: Path
) -> None:
    """Lines as they are, a file and a folder that nobody else may enter."""
    person = begin(
        """
        stat -c %a "${file%/*}" > folder; cp "$file" seen
        sed 's/^second/changed/; s/^timeout_s = 5/timeout_s = 7/' seen > "$file"
        """
    )
    person.sees("edited: the call is checked")
    person.sees("asked again: its arguments were edited")
    person.sees(PROMPT)
    assert person.modes() == (False, False)
    person.types("a")
    person.sees("ANSWER allow=True")
    person.sees("""{"command": "first\\nchanged 'x' \\"y\\"\\n", "timeout_s": 7}""")
    assert person.modes() == person.mode
    assert (tmp_path / "folder").read_text() == "700\n"
    seen = (tmp_path / "seen").read_text()
    assert "\nfirst\nsecond 'x' \"y\"\n" in seen
    assert "\ntimeout_s = 5\n" in seen
    assert seen.startswith("# The arguments of exec.bash")
    assert left_behind(tmp_path) == []


@pytest.mark.req("K10")
def test_a_bad_edit_is_told_and_opened_again_as_it_was_typed(begin: Begin, tmp_path: Path) -> None:
    person = begin(
        """
        cp "$file" seen
        test -e once && sed -i 's/^broken$/command = "mended"/' "$file" && exit
        touch once; echo broken > "$file"
        """
    )
    person.sees("not edited: Expected '='")
    person.sees("e to edit again, anything else to go back > ")
    person.types("e")
    person.sees('EDITED {"command": "mended"}')
    seen = (tmp_path / "seen").read_text()
    assert seen.startswith("# not edited: Expected '='")
    assert seen.endswith("\n\nbroken\n")


@pytest.mark.req("K10")
def test_an_edit_that_does_not_fit_comes_back_with_the_reason_and_as_it_was_typed(
    begin: Begin, tmp_path: Path
) -> None:
    person = begin('cp "$file" seen; echo "timeout_s = 9  # mine" > "$file"')
    person.sees("EDITED {")
    person.sees("asked again: the edit was not taken over:")
    person.sees("- command: expected a string, got nothing")
    person.sees(PROMPT)
    person.types("e")
    person.sees("EDITED {")
    seen = (tmp_path / "seen").read_text()
    assert seen.endswith("\n\ntimeout_s = 9  # mine\n")
    assert seen.startswith("# the edit was not taken over:\n# - command: expected a string")


@pytest.mark.req("K10", "K32")
@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo 'command = 1' > \"$file\"; exit 1", "the editor ended with exit code 1"),
        ("stty raw -echo; kill -9 $$", "the editor was ended by SIGKILL"),
        ("kill -2 $$; exec sleep 1", "the editor was ended by SIGINT"),
        ("stty raw -echo", "these are the arguments that the call has"),
        ('rm "$file"', "No such file or directory"),
        ('rm "$file"; mkfifo "$file"', "is no regular file"),
        (': > "$file"', "nothing was left in the file"),
        ('printf "a = \\377" > "$file"', "what was saved is no UTF-8 text"),
    ],
)
def test_whatever_the_editor_does_nothing_is_edited_and_the_terminal_is_as_it_was(
    begin: Begin, tmp_path: Path, script: str, told: str
) -> None:
    person = begin(script)
    person.sees("not edited: ")
    person.sees(told)
    person.sees(PROMPT)
    person.types("a")
    person.sees("ANSWER allow=True")
    person.sees('"timeout_s": 5}')
    assert person.modes() == person.mode
    assert left_behind(tmp_path) == []


@pytest.mark.req("K10")
def test_an_editor_that_is_not_there_is_told(begin: Begin) -> None:
    person = begin("", VISUAL="/nowhere/editor --wait")
    person.sees("not edited: /nowhere/editor --wait: No such file or directory")
    person.sees("names your editor")
    person.sees(PROMPT)


@pytest.mark.req("K10", "K32")
def test_the_interrupt_key_is_the_editors_while_it_runs(begin: Begin, tmp_path: Path) -> None:
    person = begin(
        """
        trap 'echo "command = \\"interrupted\\"" > "$file"; exit 0' INT
        echo open; while :; do read line; done
        """
    )
    person.sees("open")
    person.types("\x03")
    person.sees('EDITED {"command": "interrupted"}')
    person.sees(PROMPT)
    person.types("\x03")
    person.sees("CANCELLED")
    assert person.modes() == person.mode


@pytest.mark.req("K10", "K32")
def test_the_keys_lead_out_of_an_editor_that_stands_still_and_are_its_own_again_when_it_goes_on(
    begin: Begin, tmp_path: Path
) -> None:
    person = begin("stty raw -echo; echo open; kill -STOP $$; echo on; kill -STOP $$")
    person.sees("open")
    eventually(lambda: person.modes() == person.mode, "the terminal is in its usual mode")
    (editor,) = descendants(person.terminal.pid)
    os.kill(editor, signal.SIGCONT)
    person.sees("on")
    eventually(lambda: stopped(editor), "the editor stands still again")
    eventually(lambda: person.modes() == person.mode, "the terminal is in its usual mode")
    eventually(lambda: not ignores(person.terminal.pid, signal.SIGINT), "the key is heard")
    person.types("\x03")
    person.sees("CANCELLED")
    eventually(lambda: not alive(editor), "the editor has ended")
    assert person.modes() == person.mode
    assert left_behind(tmp_path) == []


@pytest.mark.req("K17", "K32")
def test_an_editor_ends_with_the_question(begin: Begin, tmp_path: Path) -> None:
    person = begin("echo $$ > pid; stty raw -echo; echo open; exec sleep 300")
    person.sees("open")
    os.kill(person.terminal.pid, signal.SIGTERM)
    person.sees("no longer asked")
    person.sees("CANCELLED")
    pid = int((tmp_path / "pid").read_text())
    eventually(lambda: not alive(pid), "the editor has ended")
    assert person.modes() == person.mode
    assert left_behind(tmp_path) == []


@pytest.mark.req("K17", "K32")
def test_all_that_an_editor_has_started_ends_with_the_question(
    begin: Begin, tmp_path: Path
) -> None:
    """Behind a wrapper, where the editor itself needs a moment, and a part of it hears no TERM."""
    person = begin(
        """
        sh -c 'trap "echo mine > kept; exit" TERM; echo $$ > new; mv new pid; sleep 300 & wait' &
        sh -c 'trap "" TERM; echo $$ > young; mv young deaf; sleep 300' &
        while ! test -e pid -a -e deaf; do sleep 0.01; done; echo open; wait
        """
    )
    person.sees("open")
    os.kill(person.terminal.pid, signal.SIGTERM)
    person.sees("CANCELLED")
    pids = [int((tmp_path / name).read_text()) for name in ("pid", "deaf")]
    eventually(lambda: not any(map(alive, pids)), "both have ended")
    assert (tmp_path / "kept").read_text() == "mine\n"


@pytest.mark.req("K10")
def test_an_editor_hears_the_keys_though_the_harness_ignores_them(
    begin: Begin, tmp_path: Path
) -> None:
    begin(
        "grep SigIgn /proc/$$/status > ignored; grep SigIgn /proc/$PPID/status > ours; echo > done"
    )
    eventually((tmp_path / "done").exists, "the editor has run")
    its, ours = (int((tmp_path / name).read_text().split()[1], 16) for name in ("ignored", "ours"))
    keys = 1 << signal.SIGINT - 1 | 1 << signal.SIGQUIT - 1
    assert (its & (keys | 1 << signal.SIGPIPE - 1), ours & keys) == (0, keys)


@pytest.mark.req("K10")
def test_the_editor_has_the_environment_of_the_shell_and_nothing_else(
    begin: Begin, tmp_path: Path
) -> None:
    person = begin("env | grep -o '^[A-Z_]*=' | sort -u > names", SECRET_OF_MINE="1")
    person.sees("not edited")
    names = set((tmp_path / "names").read_text().replace("=", "").split())
    given = {"PATH", "HOME", "PYTHONPATH", "TERM", "LANG", "VISUAL", "TMPDIR", "SECRET_OF_MINE"}
    of_shells_and_terminals = {"PWD", "OLDPWD", "SHLVL", "_", "COLUMNS", "LINES"}
    assert given <= names
    assert names - given <= of_shells_and_terminals


@pytest.mark.req("K10")
@pytest.mark.parametrize(
    ("environment", "used"),
    [
        ({"TERM": "dumb"}, False),
        ({"TERM": "dumb", "EDITOR": "true"}, True),
        ({"VISUAL": ""}, False),
    ],
)
def test_without_an_editor_that_fits_one_line_is_edited(
    begin: Begin, environment: dict[str, str], used: bool
) -> None:
    person = begin("", **environment)
    person.sees("these are the arguments that the call has" if used else "NAME=VALUE")


@pytest.mark.req("K10")
def test_what_a_killed_harness_left_of_the_arguments_goes_at_the_next_start(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin('ls "$file" > new; mv new there; kill -KILL $PPID')
    eventually((tmp_path / "there").exists, "the editor is opened")
    left = Path((tmp_path / "there").read_text().strip())
    assert left.is_relative_to(tmp_path / "tmp") and left.exists()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))

    def cleared() -> bool:
        private.clear_abandoned.__wrapped__()
        return not left.exists()

    eventually(cleared, "what it left is cleared")
    assert left_behind(tmp_path) == []
