"""R6: secrets in the kernel's environment and a provider's configuration, and where they turn up.

Each session goes wrong in every way while its processes are looked at from outside. Root may read
all of any process, so sessions, and whoever tries to read them, do without that one right.
"""

import asyncio
import base64
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe
from urllib.parse import quote

from bench.survive.survived import Survived

ID = "R6"
SIZE = 20
_BOUND_S = 120.0
_LEAKY = Path(__file__).parent / "leaky.py"
_LIAR = Path(__file__).parent / "liar.py"
_GUARD = "watch.run_from_arguments"
_HOLD = "touch {0}; while [ ! -e {0}.seen ]; do sleep 0.01; done; env; cat /proc/*/environ"

_WITHOUT_PTRACE = (
    sys.executable, "-c",
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(24, 19, 0, 0, 0);"
    "os.execv(sys.argv[1], sys.argv[1:])",
)  # fmt: skip
"""Gives up CAP_SYS_PTRACE (PR_CAPBSET_DROP) and becomes the command that follows."""

_TRY = """
import sys
for pid in sys.argv[1:]:
    try:
        open(f"/proc/{pid}/environ", "rb").read()
        open(f"/proc/{pid}/mem", "rb").close()
    except (PermissionError, FileNotFoundError, ProcessLookupError):
        continue
    print(pid)
"""
"""Prints those processes that another process of the same user may read."""

_CONFIG = f"""\
required_providers {{
  exec  = {{ source = "builtin" }}
  agent = {{ source = "builtin" }}
  leaky = {{ source = ["{sys.executable}", "{_LEAKY}"] }}
  liar  = {{ source = ["{sys.executable}", "{_LIAR}"] }}
}}
provider "leaky" {{
  token       = env("LEAKY_TOKEN")
  environment = ["LEAKY_VARIABLE"]
}}
policy "denied" {{
  match  = {{ provider = "exec" }}
  when   = "commands.exists(c, c.program == 'rm')"
  action = "deny"
  reason = "nothing is removed here"
}}
policy "judged" {{
  match    = {{ provider = "leaky", tool_name = "do" }}
  when     = "arguments.how == 'refuse'"
  action   = "review"
  reviewer = ["sh", "-c", "env; cat"]
}}
hook "pre-model-call" {{
  provider = "leaky"
  mode     = "veto"
}}
hook "pre-tool-call" {{
  provider = "leaky"
  mode     = "observe"
}}
"""

_LAST = b"This is the end."
_DEEDS = ("say", "print", "fail", "refuse", "raise", "misshape", "record", "dawdle", "crash")


async def run(count: int) -> Survived:
    """So many sessions, every second in a terminal, and half of each sort interrupted."""
    counts, faults = Counter[str](), []
    for number in range(count):
        with tempfile.TemporaryDirectory() as name:
            terminal, interrupted = number % 2 == 1, number % 4 in (0, 3)
            watched = _Watched(Path(name), terminal, interrupted)
            await asyncio.to_thread(watched.run)
        counts.update(watched.counts)
        faults += [f"{number + 1}: {fault}" for fault in watched.faults]
    return Survived(ID, f"kept secrets through {count} sessions", counts, tuple(faults))


@dataclass
class _Watched:
    """One session, looked at from outside, and what was found of its secrets."""

    place: Path
    terminal: bool
    interrupted: bool
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        # What JSON, URLs and shells each spell in their own way is in all of them.
        self.secrets = {
            name: f'{token_urlsafe(12)}"\\/ ü{token_urlsafe(12)}'
            for name in ("NOBODYS_SECRET", "LEAKY_TOKEN", "LEAKY_VARIABLE")
        }
        self._spelled = {name: list(_spellings(text)) for name, text in self.secrets.items()}
        self.work = self.place / "work"
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.place / "home"),
            "TMPDIR": str(self.place / "tmp"),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "XDG_STATE_HOME": str(self.place / "state"),
            **self.secrets,
        }

    def run(self) -> None:
        """Play the session, read it back in every way, and search all that is left of it."""
        self._set_up()
        says = self._session()
        for words in self._afterwards():
            ended = self._harness(words, subprocess.PIPE)
            says[" ".join(words[:2])], _ = ended.communicate(timeout=_BOUND_S)
        for name, said in says.items():
            self.counts["outputs searched"] += 1
            self._search(f"the output of `harness {name}`", said)
        for file in self.place.rglob("*"):
            if file.is_file():
                self.counts["files searched"] += 1
                self._search(str(file.relative_to(self.place)), file.read_bytes())

    def _set_up(self) -> None:
        for name in ("work", "home", "tmp", "state"):
            (self.place / name).mkdir(mode=0o700)
        (self.work / "agent.hcl").write_text(_CONFIG)
        (self.work / "script.yaml").write_text(json.dumps(self._script()))

    def _script(self) -> object:
        def one(tool: str, **arguments: object) -> dict[str, object]:
            return {"calls": [{"tool": tool, "arguments": arguments}]}

        seeds = range(20)
        lies = {"calls": [{"tool": "liar.speak", "arguments": {"seed": seed}} for seed in seeds]}
        child = [one("leaky.do", how="fail"), one("leaky.hold", name="child"), {"say": "done"}]
        messages = [
            one("leaky.hold", name="provider"),
            one("exec.bash", command=_HOLD.format("shell"), timeout_s=60),
            one("exec.bash", command="rm -rf x"),
            *(one("leaky.do", how=how) for how in _DEEDS),
            lies,
            one("agent.spawn_subagent", profile="child", prompt="go"),
            {"say": _LAST.decode(), **(one("leaky.do", how="wait") if self.interrupted else {})},
        ]
        tools = ["leaky.*", "exec.*"]
        return {"messages": messages, "agents": {"child": {"tools": tools, "messages": child}}}

    def _session(self) -> dict[str, bytes]:
        """The session, and what it printed on each stream."""
        words = ["run", "--script", "script.yaml", "--allow-all"]
        if self.terminal:
            theirs, output = pty.openpty()
        else:
            theirs, output = os.pipe()
            words.append("--json")
        with tempfile.TemporaryFile() as errors:
            process = self._harness(words, output, errors.fileno())
            os.close(output)
            said = bytearray()
            reader = threading.Thread(target=_read_all, args=(theirs, said))
            reader.start()
            try:
                self._look(process)
                process.wait(_BOUND_S)
            finally:
                process.kill()
                process.wait()
                reader.join(_BOUND_S)
                os.close(theirs)
            errors.seek(0)
            complaints = errors.read()
            if self.faults:
                self.faults.append(f"it said: {complaints[-300:].decode(errors='replace')}")
            return {"run": bytes(said), "run on stderr": complaints}

    def _look(self, process: "subprocess.Popen[bytes]") -> None:
        """Look at all processes of the session each time that one of its calls waits for it."""
        waiting = ["provider", "shell", "child"]
        while waiting and process.poll() is None:
            if (self.work / waiting[0]).exists():
                name = waiting.pop(0)
                self._look_at(process.pid)
                (self.work / f"{name}.seen").touch()
        if waiting:
            self.faults.append(f"the session ended ({process.wait()}) before '{waiting[0]}'")
        if self.interrupted:
            while process.poll() is None and not self._waits():
                pass
            process.send_signal(signal.SIGINT)

    def _waits(self) -> bool:
        """Whether the session has come to its last call, which never ends by itself."""
        logs = (self.place / "state").rglob("*.sqlite*")
        found = False
        for file in logs:
            with suppress(FileNotFoundError):
                found = found or _LAST in file.read_bytes()
        return found

    def _look_at(self, kernel: int) -> None:
        pids = (kernel, *_below(kernel))
        trying = [*_WITHOUT_PTRACE, sys.executable, "-c", _TRY, *map(str, pids)]
        tried = subprocess.run(trying, capture_output=True, text=True, timeout=_BOUND_S, check=True)
        open_to_others = {int(word) for word in tried.stdout.split()}
        for pid in pids:
            with suppress(FileNotFoundError, ProcessLookupError):
                command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
                kind = _kind(command) if pid != kernel else "kernel"
                self.counts[f"times a {kind} was looked at"] += 1
                if kind != "command" and pid in open_to_others:
                    self.faults.append(f"others may read all of a {kind}: {_shown(command)}")
                self._look_at_one(pid, command, kind)

    def _look_at_one(self, pid: int, command: str, kind: str) -> None:
        allowed = set(self.secrets) if kind == "kernel" else set()
        if str(_LEAKY) in command:
            allowed = {"LEAKY_VARIABLE"}
        self._search(f"the command line of {_shown(command)}", command.encode())
        with suppress(PermissionError):
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            self._search(f"the environment of {_shown(command)}", environment, allowed)

    def _afterwards(self) -> Iterator[list[str]]:
        """Commands that tell of the session, or of the project."""
        logs = sorted((self.place / "state").rglob("*.sqlite"))
        for log in logs:
            for action in ("show", "replay"):
                yield ["sessions", action, log.stem]
            yield ["sessions", "export", log.stem, str(self.place / f"{log.stem}.jsonl")]
        if self.interrupted:
            return  # the others of its kind tell of the project, which is the same
        yield ["sessions", "list", "--all"]
        yield ["config", "show"]
        yield ["config", "accept"]
        yield ["doctor", "--json"]
        yield ["policy", "explain", "leaky.do", "how=say"]
        yield ["call", "leaky.do", "how=fail"]
        yield ["call", "leaky.do", "how=raise", "--preview"]
        yield ["call", "leaky.do", "how=say", "--json"]

    def _harness(
        self, words: list[str], stdout: int, stderr: int = subprocess.STDOUT
    ) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [*_WITHOUT_PTRACE, sys.executable, "-m", "pluggableharness.cli", *words],
            cwd=self.work,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
        )

    def _search(self, where: str, data: bytes, allowed: set[str] | None = None) -> None:
        for name, spelled in self._spelled.items():
            if name not in (allowed or ()) and any(one in data for one in spelled):
                self.faults.append(f"{name} is in {where}")


def _spellings(secret: str) -> Iterator[bytes]:
    """A secret as programs write it, and a piece of it that every spelling but base64's holds."""
    data = secret.encode()
    yield data
    yield data[:16]
    yield data.hex().encode()
    yield quote(secret).encode()
    for shift in range(3):
        coded = base64.b64encode(b"\0" * shift + data)
        yield coded[4:-4]


def _kind(command: str) -> str:
    """What a process below the kernel is; a command is a person's or a provider's own."""
    if "bwrap" in command.partition("\0")[0]:
        return "command"  # it holds a guard in, whose words are among its own
    if _GUARD in command:
        return "guard"
    ours = "pluggableharness.providers" in command or str(_LEAKY) in command
    return "provider" if ours else "command"


def _shown(command: str) -> str:
    return command.replace("\0", " ")[-80:]


def _below(pid: int) -> set[int]:
    """All processes below one at this moment."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found, waiting = set[int](), [pid]
    while waiting:
        for child in children.get(waiting.pop(), []):
            found.add(child)
            waiting.append(child)
    return found


def _read_all(descriptor: int, said: bytearray) -> None:
    with suppress(OSError):  # EIO is how a terminal's other end says that nobody writes any more
        while piece := os.read(descriptor, 65_536):
            said.extend(piece)
