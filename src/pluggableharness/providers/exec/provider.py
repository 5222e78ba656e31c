"""The exec provider: what bash takes, gives, shows beforehand and afterwards (C10 to C13)."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pluggableharness.providers.exec.environment import command_environment
from pluggableharness.providers.exec.execution import Work, execute
from pluggableharness.providers.exec.places import Folder, folder_of
from pluggableharness.providers.exec.reading import PLAIN, command_line
from pluggableharness.providers.exec.record import Record
from pluggableharness.providers.exec.sandbox import Sandbox, chosen, for_reading
from pluggableharness.providers.exec.script import invocation
from pluggableharness.sdk import (
    Context,
    Doc,
    Gt,
    Le,
    PermissionDenied,
    Provider,
    TimedOut,
)
from pluggableharness.sdk.render import CodeBlock, Group, Node, Style, Text

_LONGEST_S: Final = 600
_USUAL_S: Final = 120

_Seconds = Annotated[
    float, Doc(f"Seconds until it is stopped; at most {_LONGEST_S}"), Gt(0), Le(_LONGEST_S)
]
_Where = Annotated[
    str | None, Doc("Where to run; relative to the session's working directory, its default")
]


@dataclass(frozen=True, slots=True)
class Settings:
    """How commands are run."""

    shell: Annotated[str, Doc("The program that runs a command, as SHELL -c COMMAND")] = "bash"
    env: Annotated[
        dict[str, str], Doc("Variables that every command gets beside the usual few")
    ] = field(default_factory=dict)
    sandbox: Annotated[
        str | None,
        Doc(
            'How commands are confined: "workspace" (they write below `roots` and to a private '
            '/tmp alone; the default where the system can do it), "read_only", or "none" (they '
            "may do whatever you may)"
        ),
    ] = None
    roots: Annotated[
        list[str],
        Doc("Folders that sandboxed commands may write to; the working directory when empty"),
    ] = field(default_factory=list)
    network: Annotated[bool, Doc("Whether sandboxed commands have the network")] = False
    shell_read: Annotated[
        bool, Doc("Whether shell_read, which runs a few reading programs unasked, is offered")
    ] = False

    def __post_init__(self) -> None:
        """Refuse what no command could be run with (P28)."""
        if not self.shell or "\0" in self.shell:
            raise ValueError("shell: expected the name or the path of a program")
        for name, value in self.env.items():
            if not name or "=" in name or "\0" in name + value:
                raise ValueError(f"env: {name!r} cannot be a variable of a process")
        if any(not root or "\0" in root for root in self.roots):
            raise ValueError("roots: expected the paths of folders")
        if self.sandbox is not None:
            chosen(self.sandbox, self.roots, network=self.network)

    @property
    def confined(self) -> Sandbox:
        """How commands are confined."""
        return chosen(self.sandbox, self.roots, network=self.network)


@dataclass(frozen=True, slots=True)
class BashResult:
    """How a command ended and what it printed."""

    exit_code: Annotated[int, Doc("The command's own, or 128 + n after signal n")]
    output: Annotated[str, Doc("stdout and stderr in order of arrival; the middle may be cut")]
    truncated: Annotated[bool, Doc("Whether output is cut")]
    total_bytes: Annotated[int, Doc("Bytes that the command printed")]
    duration_ms: int
    signal: Annotated[str | None, Doc('What ended the command, such as "SIGKILL"')] = None
    output_file: Annotated[str | None, Doc("The whole output, for read_file, if cut")] = None
    note: Annotated[str | None, Doc("What went otherwise than asked")] = None


provider = Provider("exec", settings=Settings)


@provider.resource(risk="high", streaming=True, default_timeout=_LONGEST_S)
async def bash(
    ctx: Context[Settings],
    command: Annotated[str, Doc("What to run, as bash reads it; may be a whole script")],
    timeout_s: _Seconds = _USUAL_S,
    working_directory: _Where = None,
    description: Annotated[
        str | None, Doc("What it is for, in a few words, for the person who is asked")
    ] = None,
) -> BashResult:
    """Run a shell command to its end and return what it printed and its exit code.

    Each call is a new shell in the working directory: `cd`, variables and functions do not
    last. It has no terminal and an empty stdin, so nothing can be answered. When the shell ends
    everything it started is ended too, background jobs as well. No other call of this provider
    runs meanwhile. Unless configured otherwise commands write only below the working directory and
    have no network. Of long output head and tail are returned, and all of it is kept in a file.
    """
    folder = _folder(ctx, working_directory)
    sandbox = ctx.settings.confined
    env = command_environment({**sandbox.environment(), **ctx.settings.env})
    with invocation(ctx.settings.shell, command) as (argv, stdin):
        return await _run(ctx, Work(argv, folder, env, sandbox, stdin), timeout_s)


def _folder(ctx: Context[Settings], asked: str | None) -> Folder:
    return folder_of(ctx.working_directory, asked, ctx.approved(asked) if asked else None)


async def _run(ctx: Context[Settings], work: Work, timeout_s: float) -> BashResult:
    record = Record(ctx.working_directory, work.folder.note, work.sandbox.explain)
    try:
        timed_out = await execute(ctx, record, work, timeout_s)
        fields = await record.fields()
    except asyncio.CancelledError:
        ctx.report = await record.fields()
        raise
    finally:
        record.close()
    if timed_out:
        raise TimedOut(
            f"the command was stopped after {timeout_s:g} s; what it had printed is in the "
            f"details. Give it more time with timeout_s (at most {_LONGEST_S}), or less to do",
            details=fields,
        )
    return BashResult(**fields)


@bash.preview
async def preview_bash(
    ctx: Context[Settings],
    command: str,
    timeout_s: float = _USUAL_S,
    working_directory: str | None = None,
    description: str | None = None,
) -> Node:
    """Show the command as it would run: where, for how long, and how confined."""
    folder = _folder(ctx, working_directory)
    nodes: list[Node] = [Text(description)] if description else []
    nodes.append(CodeBlock(command, "bash"))
    nodes.append(
        Text(
            f"in {folder.path}, at most {timeout_s:g} s, {ctx.settings.confined.says()}", Style.DIM
        )
    )
    if folder.note:
        nodes.append(Text(folder.note, Style.WARNING))
    return Group(nodes)


@provider.data_source(streaming=True, idempotent=True, default_timeout=_LONGEST_S)
async def shell_read(
    ctx: Context[Settings],
    argv: Annotated[list[str], Doc('Program and arguments, such as ["git", "log", "-3"]')],
    timeout_s: _Seconds = _USUAL_S,
    working_directory: _Where = None,
) -> BashResult:
    """Run one program that only reads, without a shell: no pipes, wildcards or variables.

    ls, cat, head, tail, wc, grep, find, sort, diff, stat, git log, git diff, git status and the
    like, with options that can neither write, nor run anything, nor use the network. Options are
    written out in full. Only the project and the system's programs are there to be seen.
    """
    _refuse_when_off(ctx.settings)
    folder = _folder(ctx, working_directory)
    sandbox = for_reading(ctx.settings.roots)
    env = command_environment({**sandbox.environment(), **ctx.settings.env, **PLAIN})
    return await _run(ctx, Work(command_line(argv), folder, env, sandbox), timeout_s)


def _refuse_when_off(settings: Settings) -> None:
    """Refuse what the configuration has not turned on, also where the host offers it."""
    if not settings.shell_read:
        raise PermissionDenied(
            "shell_read is off; the person who configures this turns it on by "
            'shell_read = true in the block provider "exec"'
        )


@shell_read.preview
async def preview_reading(
    ctx: Context[Settings],
    argv: list[str],
    timeout_s: float = _USUAL_S,
    working_directory: str | None = None,
) -> Node:
    """Show what would run, with what is added to it."""
    _refuse_when_off(ctx.settings)
    line = command_line(argv)
    folder = _folder(ctx, working_directory)
    says = for_reading(ctx.settings.roots).says()
    where = Text(f"in {folder.path}, at most {timeout_s:g} s, {says}", Style.DIM)
    return Group([CodeBlock(shlex.join(line), "bash"), where])


@bash.render
@shell_read.render
def render_ended(payload: dict[str, Any]) -> Node:
    """Show a recorded result: what was printed, and how it ended."""
    ending = payload.get("signal") or f"exit {payload['exit_code']}"
    style = Style.DIM if payload["exit_code"] == 0 else Style.ERROR
    nodes: list[Node] = [
        CodeBlock(payload["output"]),
        Text(f"{ending}, {payload['duration_ms']} ms", style),
    ]
    if "note" in payload:
        nodes.append(Text(payload["note"], Style.WARNING))
    return Group(nodes)
