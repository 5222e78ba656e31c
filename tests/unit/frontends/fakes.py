"""Values of the kernel as the tests of the frontends need them."""

from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.operation import Kind, Operation, Risk, Schema, SchemaType
from pluggableharness.kernel.domain.plan import Plan, PlanItem
from pluggableharness.kernel.domain.render import (
    DiffHunk,
    DiffLine,
    DiffNode,
    DiffOp,
    RenderNode,
)
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.domain.verdict import Decision, Verdict

TEXT = Schema(SchemaType.STRING)
ASKED = Verdict(Decision.ASK, "default for resource")
ALLOWED = Verdict(Decision.ALLOW, "rule tests")


def operation(
    full_name: str,
    *required: str,
    kind: Kind = Kind.RESOURCE,
    risk: Risk = Risk.MODERATE,
    output: Schema | None = None,
) -> Operation:
    provider, _, name = full_name.partition(".")
    return Operation(
        provider,
        name,
        kind,
        risk if kind is Kind.RESOURCE else Risk.READ_ONLY,
        f"What {name} does.",
        Schema(SchemaType.OBJECT, properties=dict.fromkeys(required, TEXT), required=required),
        output or Schema(SchemaType.OBJECT),
        streaming=True,
    )


EDIT = operation("filesystem.edit_file", "path", "old_str", "new_str")
BASH = operation("exec.bash", "command", risk=Risk.HIGH)
READ = operation("filesystem.read_file", "path", kind=Kind.DATA_SOURCE)


def call(of: Operation, call_id: str = "c1", /, **arguments: object) -> Call:
    given: JsonObject = arguments  # type: ignore[assignment]
    return Call(call_id, of, given, CallContext("s1", "t1", "/work"), tool_use_id=f"u-{call_id}")


def item(of: Call, preview: RenderNode | None = None, verdict: Verdict = ASKED) -> PlanItem:
    return PlanItem(f"t1.{of.id}", of, preview, verdict)


def plan(*items: PlanItem) -> Plan:
    return Plan("t1", items)


def diff(*lines: str, start: int = 1) -> DiffNode:
    """A diff of one hunk from lines that begin with their sign."""
    ops = {" ": DiffOp.CONTEXT, "+": DiffOp.ADD, "-": DiffOp.REMOVE}
    drawn = tuple(DiffLine(ops[line[0]], line[1:]) for line in lines)
    old = sum(line.op is not DiffOp.ADD for line in drawn)
    new = sum(line.op is not DiffOp.REMOVE for line in drawn)
    return DiffNode((DiffHunk(start, old, start, new, drawn),))
