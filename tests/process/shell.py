"""A shell in a terminal, in which the commands of a document are typed as its reader would.

What differs from run to run and from machine to machine is shown as the document writes it, and
ids that the document's commands name are turned into those of this run.
"""

import hashlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pexpect

HOME = "/home/someone"
"""Where the reader is, as documents write it. As long as a temporary folder's path, so that
lines break alike."""

COLUMNS = 80
BOUND_S = 60
_READY = "[[ready]]"
_PROMPT = re.compile(r"(help|reason\)|go back) > ")
_BLOCK = re.compile(r"(?:<!-- typed: ([^\n]*) -->\n)?(```console\n)(.*?)(```\n)", re.DOTALL)
_ID = re.compile(r"\b01[0-9A-HJKMNP-TV-Z]{24}\b")
_TIME = 10
"""Characters of an id that lists of sessions show."""

_HASH = re.compile(r"\b[0-9a-f]{64}\b")
_ALIKE = (
    (r" · \d+(\.\d+)? (ms|s)\b", ""),
    (r"(in|at) \d+\.\d+s\b", r"\1 0.001s"),
    (r"duration_ms: \d+", "duration_ms: 120"),
    (r"\b\d{4}-\d\d-\d\d \d\d:\d\d\b", "2026-01-31 09:30"),
    (r"(at most \d+ s), .*(\n│ (?!asked).*)?", r"\1, sandboxed"),
)
"""What is never the same, and what stands for it."""

_ANNOUNCED = re.compile(r"(\w+  )?▸|meanwhile$")
_ENDED = re.compile(r"^((?:\w+  )?✓ \S+).*")
"""A line of a call, of a sub-agent's behind its profile."""


@dataclass
class Shell:
    """A shell whose home is a folder of the test; `names` are the ids and hashes seen so far."""

    home: Path
    directory: Path
    ids: list[str] = field(default_factory=list)
    hashes: list[str] = field(default_factory=list)

    def __enter__(self) -> "Shell":
        assert len(str(self.home)) == len(HOME)
        self._bash = pexpect.spawn(
            "bash",
            ["--norc", "--noprofile", "--noediting"],
            cwd=str(self.directory),
            env={
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "HOME": str(self.home),
                "TERM": "dumb",
                "LANG": "C.UTF-8",
                "PS1": _READY,
            },
            encoding="utf-8",
            timeout=BOUND_S,
            dimensions=(50, COLUMNS),
            echo=False,
        )
        self._bash.delaybeforesend = None
        self._bash.expect_exact(_READY)
        return self

    def __exit__(self, *_: object) -> None:
        self._bash.close(force=True)

    def run(self, command: str, typed: Sequence[str] = ()) -> str:
        """What a command prints, with its questions answered by what is typed, in that order."""
        self._bash.sendline(self._real(command))
        said, left, line = "", list(typed), ""
        while True:
            asked = self._bash.expect([re.escape(_READY), _PROMPT])
            # Whether a terminal echoes what is typed the moment that it asks is chance.
            said += line + self._bash.before.removeprefix(line)
            if not asked:
                break
            said += self._bash.after
            assert left, f"{command} asks more than is answered: {said}"
            line = self._answer(left.pop(0))
        assert not left, f"{command} did not ask for {left}: {said}"
        return self._told(said)

    def _answer(self, text: str) -> str:
        """Type a key, or a line, which is returned as a terminal echoes it."""
        if len(text) == 1:
            self._bash.send(text)
            return ""
        self._bash.send(f"{text}\r")
        return f"{text}\r\n"

    def _told(self, said: str) -> str:
        text = said.replace("\r\n", "\n").replace(str(self.home), HOME)
        text = _ID.sub(lambda found: _stands_for_id(_place(self.ids, found[0])), text)
        for place, known in enumerate(self.ids):
            text = re.sub(rf"^{known[:_TIME]}\b", _stands_for_id(place)[:_TIME], text, flags=re.M)
        text = _HASH.sub(lambda found: _stands_for_hash(_place(self.hashes, found[0])), text)
        for pattern, alike in _ALIKE:
            text = re.sub(pattern, alike, text)
        return "".join(f"{line.rstrip()}\n" for line in text.splitlines())

    def _real(self, command: str) -> str:
        for place, known in enumerate(self.ids):
            command = command.replace(_stands_for_id(place), known)
        for place, known in enumerate(self.hashes):
            command = command.replace(_stands_for_hash(place), known)
        return command


def _place(known: list[str], one: str) -> int:
    if one not in known:
        known.append(one)
    return known.index(one)


def _stands_for_id(place: int) -> str:
    return f"01M7ZC2V8{'NPQRSTVWXYZ'[place]}K5QX4T9R3WYE6HDG"


def _stands_for_hash(place: int) -> str:
    return hashlib.sha256(bytes([place])).hexdigest()


def played(document: str, shell: Shell) -> str:
    """A document with what each command of its console blocks prints, in order.

    `<!-- typed: a | no, not this -->` above a block is what its questions are answered with.
    """

    def block(found: re.Match[str]) -> str:
        typed = found[1].split(" | ") if found[1] else []
        shown = "".join(_played(found[3], typed, shell))
        assert not typed, f"nobody asked for {typed}"
        above = found[0][: found.start(3) - found.start(0)]
        return f"{above}{shown}{found[4]}"

    return _BLOCK.sub(block, document)


def _played(block: str, typed: list[str], shell: Shell) -> Iterator[str]:
    """Each command of a block and what it prints; what was typed is taken from the list."""
    for written in re.findall(r"^\$ ((?:.*\\\n)*.*)\n", block, re.MULTILINE):
        taken = int(written.startswith("harness run")) * len(typed)
        yield f"$ {written}\n{shell.run(written, [typed.pop(0) for _ in range(taken)])}"


def steady(text: str) -> list[str]:
    """The lines whose order and form no machine's speed decides.

    What is allowed runs beside the questions, and a call that takes half a second is announced
    before its line.
    """
    lines = (line for line in text.splitlines() if not _ANNOUNCED.match(line))
    return sorted(_ENDED.sub(r"\1", line) for line in lines if line)
