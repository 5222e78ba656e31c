"""What shell_read takes and refuses, option by option (C15)."""

from collections.abc import Iterator

import pytest

from pluggableharness.providers.exec.readers import GIT, PROGRAMS, Program
from pluggableharness.providers.exec.reading import command_line
from pluggableharness.sdk import InvalidArguments, PermissionDenied

pytestmark = pytest.mark.req("C15")


def tables() -> Iterator[tuple[list[str], Program]]:
    for name, program in PROGRAMS.items():
        if not program.subcommands:
            yield [name], program
    for name, program in GIT.items():
        yield ["git", name], program


TABLES = [pytest.param(start, program, id=" ".join(start)) for start, program in tables()]


@pytest.mark.parametrize(
    "line",
    [
        "ls -la src",
        "git log -5 --oneline",
        "git log -n 5 --since=yesterday -- --output",
        "git diff -U3 HEAD~1 -- a b",
        "git show HEAD:file",
        "git branch -a",
        "find . -name *.py -not -path ./x -size +1k -print0",
        "find . -perm -u+w",
        "find . -name -delete",
        "grep -rnA3 word .",
        "grep -rn -e -o .",
        "head -20 file",
        "head -n 20 file",
        "head -c20 file",
        "sort -k2,2 -t : -rn file",
        "cat - -- -file",
        "uniq -c file",
    ],
)
def test_reading_is_allowed(line: str) -> None:
    argv = line.split()
    made = command_line(argv)
    assert made[0] == argv[0] and made[-1] == argv[-1]


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("rm file", "rm"),
        ("/bin/cat file", "/bin/cat"),
        ("./cat file", "./cat"),
        ("bash -c ls", "bash"),
        ("env cat file", "env"),
        ("xargs cat", "xargs"),
        ("sed -n p file", "sed"),
        ("awk 1 file", "awk"),
        ("git push", "push"),
        ("git fetch", "fetch"),
        ("git -c core.pager=x log", "-c"),
        ("git -C .. log", "-C"),
        ("git --exec-path=. log", "--exec-path=."),
        ("git config user.name x", "config"),
        ("git log --output=x", "--output=x"),
        ("git log --output x", "--output"),
        ("git log --outpu=x", "--outpu=x"),
        ("git diff --ext-diff", "--ext-diff"),
        ("git show --textconv", "--textconv"),
        ("git log --show-signature", "--show-signature"),
        ("git grep -Oless word", "-Oless"),
        ("git grep --open-files-in-pager word", "--open-files-in-pager"),
        ("git branch new", "new"),
        ("git branch -d old", "-d"),
        ("git branch -D old", "-D"),
        ("git branch --edit-description", "--edit-description"),
        ("git tag new", "new"),
        ("git tag -d old", "-d"),
        ("git remote add a b", "add"),
        ("git remote -v update", "update"),
        ("git cat-file --textconv HEAD:a", "--textconv"),
        ("git cat-file --filters HEAD:a", "--filters"),
        ("git blame --contents x a", "--contents"),
        ("git shortlog --output=x", "--output=x"),
        ("find . -delete", "-delete"),
        ("find . -exec rm {} ;", "-exec"),
        ("find . -execdir rm {} ;", "-execdir"),
        ("find . -ok rm {} ;", "-ok"),
        ("find . -okdir rm {} ;", "-okdir"),
        ("find . -fprint x", "-fprint"),
        ("find . -fprint0 x", "-fprint0"),
        ("find . -fprintf x %p", "-fprintf"),
        ("find . -fls x", "-fls"),
        ("find -files0-from x", "-files0-from"),
        ("find -- . -delete", "--"),
        ("find . -name x -delete", "-delete"),
        ("find . -name -name -delete", "-delete"),
        ("sort -o x file", "-o"),
        ("sort -ox file", "-ox"),
        ("sort -uo x file", "-uo"),
        ("sort file -o x", "-o"),
        ("sort --output=x file", "--output=x"),
        ("sort --outp x file", "--outp"),
        ("sort --compress-program=x file", "--compress-program=x"),
        ("sort -T . file", "-T"),
        ("sort --files0-from=x", "--files0-from=x"),
        ("uniq in out", "out"),
        ("uniq -c -- in out", "out"),
        ("tree -o x", "-o"),
        ("tree -R -H . -L 1", "-R"),
        ("date -s 2001-01-01", "-s"),
        ("date 01010101", "01010101"),
        ("date --set=x", "--set=x"),
        ("tail -f file", "-f"),
        ("tail --follow file", "--follow"),
        ("tail -nf file -F", "-F"),
        ("file -C -m x", "-C"),
        ("file -z x", "-z"),
        ("diff -l a b", "-l"),
        ("diff --paginate a b", "--paginate"),
        ("grep -f list file", "-f"),
        ("ls --hyperlink", "--hyperlink"),
        ("cat --=x", "--=x"),
    ],
)
def test_all_else_is_refused_with_the_part_named(line: str, part: str) -> None:
    with pytest.raises(PermissionDenied, match=r"not allowed|is none of") as refused:
        command_line(line.split())
    assert repr(part) in str(refused.value)


@pytest.mark.parametrize(("start", "program"), TABLES)
def test_long_options_are_written_out(start: list[str], program: Program) -> None:
    known = program.flags | program.valued | program.optional
    for option in known:
        for end in range(3, len(option)):
            short = option[:end]
            if option.startswith("--") and short not in known:
                with pytest.raises(PermissionDenied):
                    command_line([*start, short])
                with pytest.raises(PermissionDenied):
                    command_line([*start, f"{short}=x"])


@pytest.mark.parametrize(("start", "program"), TABLES)
def test_no_flag_takes_a_value_and_no_kind_overlaps(start: list[str], program: Program) -> None:
    assert not program.flags & program.valued
    for flag in program.flags - program.optional:
        if flag.startswith("--"):
            with pytest.raises(PermissionDenied):
                command_line([*start, f"{flag}=x"])


@pytest.mark.parametrize(("start", "program"), TABLES)
def test_letters_that_are_not_in_the_table_are_refused(start: list[str], program: Program) -> None:
    for code in range(33, 127):
        word = f"-{chr(code)}"
        if program.numbers and chr(code).isdigit():
            continue
        if word in program.flags | program.valued | program.optional | {"--"}:
            continue
        with pytest.raises(PermissionDenied):
            command_line([*start, word])


@pytest.mark.parametrize("argv", [[], ["cat", "a\0b"], ["sort", "-k"], ["find", "-name"]])
def test_what_cannot_be_run_is_an_argument_error(argv: list[str]) -> None:
    with pytest.raises(InvalidArguments, match="argv"):
        command_line(argv)


def test_git_is_told_to_run_nothing_that_a_repository_names() -> None:
    made = command_line(["git", "diff"])
    assert {"--no-ext-diff", "--no-textconv", "core.fsmonitor=false"} <= set(made)
    assert "--no-optional-locks" in made
