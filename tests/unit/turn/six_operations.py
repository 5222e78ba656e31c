"""Operations of each kind, and what came of their calls."""

from unit.turn.doubles import operation

from pluggableharness.kernel.domain.message import Message, ToolResult
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.outcome import Success

READ = operation("read")
EDIT = operation("edit", Kind.RESOURCE, key_fields=("x",))
WRITE = operation("write", Kind.RESOURCE)
SHELL = operation("shell", Kind.RESOURCE, safe=False)
ASKED = operation("asked", Kind.INTERACTIVE)
FINISH = operation("finish", Kind.RESOURCE, terminates_turn=True)
OFFERED = (READ, EDIT, WRITE, SHELL, ASKED, FINISH)


def results(history: list[Message]) -> list[ToolResult]:
    return [block for block in history[-1].blocks if isinstance(block, ToolResult)]


def categories(history: list[Message]) -> list[str]:
    return [
        "ok" if isinstance(result.outcome, Success) else result.outcome.category.value
        for result in results(history)
    ]
