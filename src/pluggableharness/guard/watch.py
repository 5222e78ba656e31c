"""The guard program: runs one command and does not end before everything it started has.

`pluggableharness.guard.guarded` builds the command line that runs it; nothing imports it. It
owns the life of one tree of processes and knows nothing of what runs in it (K16). Its start is
paid once a command, so it keeps to built-in and extension modules: `os`, `signal` and `ctypes`
would double what it costs.
"""

import _ctypes
import posix
import select
import sys
import time

TYPE_CHECKING = False  # mypy knows the name; `typing` would cost more than this whole program
if TYPE_CHECKING:
    import signal
    from collections.abc import Iterator
    from typing import Any
else:
    import _signal as signal

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38
LANDLOCK_RESTRICT_SELF = 446
FIRST_IN_NAMESPACE = 1

ORPHANED_GRACE_S = 1.0
"""From TERM to KILL once nobody holds the lifeline: all is to be gone within 2 s of the parent's
death, which the 2 s of an orderly stop would not leave."""

LONGEST_FREEZE_S = 2.0
STRIKE_PAUSE_MS = 20
NOT_STARTED = 127
ANOTHER_FOLDER = 116  # ESTALE
FROM_A_TERMINAL = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)


def run_from_arguments() -> None:
    """Serve the command line that `guarded` builds.

    LIFELINE STATUS RULES FILTER GRACE FOLDER COMMAND …
    """
    lifeline, status, rules, program, grace_s, folder, *command = sys.argv[1:]
    guard = Guard(int(lifeline), int(status), float(grace_s))
    # No interpreter to tidy up: leaving at once saves every command a millisecond or two.
    posix._exit(main(guard, folder, command, (int(rules), int(program))))


def main(guard: "Guard", folder: str, command: list[str], confinement: tuple[int, int]) -> int:
    """Set up the guard and run the command; returns the exit code to mirror."""
    try:
        here = posix.stat(".") if folder else None
        if here and folder != f"{here.st_dev}:{here.st_ino}":
            guard.report(f"failed {ANOTHER_FOLDER}")
            return NOT_STARTED
        environment = initial_environment()
        prctl(PR_SET_DUMPABLE, 0)  # that environment may hold a provider's secrets
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        leave_terminal()
        return guard.run(command, environment, confinement)
    except OSError as error:
        guard.report(f"broken {error}")
        return NOT_STARTED


class Guard:
    """One command, its lifeline and the reports about it."""

    def __init__(self, lifeline: int, status: int, grace_s: float) -> None:
        self.lifeline = lifeline
        self.status = status
        self.grace_s = grace_s
        self.child = 0
        self.code = NOT_STARTED
        self.stopping = False
        for descriptor in (lifeline, status):
            posix.set_inheritable(descriptor, False)
        self.wake, wake_w = posix.pipe2(posix.O_CLOEXEC | posix.O_NONBLOCK)
        signal.set_wakeup_fd(wake_w, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        self.poll = select.poll()
        self.poll.register(lifeline, select.POLLIN)
        self.poll.register(self.wake, select.POLLIN)

    def report(self, line: str) -> None:
        """Tell the parent, if it still listens."""
        try:
            posix.write(self.status, line.encode() + b"\n")
        except OSError:
            pass

    def run(
        self, command: list[str], environment: dict[bytes, bytes], confinement: tuple[int, int]
    ) -> int:
        """Run the command to its end and to the end of all it started; returns its exit code."""
        failure = self.start(command, environment, confinement)
        if failure:
            self.report(f"failed {failure}")
            return NOT_STARTED
        self.report(f"started {self.child}")
        release_streams()
        while self.child and not self.stopping:
            self.wait(None)
            self.reap()
        self.end_tree()
        return self.code

    def start(
        self, command: list[str], environment: dict[bytes, bytes], confinement: tuple[int, int]
    ) -> int:
        """Start the command; returns the error number if it cannot be executed, else 0."""
        me = posix.getpid()
        failure_r, failure_w = posix.pipe2(posix.O_CLOEXEC)
        self.child = posix.fork()
        if self.child == 0:
            become(command, environment, me, failure_w, confinement)
        for descriptor in (failure_w, *confinement):
            if descriptor >= 0:
                posix.close(descriptor)
        failure = posix.read(failure_r, 16)
        posix.close(failure_r)
        if failure:
            posix.waitpid(self.child, 0)
        return int(failure or 0)

    def wait(self, timeout_ms: float | None) -> None:
        """Sleep until something happens; note an order to stop and the parent's death."""
        for descriptor, _ in self.poll.poll(timeout_ms):
            if descriptor == self.wake:
                self.stopping |= signal.SIGTERM in posix.read(self.wake, 4096)
            else:
                self.stopping = True
                if not posix.read(self.lifeline, 4096):
                    self.grace_s = min(self.grace_s, ORPHANED_GRACE_S)
                    self.poll.unregister(self.lifeline)

    def reap(self) -> bool:
        """Bury what has ended; False once no child is left.

        Orphans become children of a subreaper, so no child means no descendant: unlike any
        look at /proc, this answer has no race in it.
        """
        while True:
            try:
                pid, status = posix.waitpid(-1, posix.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.child:
                self.child_ended(status)

    def child_ended(self, status: int) -> None:
        """Report how the command itself ended, before what it left behind is dealt with."""
        self.child = 0
        if posix.WIFSIGNALED(status):
            number = posix.WTERMSIG(status)
            self.code = 128 + number
            self.report(f"signal {number}")
        else:
            self.code = posix.WEXITSTATUS(status)
            self.report(f"exit {self.code}")

    def end_tree(self) -> None:
        """TERM to all that is left, KILL after the grace, until nothing is left."""
        began = time.monotonic()
        if self.reap():
            claim_the_processor()
            terminate()
        while self.reap():
            left_s = began + self.grace_s - time.monotonic()
            if left_s <= 0:
                break
            self.wait(left_s * 1000)
        while self.reap():
            self.strike()
            self.wait(STRIKE_PAUSE_MS)

    def strike(self) -> None:
        """Stop every descendant, then kill them all.

        Killing one by one loses against a tree that forks as fast: each death makes room for a
        birth. What is stopped does not fork, keeps its number, and fills whatever limits the
        number of processes.
        """
        if posix.getpid() == FIRST_IN_NAMESPACE:
            posix.kill(-1, signal.SIGKILL)  # all others here, in one step that no fork outruns
            return
        census, groups = Census(), set[int]()
        until = time.monotonic() + LONGEST_FREEZE_S
        while freeze(census, groups) and time.monotonic() < until:
            self.reap()
        for group in groups:
            signal_group(group, signal.SIGKILL)


def terminate() -> None:
    """Ask every descendant to end, the suspended ones too."""
    asked = set[int]()
    for group in Census().newcomers():
        if group not in asked:
            asked.add(group)
            signal_group(group, signal.SIGTERM)
            signal_group(group, signal.SIGCONT)


def freeze(census: "Census", stopped: set[int]) -> bool:
    """Stop the groups of descendants that the census has not met; False if there were none."""
    before = len(stopped)
    for group in census.newcomers():
        if group not in stopped:
            stopped.add(group)
            signal_group(group, signal.SIGSTOP)
    return len(stopped) > before


def signal_group(group: int, number: int) -> None:
    """Signal a whole group at once, which no member's fork can outrun.

    The command began a session of its own, so a group with one descendant in it holds nothing
    but descendants.
    """
    try:
        posix.killpg(group, number)
    except OSError:
        pass  # it has ended, or it runs as someone whom this guard may not signal


class Census:
    """Which processes are below this one, each looked at once.

    A number that is used again while a census lasts is missed by it; the next one finds it.
    """

    def __init__(self) -> None:
        self.below = {0: False, posix.getpid(): True}

    def newcomers(self) -> "Iterator[int]":
        """Yield the groups of the descendants that no earlier look of this census has met.

        Newest number first, one at a time: a process that forks and exits without end is
        caught only by a signal that follows at once.
        """
        numbers = [int(name) for name in posix.listdir("/proc") if name.isdigit()]
        for pid in sorted(numbers, reverse=True):
            yield from self.meet(pid)

    def meet(self, pid: int) -> list[int]:
        """Judge a process and its ancestors; returns the groups of those that are below."""
        path, groups = [], []
        try:
            while pid not in self.below:
                path.append(pid)
                pid, group = parent_and_group(pid)
                groups.append(group)
        except OSError:
            return []  # it or an ancestor has just ended, and what remains has a new parent
        below = self.below[pid]
        self.below.update(dict.fromkeys(path, below))
        return groups if below else []


def parent_and_group(pid: int) -> tuple[int, int]:
    """Return the parent and the group of a process; raises OSError once it is gone."""
    # The name stands in parentheses and may itself hold spaces and parentheses.
    fields = read_file(f"/proc/{pid}/stat").rpartition(b") ")[2].split(None, 3)
    return int(fields[1]), int(fields[2])


def read_file(path: str) -> bytes:
    """Read a file of /proc whole."""
    descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        pieces = []
        while piece := posix.read(descriptor, 65536):
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        posix.close(descriptor)


def initial_environment() -> dict[bytes, bytes]:
    """Return what the parent gave, without the LC_CTYPE that Python adds in a C locale."""
    block = read_file("/proc/self/environ")
    return dict(entry.split(b"=", 1) for entry in block.split(b"\0") if b"=" in entry)


def prctl(option: int, value: int, pointed: "bytes | int" = 0) -> None:
    """Set an attribute of this process; `pointed` is what a pointer is to lead to."""
    if call("prctl", option, value, pointed, 0, 0) != 0:
        raise OSError(1, f"prctl({option}, {value}) was refused")


def call(name: str, *arguments: "bytes | int") -> int:
    """Call a function of the C library, which is loaded already."""
    library = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # None: what is loaded already
    return int(_ctypes.call_cdeclfunction(_ctypes.dlsym(library, name), arguments))


def leave_terminal() -> None:
    """Outlive a closed terminal and its keys, which signal the parent's group or session."""
    for number in FROM_A_TERMINAL:
        signal.signal(number, signal.SIG_IGN)
    try:
        posix.setsid()
    except PermissionError:
        pass  # it already leads a group


def release_streams() -> None:
    """Let go of the command's streams and folder, which the guard's copies would keep open."""
    nothing = posix.open("/dev/null", posix.O_RDWR | posix.O_CLOEXEC)
    for descriptor in (0, 1, 2):
        posix.dup2(nothing, descriptor)
    posix.chdir("/")


def claim_the_processor() -> None:
    """Run before all others where that is allowed: a thousand that fork leave no time else."""
    try:
        posix.sched_setscheduler(0, posix.SCHED_FIFO, posix.sched_param(1))
    except OSError:
        pass


def become(
    command: list[str],
    environment: dict[bytes, bytes],
    guard: int,
    failure: int,
    confinement: tuple[int, int],
) -> None:
    """Turn this fork into the command. Never returns; the error number goes to `failure`."""
    try:
        posix.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if posix.getppid() == guard:
            reset_signals()
            confine(*confinement)
            posix.dup2(failure, 3, False)
            failure = 3
            posix.closerange(4, posix.sysconf("SC_OPEN_MAX"))
            execute(command, environment)
    except OSError as error:
        posix.write(failure, b"%d" % (error.errno or 1))
    finally:
        posix._exit(NOT_STARTED)


def confine(rules: int, program: int) -> None:
    """Take on a ruleset of Landlock and the filter in a file, whichever there is, for good."""
    if rules >= 0 or program >= 0:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
    if rules >= 0 and call("syscall", LANDLOCK_RESTRICT_SELF, rules, 0) != 0:
        raise PermissionError(1, "Landlock was refused")
    if program >= 0:
        text = posix.pread(program, 65536, 0)
        memory = memory_of(text)
        # struct sock_fprog: how many instructions of eight bytes, padding, where they are
        where = _ctypes.addressof(memory).to_bytes(8, sys.byteorder)
        header = (len(text) // 8).to_bytes(8, sys.byteorder)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header + where)


def memory_of(text: bytes) -> "_ctypes.Array[Any]":
    """Return a copy that stays where it is and can tell where that is."""
    character = type("character", (_ctypes._SimpleCData,), {"_type_": "c"})
    array: Any = type("array", (_ctypes.Array,), {"_type_": character, "_length_": len(text)})
    copy: _ctypes.Array[Any] = array.from_buffer_copy(text)
    return copy


def reset_signals() -> None:
    """Give every signal its default: what is ignored here would be ignored by the command."""
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_DFL)
        except (OSError, ValueError):
            pass  # KILL, STOP and those that the C library keeps for itself
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def execute(command: list[str], environment: dict[bytes, bytes]) -> None:
    """Execute the command, found by PATH unless it names a path; raises the telling OSError."""
    program = command[0]
    if "/" in program:
        posix.execve(program, command, environment)
    telling: OSError = FileNotFoundError(2, "not found")
    path = environment.get(b"PATH", b"/usr/local/bin:/usr/bin:/bin")
    for folder in path.decode("utf-8", "surrogateescape").split(":"):
        try:
            posix.execve(f"{folder or '.'}/{program}", command, environment)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            telling = error
    raise telling
