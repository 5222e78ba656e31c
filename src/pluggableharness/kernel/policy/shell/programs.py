"""What a command does by its own words: run others, write files, or what nobody knows (K7).

Lists of programs are never complete. They make rules over well-known programs mean what their
author thinks; a program that is on none does what its author lets it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pluggableharness.kernel.policy.shell import builtins, git
from pluggableharness.kernel.policy.shell.known import (
    COMPILER,
    COMPILERS,
    INTERPRETERS,
    OTHERS,
    TAR,
    TAR_THAT_WRITES,
    TAR_WRITES,
    WRITERS,
)
from pluggableharness.kernel.policy.shell.options import Shape, Targets, judged, names
from pluggableharness.kernel.policy.shell.readers import READERS
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
class Inside:
    """What a command does by its own words: what it runs, the files that it writes, and the
    options of which nothing is known. `told` says that its name tells that it writes, `aims` that
    it writes operands."""

    inner: tuple[Inner, ...] = ()
    writes: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    told: bool = False
    aims: bool = False


_UNKNOWN: Final = Shape()
_TARS: Final = frozenset(["tar", "bsdtar"])
_CODE: Final = re.compile(r"-[A-Za-z]*[cerE]|--(?:command|eval|run)(?:=.*)?", re.DOTALL)
_VERSION: Final = re.compile(r"[-.]?[0-9][0-9.]*$")


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """How a wrapper's own arguments end: after known options and `operands` further words."""

    flags: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    operands: int = 0


def _wrapper(flags: str = "", valued: str = "", operands: int = 0) -> _Wrapper:
    return _Wrapper(names(flags), names(valued), operands)


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
    # Those two may be given a value, but only behind "=".
    "-0 -r -t -x --null --no-run-if-empty --verbose --exit --replace --max-lines",
    "-I -n -P -L -d -E -s -a --max-args --max-procs --max-lines --delimiter --arg-file --replace",
)
_SHELLS: Final = names(
    "sh bash dash zsh ksh ash fish rbash mksh lksh yash posh csh tcsh nu xonsh elvish oil osh"
)
_RUNS_ARGUMENTS: Final = names(
    "time parallel watch entr strace ltrace gdb lldb script su "
    "runuser sg flock chroot unshare nsenter setpriv capsh systemd-run ssh rsh mosh tmux screen at "
    "batch crontab awk gawk mawk nawk npx uvx bunx expect tclsh m4 ed ex vi vim nvim emacs "
    "osascript powershell pwsh cmd wsl torsocks proxychains firejail bwrap fakeroot "
    "dbus-run-session xvfb-run chronic unbuffer prlimit taskset numactl chrt run-parts "
    "start-stop-daemon ld.so ld-linux-x86-64.so.2 toybox perf valgrind "
    "hyperfine direnv runcon nixos-rebuild view rview vimdiff gvim rvim nvi kak hx micro joe nano "
    "pico mg busybox-static rlwrap socat faketime choom pkexec chpst setuidgid softlimit envdir "
    "envuidgid pgrphack setlock cgexec srun sbatch mpirun mpiexec qsub pssh irb ghci jshell dc "
    "gnuplot octave sqlite3 psql mysql mariadb mongosh redis-cli ts-node tsx watchexec nodemon "
    "reptyr screen byobu dtach abduco scriptreplay sshpass autossh pexec rush wine mono qemu "
    "guile racket sbcl clisp ocaml elixir erl iex groovy scala raku mail mailx mutt "
    "vim.tiny vim.basic vim.nox vim.gtk3 ipython bpython ldd rename prename vidir vipe ifne pee "
    "mispipe zrun setarch linux32 linux64 uname26 eatmydata catchsegv rr heaptrack pnpx ssh-agent "
    "newgrp xdg-open gio dbus-launch lynx w3m links imap-send "
    "R tcc dotenv dotenvx flatpak-spawn nix-shell runghc runhaskell corepack zellij cpulimit "
    "trickle tsocks torify daemonize daemon nq ts sem env_parallel xe dumb-init tini gosu su-exec "
    "s6-setuidgid with-contenv honcho foreman concurrently cross-env npm-run-all run-one "
    "run-this-one keep-one-running proxychains4 systemd-inhibit systemd-nspawn machinectl lxc "
    "incus nerdctl crictl toolbox distrobox devcontainer vagrant tsh envchain retry ccache distcc "
    "sccache bear coverage nyc c8 kcov memusage nsjail minijail0 landrun "
    "winpty mintty xterm konsole kitty alacritty foot gnome-terminal swaymsg i3-msg "
    "hyprctl scsh jshell kotlin kotlinc-jvm bsh jbang rust-script cargo-script "
    "swipl gprolog maxima gp sage sagemath chez chibi gosh janet fennel newlisp picolisp rebol "
    "gforth picat escript lfe tclkit wish"
)
_BY_SUBCOMMAND: Final = {
    "uv": names("run tool"),
    "poetry": names("run shell"),
    "pipenv": names("run shell"),
    "pipx": names("run"),
    "pdm": names("run"),
    "rye": names("run tools"),
    "hatch": names("run shell"),
    "pixi": names("run exec shell"),
    "conda": names("run"),
    "mamba": names("run"),
    "micromamba": names("run"),
    "npm": names("exec x explore"),
    "pnpm": names("exec dlx"),
    "yarn": names("exec dlx"),
    "bun": names("x"),
    "bundle": names("exec"),
    "docker": names("run exec create"),
    "docker-compose": names("run exec"),
    "podman": names("run exec create unshare"),
    "kubectl": names("exec run debug"),
    "oc": names("exec run debug rsh"),
    "flatpak": names("run enter"),
    "snap": names("run"),
    "op": names("run plugin"),
    "doppler": names("run"),
    "chamber": names("exec"),
    "aws-vault": names("exec"),
    "sops": names("exec-env exec-file"),
    "mise": names("exec x run watch"),
    "asdf": names("exec"),
    "rtx": names("exec x run"),
    "rbenv": names("exec"),
    "pyenv": names("exec"),
    "devbox": names("run shell"),
    "rustup": names("run"),
    "stack": names("exec runghc runhaskell ghci eval"),
    "cabal": names("exec repl"),
    "opam": names("exec"),
    "dune": names("exec"),
    "lerna": names("exec"),
    "nx": names("exec"),
    "heroku": names("run"),
    "fly": names("ssh"),
    "nix": names("run shell develop eval repl"),
    "deno": names("eval repl"),
    "crystal": names("eval play i"),
    "zig": names("run"),
    "ip": names("exec"),
}
_GNU: Final = names(
    "find xargs sed tar env timeout nice nohup stdbuf split time chroot tee dd cp mv ln install "
    "touch truncate mkdir mkfifo rm rmdir unlink shred chmod chown chgrp csplit cat head tail ls "
    "sort uniq tr cut date grep printf test make runcon"
)
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
    base = _base(program)
    return (
        base in ("find", "xargs", "sed")
        or base in _SHELLS | _RUNS_ARGUMENTS
        or _stem(base) in _SHELLS | _RUNS_ARGUMENTS
        or base in _WRAPPERS
        or base in builtins.NOT_PLAIN
        or _stem(base) in INTERPRETERS
    )


def needs_subcommand(program: str) -> bool:
    """Whether only the subcommand says what a program does, as with git (K10)."""
    base = _base(program)
    return base == "git" or base in _BY_SUBCOMMAND


def may_wrap(program: str) -> bool:
    """Whether nothing is known of a program, so that it may run its words."""
    base = _base(program)
    return not (
        runs_anything(program)
        or needs_subcommand(program)
        or base in builtins.PLAIN
        or base in _TARS
        or COMPILERS.fullmatch(base)
        or any(base in table for table in (READERS, WRITERS, OTHERS))
    )


def given_code(words: Sequence[Word]) -> bool:
    """Whether words would be a shell or an interpreter with code among its arguments."""
    base = words[0].value.rpartition("/")[2]
    known = {base, _stem(base)} & (_SHELLS | INTERPRETERS.keys())
    return bool(known) and len(words) > 1 and _CODE.fullmatch(words[1].value) is not None


def inside(program: str, words: Sequence[Word]) -> Inside:
    """What a command does by its own words; `words` are all of them.

    Raises NotUnderstood when it may run or write what its words do not show.
    """
    base = _base(program)
    rest = words[1:]
    if base in _SHELLS:
        return Inside((_shell(base, rest),))
    if base == "find":
        return Inside(tuple(_find(rest)))
    if base == "xargs":
        return Inside((_xargs(rest),))
    if base in _WRAPPERS:
        return Inside((_looked_through(_WRAPPERS[base], base, rest),))
    if base in _RUNS_ARGUMENTS or _stem(base) in _RUNS_ARGUMENTS | _SHELLS:
        raise NotUnderstood(f"{base} runs its arguments, or changes what others mean")
    if base in builtins.PLAIN or base in builtins.NOT_PLAIN:
        builtins.check(base, rest)
        return Inside()
    if base == "git":
        found = git.inside(rest)
        return Inside((), tuple(found.writes), tuple(found.unproven))
    if base == "sed":
        simple_script(rest)
        return Inside()
    return _by_shape(base, rest)


def _by_shape(base: str, rest: Sequence[Word]) -> Inside:
    subcommands = _BY_SUBCOMMAND.get(base)
    if subcommands is not None and any(one.value in subcommands for one in rest):
        raise NotUnderstood(f"{base} runs its arguments")
    interpreter = INTERPRETERS.get(_stem(base))
    shape = interpreter or _shape(base, rest)
    found = judged(base, shape, rest)
    first = found.operands[0] if found.operands else ""
    if shape is _UNKNOWN and first == "exec":
        raise NotUnderstood(f"{base} exec runs its arguments")
    given = first in ("", "-") or first.startswith(("/dev/", "/proc/"))
    if interpreter is not None and given and not _asks_version(rest):
        raise NotUnderstood(f"{base} runs what it is given")
    aims = shape.targets is not Targets.NONE
    return Inside((), tuple(found.writes), tuple(found.unproven), told=shape.trade, aims=aims)


def gnu_name(program: str) -> str:
    """A program's name without the `g` that GNU's have where the system has others."""
    return program[1:] if program.startswith("g") and program[1:] in _GNU else program


def _base(program: str) -> str:
    """The name by which it is known what a program does."""
    return gnu_name(program.rpartition("/")[2])


def _stem(base: str) -> str:
    """A program's name without the version that may stand behind it."""
    return _VERSION.sub("", base)


def _shape(base: str, rest: Sequence[Word]) -> Shape:
    if base in _TARS:
        modes = (one.value for one in (rest[:1] if rest else ()))
        options = (one.value for one in rest if one.value.startswith("-"))
        writes = any(TAR_WRITES.fullmatch(one) for one in (*modes, *options))
        return TAR_THAT_WRITES if writes else TAR
    if COMPILERS.fullmatch(base):
        return COMPILER
    return READERS.get(base) or WRITERS.get(base) or OTHERS.get(base) or _UNKNOWN


def _asks_version(rest: Sequence[Word]) -> bool:
    return len(rest) == 1 and rest[0].value == "--version"


def _xargs(rest: Sequence[Word]) -> Inner:
    """What xargs runs; it completes the words, and replaces what `-I` names in each of them."""
    words = _looked_through(_XARGS, "xargs", rest).words
    own = [one.value for one in rest[: len(rest) - len(words)]]
    for at, value in enumerate(own):
        if value == "-I":
            words = _replaced(words, own[at + 1])
        elif value.startswith("-I"):
            words = _replaced(words, value[2:])
        elif value.startswith("--replace"):
            words = _replaced(words, value.partition("=")[2] or "{}")
    return Inner(words, completed=True)


def _replaced(words: Sequence[Word], mark: str) -> tuple[Word, ...]:
    """Words of which those with a mark in them are not known."""
    return tuple(Word(one.value, one.fixed and mark not in one.value) for one in words)


def _looked_through(wrapper: _Wrapper, base: str, rest: Sequence[Word]) -> Inner:
    at, operands = 0, wrapper.operands
    while at < len(rest):
        if not rest[at].fixed:
            raise NotUnderstood(f"{base} with an argument that is not known")
        value = rest[at].value
        option, equals, _ = value.partition("=")
        if operands < wrapper.operands or not value.startswith("-") or value == "-":
            if operands == 0:
                return Inner(tuple(rest[at:]))
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


def _ends(values: Sequence[str], at: int) -> bool:
    """Whether a word ends what find runs: a `+` does so only behind `{}`."""
    return values[at] == ";" or (values[at] == "+" and values[at - 1] == "{}")


def _find(rest: Sequence[Word]) -> list[Inner]:
    found: list[Inner] = []
    values = [one.value for one in rest]
    written = _FIND_WRITES.intersection(values)
    if written:
        raise NotUnderstood(f"find {min(written)} writes")
    at = 0
    while at < len(values):
        if values[at] in _FIND_RUNS:
            end = next((i for i in range(at + 1, len(values)) if _ends(values, i)), at)
            words = tuple(rest[at + 1 : end])
            if not words or not all(one.fixed for one in words):
                raise NotUnderstood(f"find {values[at]} without what it runs")
            found.append(Inner(_replaced(words, "{}"), completed=True))
            at = end
        at += 1
    return found
