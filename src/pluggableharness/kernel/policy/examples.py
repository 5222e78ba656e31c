"""Whether a rule does what its author says it does, told by its examples (F11)."""

from collections.abc import Iterator

from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.operation import Kind, Operation, Risk, Schema, SchemaType
from pluggableharness.kernel.policy.evaluate import ruling
from pluggableharness.kernel.policy.facts import Facts
from pluggableharness.kernel.policy.rules import Example, Rule

_ANYTHING = Schema(SchemaType.OBJECT)
_PLACE = CallContext("example", "example", "/project")


def wrong_examples(rule: Rule) -> Iterator[tuple[Example, str]]:
    """The examples that come out otherwise than they say, each with the reason.

    An example is a call of an operation as the rule's match describes it, in the directory
    `/project`. A match by a deny or ask that holds only because the condition failed counts as
    a match, as it would in earnest.
    """
    for example in rule.examples:
        facts = Facts(Call("example", _operation(rule), example.arguments, _PLACE))
        held = ruling(rule, facts) is not None
        if held != example.matches:
            yield example, facts.answer(rule).why or "its condition holds"


def _operation(rule: Rule) -> Operation:
    """One of the operations that the rule speaks of."""
    kind = min(rule.kind or [Kind.RESOURCE], key=lambda one: one is not Kind.RESOURCE)
    usual = Risk.MODERATE if kind is Kind.RESOURCE else Risk.READ_ONLY
    return Operation(
        min(rule.provider or ["provider"]),
        min(rule.tool_name or ["operation"]),
        kind,
        min(rule.risk or [usual], key=lambda one: one.value),
        "",
        _ANYTHING,
        _ANYTHING,
    )
