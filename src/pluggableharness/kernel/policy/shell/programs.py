"""Programs that run their arguments, and options that execute or write (K7).

A list of this sort is never complete. It makes rules over well-known programs mean what their
author thinks; a program that is not on it does what its author lets it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pluggableharness.kernel.policy.shell import git
from pluggableharness.kernel.policy.shell.options import Options, forbidden_option, names
from pluggableharness.kernel.policy.shell.sed import simple_script
from pluggableharness.kernel.policy.shell.words import NotUnderstood, Word


@dataclass(frozen=True, slots=True)
class Inner:
    """What a wrapper runs: a command's words, or a line for another shell.

    `completed` says that the wrapper adds words that are not known here.
    """

    words: tuple[Word, ...] = ()
    line: str | None = None
    completed: bool = False


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """How a wrapper's own arguments end: after known options and `operands` further words."""

    flags: frozenset[str] = frozenset()
    valued: frozenset[str] = field(default_factory=frozenset)
    operands: int = 0


def _wrapper(flags: str = "", valued: str = "", operands: int = 0) -> _Wrapper:
    return _Wrapper(frozenset(flags.split()), frozenset(valued.split()), operands)


_WRAPPERS: Final = {
    "nohup": _wrapper(),
    "setsid": _wrapper("-c -f -w --ctty --fork --wait"),
    "nice": _wrapper(valued="-n --adjustment"),
    "ionice": _wrapper("-t", "-c -n"),
    "timeout": _wrapper(
        "-v --verbose --foreground --preserve-status", "-k -s --kill-after --signal", operands=1
    ),
    "stdbuf": _wrapper(valued="-i -o -e --input --output --error"),
    "command": _wrapper("-p"),
    "builtin": _wrapper(),
    "exec": _wrapper(),
    "env": _wrapper(),
    "sudo": _wrapper("-n -k --non-interactive"),
    "doas": _wrapper("-n"),
    "busybox": _wrapper(),
    "caffeinate": _wrapper("-i -d -m -s"),
}
_XARGS: Final = _wrapper(
    "-0 -r -t -x --null --no-run-if-empty --verbose --exit",
    "-I -n -P -L -d -E -s -a --max-args --max-procs --max-lines --delimiter --arg-file --replace",
)
_SHELLS: Final = names("sh bash dash zsh ksh ash fish")
_RUNS_ARGUMENTS: Final = names(
    "eval source . trap alias unalias enable hash bind complete compgen shopt set mapfile "
    "readarray read getopts fc time coproc parallel watch entr strace ltrace gdb lldb script su "
    "runuser sg flock chroot unshare nsenter setpriv capsh systemd-run ssh rsh mosh tmux screen at "
    "batch crontab awk gawk mawk nawk npx uvx bunx expect tclsh m4 ed ex vi vim nvim emacs "
    "osascript powershell pwsh cmd wsl torsocks proxychains firejail bwrap fakeroot "
    "dbus-run-session xvfb-run chronic unbuffer prlimit taskset numactl chrt run-parts "
    "start-stop-daemon ld.so ld-linux-x86-64.so.2 toybox perf valgrind "
    "hyperfine direnv runcon nixos-rebuild"
)
_BY_SUBCOMMAND: Final = {
    "uv": frozenset(["run", "tool"]),
    "poetry": frozenset(["run"]),
    "pipx": frozenset(["run"]),
    "pdm": frozenset(["run"]),
    "hatch": frozenset(["run"]),
    "conda": frozenset(["run"]),
    "npm": frozenset(["exec", "x", "explore"]),
    "pnpm": frozenset(["exec", "dlx"]),
    "yarn": frozenset(["exec", "dlx"]),
    "bun": frozenset(["x"]),
    "bundle": frozenset(["exec"]),
    "docker": frozenset(["run", "exec", "create"]),
    "podman": frozenset(["run", "exec", "create", "unshare"]),
    "kubectl": frozenset(["exec", "run", "debug"]),
    "rustup": frozenset(["run"]),
    "nix": frozenset(["run", "shell", "develop"]),
}
_INTERPRETERS: Final = {
    "python": Options("c"),
    "pypy": Options("c"),
    "perl": Options("eE"),
    "ruby": Options("e"),
    "node": Options("epr", ("--eval", "--print", "--require", "--import", "--loader")),
    "deno": Options("", ("--eval", "eval")),
    "php": Options("rBRE", ("--run",)),
    "lua": Options("e"),
    "Rscript": Options("e"),
}
_EXECUTING: Final = {
    "rg": Options("z", ("--pre", "--hostname-bin", "--search-zip")),
    "fd": Options("xX", ("--exec", "--exec-batch")),
    "fdfind": Options("xX", ("--exec", "--exec-batch")),
    "ag": Options("", ("--pager",)),
    "ack": Options("", ("--pager", "--ackrc")),
    "bat": Options("", ("--pager",)),
    "man": Options("PH", ("--pager", "--html", "--preprocessor")),
    "sort": Options("oT", ("--output", "--compress-program", "--temporary-directory")),
    "tree": Options("o"),
    "tar": Options(
        "IF",
        (
            *("--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command"),
            *("--info-script", "--new-volume-script", "--rmt-command"),
        ),
    ),
    "zip": Options("T", ("--unzip-command", "--test")),
    "rsync": Options("e", ("--rsh", "--rsync-path")),
    "scp": Options("SoF"),
    "sftp": Options("SoFb"),
    "curl": Options(
        "oOKDcT",
        (
            *("--output", "--remote-name", "--config", "--dump-header", "--cookie-jar"),
            *("--trace", "--trace-ascii", "--upload-file", "--output-dir", "--hsts"),
            *("--alt-svc", "--stderr"),
        ),
    ),
    "wget": Options("", ("--use-askpass", "--config", "--execute"), ("-e",)),
    "make": Options("fCIE", ("--eval", "--file", "--makefile", "--directory", "--include-dir")),
    "npm": Options("C", ("--script-shell", "--prefix", "--node-options")),
    "pnpm": Options("C", ("--script-shell", "--dir", "--node-options")),
    "yarn": Options("", ("--cwd", "--script-shell", "--node-options")),
    "go": Options(
        "",
        ("--exec", "--toolexec", "--vettool", "--overlay", "--modfile"),
        ("-exec", "-toolexec", "-vettool", "-C", "-overlay", "-modfile"),
    ),
    "cargo": Options("C", ("--config", "--manifest-path")),
    "gcc": Options("", (), ("-wrapper",)),
    "date": Options("s", ("--set",)),
    "yq": Options("i", ("--inplace",)),
    "file": Options("C", ("--compile",)),
}
_DIRECTORIES: Final = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/")
_FIND_RUNS: Final = frozenset(["-exec", "-execdir", "-ok", "-okdir"])
_FIND_WRITES: Final = frozenset(["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"])
_RESERVED: Final = names(
    "! case coproc do done elif else esac fi for function if in select then until while { } "
    "time [[ ]]"
)


def program_name(first: Word) -> str:
    """The name of a program: without its directory where that is one of the system's.

    Any other path stays whole, since `./ls` is not `ls`. Raises NotUnderstood where it may be
    anything.
    """
    name = first.value
    if not first.fixed or not name or "=" in name or name in _RESERVED:
        raise NotUnderstood(f"{name or 'nothing'} as a program's name")
    if not name.isascii():
        raise NotUnderstood(f"{name} looks like another program's name")
    if "/" not in name:
        return name
    if ".." in name.split("/") or name.startswith(("/proc", "//", "/dev")):
        raise NotUnderstood(f"{name} may be any program")
    name = "/".join(step for step in name.split("/") if step not in ("", "."))
    name = f"/{name}" if first.value.startswith("/") else f"./{name}"
    for directory in _DIRECTORIES:
        if name.startswith(directory) and "/" not in name[len(directory) :]:
            return name[len(directory) :]
    return name


def runs_anything(program: str) -> bool:
    """Whether a program is a shell, an interpreter or a wrapper: its name says nothing (K10)."""
    base = program.rpartition("/")[2]
    return (
        base in ("find", "xargs", "sed")
        or base in _SHELLS | _RUNS_ARGUMENTS
        or base in _WRAPPERS
        or base.rstrip("0123456789.") in _INTERPRETERS
    )


def needs_subcommand(program: str) -> bool:
    """Whether only the subcommand says what a program does, as with git (K10)."""
    base = program.rpartition("/")[2]
    return base == "git" or base in _BY_SUBCOMMAND


def inner_of(program: str, words: Sequence[Word]) -> list[Inner]:
    """What a command runs besides itself; `words` are all of its words.

    Raises NotUnderstood when it may run or write what its words do not show.
    """
    base = program.rpartition("/")[2]
    rest = words[1:]
    if base in _SHELLS:
        return [_shell(base, rest)]
    if base == "find":
        return _find(rest)
    if base == "xargs":
        return [_looked_through(_XARGS, base, rest, completed=True)]
    if base in _WRAPPERS:
        return [_looked_through(_WRAPPERS[base], base, rest)]
    _refuse(base, rest)
    return []


def _refuse(base: str, rest: Sequence[Word]) -> None:
    """Raise NotUnderstood for a program, a subcommand or an option that runs or writes."""
    if base in _RUNS_ARGUMENTS:
        raise NotUnderstood(f"{base} runs its arguments, or changes what others mean")
    if base == "git":
        git.check(rest)
    elif base == "sed":
        simple_script(rest)
    interpreter = _INTERPRETERS.get(base.rstrip("0123456789."))
    if interpreter is not None and not any(not one.value.startswith("-") for one in rest):
        raise NotUnderstood(f"{base} runs what it is given")
    options = interpreter or _EXECUTING.get(base)
    if options is not None and (found := forbidden_option(options, rest)):
        raise NotUnderstood(f"{base} {found} executes or writes")
    subcommands = _BY_SUBCOMMAND.get(base)
    if subcommands is not None and any(one.value in subcommands for one in rest):
        raise NotUnderstood(f"{base} runs its arguments")
    if base == "make" and any("=" in one.value for one in rest):
        raise NotUnderstood("a variable given to make changes what it runs")


def _looked_through(
    wrapper: _Wrapper, base: str, rest: Sequence[Word], *, completed: bool = False
) -> Inner:
    at, operands = 0, wrapper.operands
    while at < len(rest):
        if not rest[at].fixed:
            raise NotUnderstood(f"{base} with an argument that is not known")
        value = rest[at].value
        option, equals, _ = value.partition("=")
        if operands < wrapper.operands or not value.startswith("-") or value == "-":
            if operands == 0:
                return Inner(tuple(rest[at:]), completed=completed)
            operands -= 1
            at += 1
        elif value in wrapper.flags or (equals and option in wrapper.valued):
            at += 1
        elif value in wrapper.valued:
            at += 2
        elif value[:2] in wrapper.valued and not value.startswith("--"):
            at += 1
        else:
            raise NotUnderstood(f"{base} {value} is not known")
    raise NotUnderstood(f"{base} does not name what it runs")


def _shell(base: str, rest: Sequence[Word]) -> Inner:
    """`sh -c LINE`; any other use runs what is not seen here."""
    if len(rest) == 2 and rest[0] == Word("-c") and rest[1].fixed:
        return Inner(line=rest[1].value)
    raise NotUnderstood(f"{base} runs what is not seen here")


def _find(rest: Sequence[Word]) -> list[Inner]:
    found: list[Inner] = []
    values = [one.value for one in rest]
    written = _FIND_WRITES.intersection(values)
    if written:
        raise NotUnderstood(f"find {min(written)} writes")
    at = 0
    while at < len(values):
        if values[at] in _FIND_RUNS:
            end = next((i for i in range(at, len(values)) if values[i] in (";", "+")), at)
            words = tuple(rest[at + 1 : end])
            if not words or not all(one.fixed for one in words):
                raise NotUnderstood(f"find {values[at]} without what it runs")
            found.append(Inner(words, completed=True))
            at = end
        at += 1
    return found
