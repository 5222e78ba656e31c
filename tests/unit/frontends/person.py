"""A person at a pseudo-terminal of its own, before a small program that asks them."""

import io
import os
import sys
import termios
from pathlib import Path

import pexpect

ASK_ONCE = str(Path(__file__).with_name("ask_once.py"))
EDIT_ONCE = str(Path(__file__).with_name("edit_once.py"))
PROMPT = "help > "  # colours aside
BOUND_S = 20


def environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        **more,
    }


class Person:
    rows = 40

    def __init__(self, *names: str, program: str = ASK_ONCE, **env: str) -> None:
        self.terminal = pexpect.spawn(
            sys.executable,
            [program, *names],
            env=environment(**env),
            encoding="utf-8",
            timeout=BOUND_S,
            dimensions=(self.rows, 240),  # paths of tests stay on their line
        )
        self.terminal.delaybeforesend = None
        self.terminal.logfile_read = self.log = io.StringIO()
        self.mode = self.modes()

    def modes(self) -> tuple[bool, bool]:
        """Whether the terminal waits for Enter, and whether it echoes."""
        local = termios.tcgetattr(self.terminal.child_fd)[3]
        return bool(local & termios.ICANON), bool(local & termios.ECHO)

    def sees(self, text: str) -> None:
        if text == PROMPT:
            self.terminal.expect("help (\x1b\\[0m)?> ")
        else:
            self.terminal.expect_exact(text)

    def types(self, text: str) -> None:
        self.terminal.send(text)

    def leaves(self) -> str:
        """Wait for the end; what was written until then."""
        self.terminal.expect(pexpect.EOF)
        return str(self.terminal.before)
