"""HCL2's expressions, by recursive descent."""

import re
from typing import Final

from pluggableharness.kernel.config.scanner import NotTaken, Scanner, SyntaxProblem
from pluggableharness.kernel.config.source import Span
from pluggableharness.kernel.config.syntax import (
    Attribute,
    Binary,
    Conditional,
    Expression,
    For,
    Index,
    Invocation,
    Item,
    ListOf,
    Literal,
    Name,
    ObjectOf,
    Template,
    Unary,
)
from pluggableharness.kernel.config.templates import HEREDOC, heredoc, quoted_template

_LEVELS: Final = tuple(
    re.compile(operators)
    for operators in (r"\|\|", "&&", "==|!=", ">=|<=|>|<(?!<)", r"[+-]", r"\*|/(?![/*])|%")
)
"""Binary operators, the loosest first; all of them group to the left."""

_UNARY = re.compile(r"-|!(?!=)")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_DIGITS = re.compile(r"[0-9]+")
_NUMBER_LIKE = re.compile(r"[0-9](?:(?:[0-9.]|[eE][+-]?[0-9])*(?:[0-9]|[eE][+-]?[0-9]))?")
"""What HCL2 takes for one word, whether or not it is a number: `0.1.1`."""
_BRACKETS: Final = "write the place in a list in brackets: [0]"
_DOT_DIGIT = re.compile(r"\.[ \t]*[0-9]")
_DOT = re.compile(r"\.(?!\.\.)")
_COLON = re.compile(r":(?!:)")
_KEY_MARK = re.compile(r"=(?![=>])|:(?!:)")
_FOR = re.compile(r"for(?![\w-])")
_IF = re.compile(r"if(?![\w-])")
_IN = re.compile(r"in(?![\w-])")
_CONSTANTS: Final = {"true": True, "false": False, "null": None}


def expression(scanner: Scanner) -> Expression:
    """The expression that starts here.

    Raises SyntaxProblem where none does.
    """
    with scanner.newlines(scanner.newlines_count):
        return _conditional(scanner)


def _conditional(scanner: Scanner) -> Expression:
    start = scanner.skip()
    condition = _binary(scanner, 0)
    if not scanner.takes("?"):
        return condition
    yes = expression(scanner)
    if not scanner.take(_COLON):
        raise scanner.expected("':' and the other value of '?'")
    no = expression(scanner)
    return Conditional(scanner.since(start), condition, yes, no)


def _binary(scanner: Scanner, level: int) -> Expression:
    if level == len(_LEVELS):
        return _with_steps(scanner)
    start = scanner.skip()
    left = _binary(scanner, level + 1)
    while found := scanner.take(_LEVELS[level]):
        right = _binary(scanner, level + 1)
        left = Binary(scanner.since(start), found.group(), left, right)
    return left


def _with_steps(scanner: Scanner) -> Expression:
    """A term and what is taken out of it: `.name`, `.0`, `[key]`."""
    start = scanner.skip()
    target = _term(scanner)
    while True:
        if scanner.take(_DOT):
            target = _step(scanner, start, target)
        elif scanner.takes("["):
            target = _index(scanner, start, target)
        else:
            return target


def _step(scanner: Scanner, start: int, target: Expression) -> Expression:
    at = scanner.skip()
    name = scanner.word()
    if name is not None:
        return Attribute(scanner.since(start), target, name)
    number = scanner.take(_NUMBER_LIKE)
    if number is not None:
        key = Literal(scanner.since(at), _place(number.group(), scanner.since(at)))
        if scanner.next(_DOT_DIGIT):
            raise NotTaken(scanner.here(), _BRACKETS)
        return Index(scanner.since(start), target, key)
    if scanner.takes("*"):
        raise _no_splat(scanner.since(at))
    raise scanner.expected("a name after '.'")


def _place(text: str, span: Span) -> int:
    if not _DIGITS.fullmatch(text):
        raise NotTaken(span, _BRACKETS)
    return int(text)


def _index(scanner: Scanner, start: int, target: Expression) -> Expression:
    with scanner.newlines(count=False):
        at = scanner.skip()
        if scanner.takes("*"):
            raise _no_splat(scanner.since(at))
        key = expression(scanner)
        if not scanner.takes("]"):
            raise scanner.expected("']'")
    return Index(scanner.since(start), target, key)


def _no_splat(span: Span) -> NotTaken:
    return NotTaken(span, "'*' is not taken in agent.hcl; write [for one in list : one.name]")


def _term(scanner: Scanner) -> Expression:
    start = scanner.skip()
    text = scanner.text
    if text.startswith('"', start):
        return quoted_template(scanner, lambda: expression(scanner))
    if opening := scanner.next(HEREDOC):
        return heredoc(scanner, opening, lambda: expression(scanner))
    if number := scanner.take(_NUMBER_LIKE):
        return Literal(scanner.since(start), _number(number.group(), scanner.since(start)))
    if operator := scanner.take(_UNARY):
        with scanner.newlines(scanner.newlines_count):
            operand = _with_steps(scanner)
        return Unary(scanner.since(start), operator.group(), operand)
    if scanner.takes("("):
        return _parenthesis(scanner)
    if scanner.takes("["):
        return _list(scanner, start)
    if scanner.takes("{"):
        return _object(scanner, start)
    name = scanner.word()
    if name is None:
        raise scanner.expected("a value")
    return _named(scanner, start, name)


def _number(text: str, span: Span) -> int | float:
    if not _NUMBER.fullmatch(text):
        raise SyntaxProblem(span, f"'{text}' is no number")
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise NotTaken(span, "this number is too large")
    return int(text) if text.isdigit() else value


def _named(scanner: Scanner, start: int, name: str) -> Expression:
    if scanner.next(_NAMESPACE):
        raise NotTaken(scanner.here(), "functions of agent.hcl have plain names, without '::'")
    if scanner.takes("("):
        return _invocation(scanner, start, name)
    if name in _CONSTANTS:
        return Literal(scanner.since(start), _CONSTANTS[name])
    return Name(Span(start, start + len(name)), name)


_NAMESPACE = re.compile("::")


def _invocation(scanner: Scanner, start: int, name: str) -> Expression:
    arguments: list[Expression] = []
    expands = False
    with scanner.newlines(count=False):
        while not scanner.takes(")"):
            arguments.append(expression(scanner))
            expands = scanner.takes("...")
            if scanner.takes(")"):
                break
            if expands or not scanner.takes(","):
                raise scanner.expected("')'" if expands else "',' or ')'")
    return Invocation(scanner.since(start), name, tuple(arguments), expands)


def _parenthesis(scanner: Scanner) -> Expression:
    with scanner.newlines(count=False):
        inner = expression(scanner)
        if not scanner.takes(")"):
            raise scanner.expected("')'")
    return inner


def _list(scanner: Scanner, start: int) -> Expression:
    items: list[Expression] = []
    with scanner.newlines(count=False):
        if scanner.take(_FOR):
            return _for(scanner, start, "]")
        while not scanner.takes("]"):
            items.append(expression(scanner))
            if scanner.takes("]"):
                break
            if not scanner.takes(","):
                raise scanner.expected("',' or ']'")
    return ListOf(scanner.since(start), tuple(items))


def _object(scanner: Scanner, start: int) -> Expression:
    with scanner.newlines(count=False):
        opened = scanner.at
        if scanner.take(_FOR):
            return _for(scanner, start, "}")
        scanner.at = opened
    items: list[Item] = []
    with scanner.newlines(count=True):
        while not scanner.takes("}"):
            if scanner.newline():
                continue
            items.append(_item(scanner))
            if not (scanner.takes(",") or scanner.newline() or scanner.next(_CLOSING)):
                raise scanner.expected("',', a new line or '}'")
    return ObjectOf(scanner.since(start), tuple(items))


_CLOSING = re.compile("}")


def _item(scanner: Scanner) -> Item:
    start = scanner.skip()
    key = expression(scanner)
    if not scanner.take(_KEY_MARK):
        raise scanner.expected("'=' and a value")
    value = expression(scanner)
    return Item(scanner.since(start), _key(scanner, start, key), value)


def _key(scanner: Scanner, start: int, key: Expression) -> Expression:
    """A bare word as a key stands for itself; in parentheses it is a variable."""
    if scanner.text.startswith("(", start):
        return key
    match key:
        case Name(span, name):
            return Template(span, (name,))
        case Literal(span):
            return Template(span, (scanner.source.cut(span),))
        case Template():
            return key
        case _:
            raise NotTaken(key.span, "put a key that is to be evaluated into parentheses")


def _for(scanner: Scanner, start: int, end: str) -> Expression:
    names = [_for_name(scanner)]
    if scanner.takes(","):
        names.append(_for_name(scanner))
    if not scanner.take(_IN):
        raise scanner.expected("'in'")
    collection = expression(scanner)
    if not scanner.take(_COLON):
        raise scanner.expected("':'")
    value = expression(scanner)
    result_key = None
    groups = False
    if end == "}":
        if not scanner.takes("=>"):
            raise scanner.expected("'=>' and a value")
        result_key, value = value, expression(scanner)
        groups = scanner.takes("...")
    condition = expression(scanner) if scanner.take(_IF) else None
    if not scanner.takes(end):
        raise scanner.expected(f"'{end}'")
    key = names[0] if len(names) > 1 else None
    span = scanner.since(start)
    return For(span, key, names[-1], collection, result_key, value, condition, groups)


def _for_name(scanner: Scanner) -> str:
    name = scanner.word()
    if name is None:
        raise scanner.expected("a name for each element")
    return name
