"""S11: a decision among many rules."""

import time
from collections.abc import Sequence

from bench.reading import Reading, median
from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.operation import Kind, Operation, Risk, Schema, SchemaType
from pluggableharness.kernel.policy import Action, Asking, Rule, RuleBook, Terms, decide

_ROUNDS = 200
_TERMS = Terms(Asking.PERSON)
_BASH = Operation(
    "exec",
    "bash",
    Kind.RESOURCE,
    Risk.HIGH,
    "Run a command.",
    Schema(
        SchemaType.OBJECT, properties={"command": Schema(SchemaType.STRING)}, required=("command",)
    ),
    Schema(SchemaType.OBJECT),
)


async def rows() -> list[Reading]:
    """Plain rules for other operations and this one, then conditions for this one alone."""
    plain = [
        Rule(f"rule-{n}", Action.ASK, frozenset({f"tool-{n}"}), frozenset({f"p-{n % 50}"}))
        for n in range(999)
    ]
    book = RuleBook([*plain, Rule("bash", Action.ALLOW, frozenset({"bash"}))])
    return [
        _reading("a decision among 1,000 rules", book, 20),
        _reading("with 200 conditions on arguments", _book('arguments.command == "no {n}"'), 500),
        _reading(
            "with 200 conditions over commands",
            _book('commands.exists(c, c.program == "no-{n}")'),
            3000,
        ),
    ]


def _book(condition: str) -> RuleBook:
    rules = [
        Rule(f"w{n}", Action.ALLOW, frozenset({"bash"}), when=condition.replace("{n}", str(n)))
        for n in range(200)
    ]
    return RuleBook(rules)


def _reading(what: str, book: RuleBook, limit_us: float) -> Reading:
    _decisions(book, 2)
    each = median([median(_decisions(book, _ROUNDS)) for _ in range(5)]) * 1e6
    return Reading("S11", what, each, "µs", each, f"<= {limit_us:g}", each <= limit_us)


def _decisions(book: RuleBook, count: int) -> Sequence[float]:
    context = CallContext("session", "turn", "/work")
    seconds = []
    for number in range(count):
        arguments = {"command": f"git status --short | head -{number}; make test"}
        call = Call(f"call-{number}", _BASH, arguments, context)
        began = time.perf_counter()
        decide(book, call, _TERMS)
        seconds.append(time.perf_counter() - began)
    return seconds
