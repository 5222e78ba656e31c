"""Commands that a configuration names: where their programs and files are (F3, K8)."""

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pluggableharness.kernel.domain.quoting import in_quotes


def located(root: Path, words: Sequence[str]) -> tuple[str, ...]:
    """The command with absolute paths; `root` is the directory of the configuration.

    A program with a slash is a file beside the configuration, as is an argument that starts with
    `./` or `../`; a program without one is found by PATH.
    """
    program, *arguments = words
    if "/" in program:
        program = os.path.normpath(root / Path(program).expanduser())
    return (program, *(_argument(root, word) for word in arguments))


def portable(root: Path, words: Sequence[str]) -> str:
    """The command as it reads in every clone and for every user (F4): as it is written, with `.`
    for the directory of the configuration and `~` for the home directory."""
    for place, sign in ((str(root), "."), (os.path.expanduser("~"), "~")):
        if place.strip("/"):
            whole = re.compile(rf"(?<![^=:]){re.escape(place)}(?=/|$)")
            words = [whole.sub(sign, word) for word in words]
    return shlex.join(words)


def files_of(words: Sequence[str], folders: Iterable[Path]) -> Iterator[str]:
    """The files that a located command is made of, so far as its words name them (K5a, C14).

    A relative word, also behind a `=`, is looked for in each of `folders`. A folder is none:
    it may as well be what the program works on.
    """
    if not words:
        return
    program = shutil.which(words[0])
    if program is not None:
        yield os.path.abspath(program)
    for word in words:
        for text in filter(None, (word, word.partition("=")[2])):
            for folder in folders:
                path = os.path.normpath(folder / text)
                if os.path.isfile(path) or (word.startswith("/") and not os.path.isdir(path)):
                    yield path


def command_problem(root: Path, words: Sequence[str]) -> str:
    """What is wrong with a command, as far as looking tells; "" when nothing is.

    Of an interpreter's arguments only the first relative path is looked for: a later one may be
    a file that the program makes.
    """
    if "\0" in "".join(words) or not words[0]:
        return "a program and its arguments hold no NUL, and no empty name"
    program = located(root, words)[0]
    if "/" in program:
        if os.path.isfile(program) and not os.access(program, os.X_OK):
            return f"{program} is no executable file: chmod +x makes it one"
        usable = os.access(program, os.X_OK) and not os.path.isdir(program)
        return "" if usable else f"{program} is not there, or is no executable file"
    word = next((one for one in words[1:] if one.startswith(("./", "../"))), "")
    if word and not os.path.exists(_argument(root, word)):
        return f"{_argument(root, word)} is not there; {in_quotes(word)} is relative to agent.hcl"
    return ""


def _argument(root: Path, word: str) -> str:
    return os.path.normpath(root / word) if word.startswith(("./", "../")) else word
