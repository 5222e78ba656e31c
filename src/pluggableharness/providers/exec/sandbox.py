"""How commands are confined: what was asked for, what this machine can do, one of them per call.

Chooses between bubblewrap, Landlock and nothing (C14). What each does is theirs to know.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Final

from pluggableharness.providers.exec import bubblewrap, landlock, seccomp
from pluggableharness.providers.exec.believed import (
    Believed,
    by_comparing,
    by_mounts,
    folders_to_hold,
    kept_folders,
    why_refused,
    writable_beside,
)
from pluggableharness.providers.exec.private import private_directory
from pluggableharness.providers.exec.standing_in import stand_ins
from pluggableharness.providers.exec.undoing import Snapshot
from pluggableharness.sdk import ExecutionFailed, PermissionDenied
from pluggableharness.sdk.guarded import guarded_files
from pluggableharness.sdk.landlock import version
from pluggableharness.sdk.processes import Confinement

_SYSTEM: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store"),
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"),
    *("/etc/localtime", "/etc/magic", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf"),
)


_NO_NETWORK: Final = re.compile(
    "could not resolve|name resolution|name or service not known|network is unreachable"
    "|getaddrinfo|ENOTFOUND|EAI_AGAIN",
    re.IGNORECASE,
)
_NOT_WRITTEN: Final = re.compile("read-only file system|EROFS", re.IGNORECASE)


class Mode(Enum):
    """What commands may change."""

    NONE = "none"
    WORKSPACE = "workspace"
    READ_ONLY = "read_only"


@dataclass(frozen=True, slots=True)
class Mechanism:
    """What this machine confines commands with, found by trying."""

    name: str
    """For a person: "bubblewrap (/usr/bin/bwrap)"."""
    machine: seccomp.Machine
    bubblewrap: tuple[str, ...] = ()
    """The start of its command line; empty for Landlock."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """This machine can confine nothing."""

    why: str


@cache
def mechanism() -> Mechanism | Unavailable:
    """Find out what works here. Tried once a process; takes some milliseconds."""
    machine = seccomp.machine()
    if machine is None:
        return Unavailable("there is no filter of system calls for this kind of processor")
    program = bubblewrap.find()
    why = "bubblewrap is not installed"
    if program:
        try:
            start = bubblewrap.working(program)
        except OSError as error:
            why = f"bubblewrap does not work ({error})"
        else:
            return Mechanism(f"bubblewrap ({program})", machine, start)
    known = version()
    if known >= landlock.OLDEST:
        return Mechanism(f"Landlock version {known}, since {why}", machine)
    needed = f"version {landlock.OLDEST} is needed (Linux 6.2)"
    return Unavailable(f"{why}, and Landlock is at version {known}, where {needed}")


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How the commands of one provider are confined."""

    mode: Mode
    roots: tuple[str, ...]
    network: bool
    found: Mechanism | Unavailable
    narrow: bool = False
    """Whether commands see nothing but `roots` and the system's own programs (C15)."""

    @property
    def confines(self) -> bool:
        """Whether commands are confined at all."""
        return self.mode is not Mode.NONE

    def environment(self) -> dict[str, str]:
        """Return the variables that lead programs to what they may write."""
        if not isinstance(self.found, Mechanism) or not self.confines:
            return {}
        temporary = "/tmp" if self.found.bubblewrap else str(private_directory())  # noqa: S108  # a private one
        return {
            "TMPDIR": temporary,
            "XDG_CACHE_HOME": f"{temporary}/.cache",
            "npm_config_cache": f"{temporary}/.npm",
        }

    def explain(self, output: str) -> str | None:
        """Say which wall of the sandbox a program's complaint is about; None without one."""
        if not self.confines or not isinstance(self.found, Mechanism):
            return None
        if not self.network and _NO_NETWORK.search(output):
            return (
                "sandboxed commands have no network: the person can give it, with network = true "
                "in the block of the exec provider in agent.hcl"
            )
        if (why := why_refused(output)) is not None:
            return why
        return f"commands are {self.says()}" if _NOT_WRITTEN.search(output) else None

    @contextmanager
    def around(
        self, working_directory: Path, folder: Path, tell: Callable[[str], None]
    ) -> Iterator[Confinement | None]:
        """Give what confines one command that runs in `folder`; None for nothing.

        What the command had changed and was not to, `tell` is told once it has been undone.

        Raises:
            PermissionDenied: the folder is none that a sandboxed command sees.
            ExecutionFailed: the system does not give what it gave before.
        """
        if not self.confines or not isinstance(self.found, Mechanism):
            yield None
            return
        with ExitStack() as held:
            try:
                believed, before = self._held(self.found, working_directory, held)
                confinement = self._confinement(
                    self.found, working_directory, folder.resolve(), believed
                )
            except OSError as error:
                raise ExecutionFailed(f"the sandbox cannot be made: {error}") from error
            try:
                yield confinement
            finally:
                for descriptor in {*confinement.descriptors, confinement.rules, confinement.filter}:
                    if descriptor >= 0:
                        os.close(descriptor)
                for said in before.undo():
                    tell(said)

    def _held(self, found: Mechanism, here: Path, held: ExitStack) -> tuple[Believed, Snapshot]:
        """Return what mounts are to hold during a command, and what is compared after it."""
        if self.mode is Mode.READ_ONLY:
            return Believed(), Snapshot(())
        folders = folders_to_hold(self._seen(here), here.resolve())
        if not found.bubblewrap:
            return Believed(), Snapshot(by_comparing(folders, guarded_files()).watched)
        believed = by_mounts(folders, guarded_files())
        believed.absent = held.enter_context(stand_ins(believed.absent))
        return believed, Snapshot(believed.watched)

    def says(self) -> str:
        """Return a few words for the person at the gate."""
        if not self.confines:
            return "not sandboxed"
        network = "network" if self.network else "no network"
        if self.mode is Mode.READ_ONLY:
            return f"sandboxed (read only, {network})"
        below = ", ".join(self.roots) or "the working directory"
        return f"sandboxed (writes only below {below}, {network})"

    @property
    def holds_at_all_times(self) -> bool:
        """Whether these files cannot be changed, instead of being put back or not held at all."""
        by_mounts = isinstance(self.found, Mechanism) and bool(self.found.bubblewrap)
        return self.mode is Mode.READ_ONLY or (self.confines and by_mounts)

    def holds(self) -> str:
        """Return what keeps the files that the harness and git act on later (K5a)."""
        if not self.confines or not isinstance(self.found, Mechanism):
            return (
                "nothing: a command may change agent.hcl, .agent, .git/config and .git/hooks, and "
                "so what the next session and the next git run"
            )
        if self.mode is Mode.READ_ONLY:
            return "the sandbox: commands write nothing"
        where = "of the roots and the working directory"
        if not self.found.bubblewrap:
            return (
                f"a comparison: what a command changes of agent.hcl, .agent/*.hcl, .git/config and "
                f".git/hooks {where} is there until the command has ended, and put back then. "
                "Start no other session and no git there meanwhile. In deeper folders, and when "
                "the harness is killed before that, nothing holds them"
            )
        return (
            f"mounts: no command can change or create agent.hcl, .agent, .git/config and "
            f".git/hooks {where}. A new .git is looked at once the command has ended. In deeper "
            "folders nothing holds them"
        )

    def _seen(self, working_directory: Path) -> tuple[Path, ...]:
        """Return the roots where they are now: one may be a link."""
        roots = self.roots or (str(working_directory),)
        return tuple((working_directory / root).expanduser().resolve() for root in roots)

    def _confinement(
        self, found: Mechanism, here: Path, folder: Path, believed: Believed
    ) -> Confinement:
        private = private_directory()
        kept = kept_folders(guarded_files())
        roots = () if self.mode is Mode.READ_ONLY else self._seen(here)
        writable = tuple(root for root in roots if not any(map(root.is_relative_to, kept)))
        if self.narrow and not any(folder.is_relative_to(root) for root in self._seen(here)):
            raise PermissionDenied(
                f"working_directory: {folder} is not below {', '.join(self.roots) or here}, which "
                "is all that is seen here"
            )
        readable = (*_system(), *self._seen(here)) if self.narrow else None
        if not found.bubblewrap:
            # Without a network namespace the filter is all there is against datagrams.
            families = seccomp.NETWORK if self.network else ()
            written = (part for root in writable for part in writable_beside(root, kept))
            rules = landlock.rules((*written, private), readable, network=self.network)
            return Confinement(rules=rules, filter=_readable(found.machine, families))
        if (
            readable is None
            and folder.is_relative_to(bubblewrap.SERVICES)
            and not any(folder.is_relative_to(root) for root in writable)
        ):
            raise PermissionDenied(
                f"working_directory: {folder} is not there for sandboxed commands; "
                "run in another folder, or add it to `roots` of provider exec"
            )
        descriptor = _readable(found.machine, seccomp.NETWORK)
        view = (
            bubblewrap.view(writable, private, folder, network=self.network, believed=believed)
            if readable is None
            else bubblewrap.narrow_view(readable, private, folder)
        )
        prefix = (*found.bubblewrap, *view, "--seccomp", str(descriptor), "--")
        return Confinement(prefix=prefix, descriptors=(descriptor,))


def _system() -> tuple[Path, ...]:
    """Return what the system's programs need, and the guard, which runs in the sandbox."""
    return (*(Path(name) for name in _SYSTEM if os.path.lexists(name)), *bubblewrap.guard_files())


def _readable(machine: seccomp.Machine, families: tuple[int, ...]) -> int:
    """Return a descriptor from which the filter can be read."""
    descriptor = os.memfd_create("filter")
    os.write(descriptor, seccomp.assembled(machine, families))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def chosen(asked: str | None, roots: Sequence[str], *, network: bool) -> Sandbox:
    """Return the sandbox for settings; without a wish the strictest sensible one there is.

    Raises:
        ValueError: what was asked for is unknown, or not possible here.
    """
    if asked == Mode.NONE.value:
        return Sandbox(Mode.NONE, (), network, Unavailable('sandbox is "none"'))
    try:
        mode = Mode(asked) if asked else Mode.WORKSPACE
    except ValueError:
        known = ", ".join(f'"{one.value}"' for one in Mode)
        raise ValueError(f"sandbox: {asked!r} is none of {known}") from None
    found = mechanism()
    if isinstance(found, Unavailable):
        if asked:
            raise ValueError(
                f'sandbox: "{asked}" is not possible here: {found.why}. '
                'Change that, or set sandbox = "none" to run commands unconfined'
            )
        return Sandbox(Mode.NONE, (), network, found)
    return Sandbox(mode, tuple(roots), network, found)


def for_reading(roots: Sequence[str]) -> Sandbox:
    """Return the sandbox of shell_read: read only, no network, and only the roots to see.

    Raises:
        ExecutionFailed: this machine has none; nothing is read without.
    """
    found = mechanism()
    if isinstance(found, Unavailable):
        raise ExecutionFailed(
            f"shell_read needs a sandbox, and there is none here: {found.why}. Use bash"
        )
    return Sandbox(Mode.READ_ONLY, tuple(roots), False, found, narrow=True)


def ability() -> str:
    """Return what this machine can do, for the log at the start and for doctor."""
    found = mechanism()
    if isinstance(found, Unavailable):
        return f"commands cannot be sandboxed here: {found.why}"
    return f"commands can be sandboxed, by {found.name}"
