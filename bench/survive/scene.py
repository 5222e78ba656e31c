"""What attempts to get out of a sandbox aim at, and whether any of it was touched.

A file and a socket outside, a port of this machine, and a process with a secret.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

_KEPT = "intact"


@dataclass
class Scene:
    """Made by `set_up` and taken down by `close`."""

    outside: Path
    tcp: socket.socket
    unix: socket.socket
    datagrams: socket.socket
    abstract: socket.socket
    victim: "subprocess.Popen[bytes]"
    word: str
    secret: str

    def fill(self, command: str) -> str:
        """Put this scene's words into an attempt."""
        words = {
            "outside": str(self.outside),
            "port": str(self.tcp.getsockname()[1]),
            "socket": str(self.outside / "socket"),
            "word": self.word,
            "pid": str(self.victim.pid),
            "secret": self.secret,
            "python": sys.executable,
        }
        for name, value in words.items():
            command = command.replace(f"{{{name}}}", value)
        return command

    def touched(self) -> list[str]:
        """What did not stay as it was."""
        faults = []
        kept = self.outside / "kept"
        if not kept.is_file() or kept.read_text() != _KEPT or kept.stat().st_mode & 0o777 != 0o600:
            faults.append("a file outside was changed")
        if {one.name for one in self.outside.iterdir()} != {"kept", "socket", "datagrams"}:
            faults.append("the folder outside was changed")
        if Path("/etc/sandbox-escaped").exists():
            faults.append("/etc was written to")
        if self.victim.poll() is not None:
            faults.append("a process was ended")
        for name, one in (("port", self.tcp), ("socket", self.unix), ("abstract", self.abstract)):
            try:
                one.accept()[0].close()
                faults.append(f"the {name} was reached")
            except BlockingIOError:
                pass
        return faults

    def close(self) -> None:
        """Take everything away."""
        self.victim.kill()
        self.victim.wait()
        for one in (self.tcp, self.unix, self.datagrams, self.abstract):
            one.close()
        shutil.rmtree(self.outside, ignore_errors=True)


def set_up() -> Scene:
    """Build a scene outside of every temporary folder, which sandboxes hide."""
    outside = Path(tempfile.mkdtemp(prefix=".sandbox-outside-", dir=Path.home()))
    (outside / "kept").write_text(_KEPT)
    (outside / "kept").chmod(0o600)
    word, secret = f"abstract-{uuid4().hex}", uuid4().hex
    victim = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(3600)", f"victim-{secret}"],
        env={"SECRET": secret, **os.environ},
    )
    tcp = socket.create_server(("127.0.0.1", 0))
    unix = _listening(str(outside / "socket"))
    abstract = _listening(f"\0{word}")
    datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    datagrams.bind(str(outside / "datagrams"))
    tcp.setblocking(False)
    return Scene(outside, tcp, unix, datagrams, abstract, victim, word, secret)


def _listening(address: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.bind(address)
    made.listen()
    made.setblocking(False)
    return made
