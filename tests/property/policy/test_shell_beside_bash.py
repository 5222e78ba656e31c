"""The view of a command line beside bash itself: whatever bash runs, the view has named."""

import os
import shutil
import subprocess
import tempfile

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pluggableharness.kernel.policy import shell_view

BASH = shutil.which("bash")

# One write for each command: those of a pipeline run at the same time.
_PRELUDE = """
command_not_found_handle() { printf '%s\\0' "$@" '' $'\\1' >&9; return 0; }
eval "$PROBED"
wait
[ -z "${a+x}${b+x}${E+x}" ] || printf '%s\\0' 'a name is assigned' '' $'\\1' >&9
"""
_PIECES = st.sampled_from(
    [
        *("a", "b", "-x", "'", '"', "\\", "\n", " ", "  ", "\t", ";", "&&", "||", "|", "&", "#"),
        *("$", "`", "(", ")", "{", "}", "<", ">", ">>", "2>", "&>", ">&", "<<", "<<<", "*", "?"),
        *("[", "]", "~", "=", "!", ",", "..", "$(", "$'", "${", "}", "if", "then", "fi", "while"),
        *("do", "done", "E", "\nE\n", "<<'E'\n", "<<E\n", "\\\n", "a=b", "1", "@", "+", "é", "f()"),
        *("case", "in", "esac", "for", "time", "coproc", "function", "[[", "]]", "((", "))", "p"),
    ]
)
LINES = st.lists(_PIECES, min_size=1, max_size=12).map("".join) | st.lists(
    _PIECES, min_size=1, max_size=10
).map(" ".join)

_BITS = st.sampled_from(
    [
        *("{a}", "{", "}", "{}", ",", "..", "a", "b", "$", "}$", "x$", "\\", "\\\\", "'"),
        *('"', "''", '""', "'a b'", '"a"', '"$"', "-", "-9", "1", "2", "10", "=", ":", "~"),
        *("@", "#", "!", "+", "^", "%", "/", "\\}", "\\{", "$'", '$"', "@{1}", "{b}c"),
    ]
)
_REDIRECTS = st.sampled_from(
    [">", ">>", ">|", "&>", "2>", ">&", "<", "<<<", "<>", "1>", "{a}>", "-2>", "&>>", "2>&1", "<&"]
)
_WORDS = st.lists(_BITS, min_size=1, max_size=5).map("".join)
_JOINTS = st.sampled_from([" ", " ", "; p ", " && : ", "\t", " | p "])
_TOUCHING = st.lists(st.one_of(_WORDS, _REDIRECTS, _JOINTS), min_size=1, max_size=8).flatmap(
    lambda pieces: st.sampled_from([f"p {''.join(pieces)}", f": {''.join(pieces)}"])
)
"""Words with braces, `$`, backslashes and quotes, and redirects with names and numbers, which may
all touch one another."""


def ran_by_bash(line: str, directory: str) -> list[tuple[str, ...]]:
    """The words of every command that bash finds no program for: no piece names a builtin."""
    read, write = os.pipe()
    assert BASH is not None
    try:
        subprocess.run(
            [BASH, "--norc", "--noprofile", "-c", f"exec 9>&{write}; {_PRELUDE}"],
            env={"PROBED": line, "PATH": "/nonexistent", "LC_ALL": "C.UTF-8"},
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(write,),
            timeout=20,
            check=False,
        )
    finally:
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            data = pipe.read()
    found = data.decode(errors="replace").split("\0\1\0")
    return [tuple(one.split("\0")[:-1]) for one in found if one]


def check(line: str) -> None:
    """Assert that a line whose view is usable runs and writes no more in bash than is viewed."""
    view = shell_view(line)
    loops = any(word in line for word in ("while", "until"))
    if view.unusable or loops or any(one.substitutes for one in view.commands):
        return
    if any("*" in word or "?" in word or "[" in word for c in view.commands for word in c.argv):
        return
    with tempfile.TemporaryDirectory() as directory:
        ran = ran_by_bash(line, directory)
        written = set(os.listdir(directory))
    assert set(ran) <= {command.argv for command in view.commands}, line
    assert written <= {path.removeprefix("./").split("/")[0] for path in view.writes}, line


@pytest.mark.req("K7")
@pytest.mark.skipif(BASH is None, reason="there is no bash to compare with")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(LINES)
def test_bash_runs_nothing_that_the_view_has_not_named(line: str) -> None:
    check(line)


@pytest.mark.req("K7")
@pytest.mark.skipif(BASH is None, reason="there is no bash to compare with")
@settings(max_examples=400, deadline=None)
@given(_TOUCHING)
@example("p {a},b}")
@example("p {a},-b,E}")
@example(": {a}>/dev/null; p")
@example("p {a}</dev/null")
@example("p -9>/dev/null b")
@example("p 2>/dev/null -Sx}$E--b")
@example("p >b}$,")
@example("p >x}\\ab")
def test_neither_where_words_redirects_braces_and_quotes_touch(line: str) -> None:
    check(line)
