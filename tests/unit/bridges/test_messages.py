"""Lines that are messages, and what is told of those that are none (K35, P8)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from pluggableharness.bridges.messages import Unreadable, message_of

pytestmark = pytest.mark.req("K35")

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
DEEP = "[" * 400 + "]" * 400
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def asked(arguments: str, id_: str = "7") -> bytes:
    return f'{{"jsonrpc":"2.0","id":{id_},"method":"m","params":{arguments}}}'.encode()


def refused(line: bytes) -> JSONRPCError:
    read = message_of(line)
    assert isinstance(read, Unreadable)
    assert str(read) == read.answer.error.message
    return read.answer


@given(st.integers() | st.text(), st.dictionaries(st.text(), VALUES))
def test_a_request_arrives_as_it_was_written(id_: int | str, params: dict[str, Any]) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": id_, "method": "m", "params": params})
    read = message_of(line.encode())
    assert isinstance(read, SessionMessage)
    assert isinstance(read.message, JSONRPCRequest)
    assert (read.message.id, read.message.params) == (id_, params)


@given(st.binary() | st.text(alphabet='{}[]",:\\ud8idresult0').map(str.encode))
def test_whatever_the_line_is_there_is_a_message_or_a_reason(line: bytes) -> None:
    read = message_of(line)
    message = read.answer if isinstance(read, Unreadable) else read.message
    assert message.model_dump_json()


@pytest.mark.req("P8")
@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (r'{"a": "\ud800"}', PARSE_ERROR, "hex escape"),
        (f'{{"a": {DEEP}}}', PARSE_ERROR, "recursion limit"),
        (f'{{"a": {"9" * 5000}}}', PARSE_ERROR, "out of range"),
        ('{"a": 1, "a": 2}', INVALID_REQUEST, '"a" stands twice'),
        ('{"a": [{"b": {}, "b": {}}]}', INVALID_REQUEST, '"b" stands twice'),
        (r'{"a": 1, "\u0061": 1}', INVALID_REQUEST, '"a" stands twice'),
        ("[1]", INVALID_REQUEST, "neither a request nor an answer"),
    ],
    ids=["half a pair", "deep", "long number", "twice", "twice within", "escaped", "a list"],
)
@pytest.mark.parametrize("id_", ["7", '"seven"'])
def test_a_request_that_cannot_be_read_is_answered_under_its_id(
    arguments: str, code: int, why: str, id_: str
) -> None:
    answer = refused(asked(arguments, id_))
    assert answer.id == json.loads(id_)
    assert answer.error.code == code
    assert why in answer.error.message


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"no json", PARSE_ERROR),
        (b"\xff\xfe", PARSE_ERROR),
        (b"", PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":7,"method":"m"', PARSE_ERROR),
        (asked("[" * 100_000 + "]" * 100_000), PARSE_ERROR),
        (b"[]", INVALID_REQUEST),
        (b"{}", INVALID_REQUEST),
        (asked("{}", "null"), INVALID_REQUEST),
        (asked("{}", "1.5"), INVALID_REQUEST),
        (asked("{}", "true"), INVALID_REQUEST),
        (asked("{}", '{"a": 1}'), INVALID_REQUEST),
        (asked("{}", r'"\ud800"'), PARSE_ERROR),
        (asked("{}", "9" * 5000), PARSE_ERROR),
    ],
)
def test_what_has_no_id_that_could_be_told_is_answered_under_none(line: bytes, code: int) -> None:
    answer = refused(line)
    assert (answer.id, answer.error.code) == (None, code)


@pytest.mark.req("P10", "P15")
@pytest.mark.parametrize(
    "result", [r'"\ud800"', f'{{"a": {DEEP}}}', '{"a": 1, "a": 2}', "5"], ids=str.__len__
)
def test_an_answer_that_cannot_be_read_is_an_error_in_its_place(result: str) -> None:
    read = message_of(f'{{"jsonrpc":"2.0","id":7,"result":{result}}}'.encode())
    assert isinstance(read, SessionMessage)
    assert isinstance(read.message, JSONRPCError)
    assert read.message.id == 7
    assert "could not be read" in read.message.error.message


def test_equal_names_in_different_objects_are_nothing_strange() -> None:
    read = message_of(b'{"jsonrpc":"2.0","id":7,"result":{"id":7,"b":[{"a":1},{"a":1}]}}')
    assert isinstance(read, SessionMessage)
    assert isinstance(read.message, JSONRPCResponse)
