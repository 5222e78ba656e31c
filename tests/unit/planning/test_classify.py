"""What the model wrote becomes a call or a refusal that helps."""

import pytest
from unit.planning.doubles import CONTEXT, operation

from pluggableharness.kernel.domain.call import Call, ProposedCall, RefusedCall
from pluggableharness.kernel.domain.naming import vendor_name
from pluggableharness.kernel.domain.operation import Kind, Operation, Schema, SchemaType
from pluggableharness.kernel.domain.outcome import ErrorCategory
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.planning import classify, deadline_s

READ_ARGUMENTS = Schema(
    SchemaType.OBJECT,
    properties={"path": Schema(SchemaType.STRING), "start_line": Schema(SchemaType.NUMBER)},
    required=("path",),
)
READ = operation("read_file", Kind.DATA_SOURCE, takes=READ_ARGUMENTS)
WRITE = operation("write_file")
GREP = operation("grep", Kind.DATA_SOURCE, provider="search")
OFFERED = (GREP, WRITE, READ)


def classified(
    name: str, arguments: JsonObject | str, offered: tuple[Operation, ...] = OFFERED
) -> Call | RefusedCall:
    proposed = ProposedCall("use-1", name, arguments)
    return classify(proposed, offered, call_id="c1", context=CONTEXT, deadline_s=deadline_s)


def refusal(name: str, arguments: JsonObject | str) -> RefusedCall:
    refused = classified(name, arguments)
    assert isinstance(refused, RefusedCall)
    assert (refused.id, refused.tool_use_id, refused.name) == ("c1", "use-1", name)
    assert refused.arguments == arguments
    return refused


@pytest.mark.req("K3", "P7", "P8")
@pytest.mark.parametrize("name", ["filesystem.read_file", "filesystem__read_file"])
def test_a_call_is_resolved_by_the_name_of_people_and_of_vendors(name: str) -> None:
    made = classified(name, '{"path": "a", "start_line": null}')
    assert isinstance(made, Call)
    assert (made.id, made.tool_use_id, made.operation, made.context) == (
        "c1",
        "use-1",
        READ,
        CONTEXT,
    )
    assert made.arguments == {"path": "a"}
    assert made.deadline_s == 120


@pytest.mark.req("K3", "P8")
@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("filesystem.raed_file", "filesystem.read_file"),
        ("filesystem__wirte_file", "filesystem.write_file"),
        ("read_file", "filesystem.read_file"),
        ("grep", "search.grep"),
        ("Search.Grep", "search.grep"),
        ("filesystem.", "filesystem.read_file"),
    ],
)
def test_an_unknown_name_lists_what_is_in_scope_nearest_first(name: str, first: str) -> None:
    failure = refusal(name, {}).failure
    assert failure.category is ErrorCategory.NOT_FOUND
    assert failure.message.startswith(f"There is no tool {name!r} here.")
    assert f"nearest first: {first}" in failure.message
    assert all(operation.full_name in failure.message for operation in OFFERED)


@pytest.mark.req("K3", "P16")
def test_with_nothing_in_scope_the_refusal_says_so_and_stays_short() -> None:
    refused = classified("x" * 10_000, {}, ())
    assert isinstance(refused, RefusedCall)
    assert "no tool is in scope" in refused.failure.message
    assert len(refused.failure.message) < 300


@pytest.mark.req("P8")
def test_bad_arguments_come_back_with_every_bad_field() -> None:
    failure = refusal("filesystem.read_file", {"pth": "a", "start_line": "5"}).failure
    assert failure.category is ErrorCategory.INVALID_ARGUMENTS
    assert failure.details is not None
    found = failure.details["violations"]
    assert isinstance(found, list)
    assert [violation["path"] for violation in found] == ["pth", "start_line", "path"]
    for word in ("pth", "start_line", '"5"', "path (a string)"):
        assert word in failure.message


@pytest.mark.req("P8")
@pytest.mark.parametrize(
    ("text", "why"),
    [('{"path": "a"', "JSON"), ("", "JSON"), ("[]", "JSON"), ('{"path":"a","path":"b"}', "twice")],
)
def test_text_that_is_no_json_object_is_refused_and_kept(text: str, why: str) -> None:
    """Case policy-and-schema-20: the raw text stays with the refusal."""
    failure = refusal("filesystem.read_file", text).failure
    assert failure.category is ErrorCategory.INVALID_ARGUMENTS
    assert why in failure.message


@pytest.mark.req("K14")
def test_a_given_deadline_beats_the_declared_one_and_that_the_default() -> None:
    declared = operation("bash", default_timeout_s=600.0)
    assert deadline_s(declared, 30.0) == 30.0
    assert deadline_s(declared) == 600.0
    assert deadline_s(WRITE) == 120.0


@pytest.mark.req("K14")
def test_a_question_to_a_person_has_no_deadline_unless_given_one() -> None:
    question = operation("ask_user", Kind.INTERACTIVE, default_timeout_s=5.0)
    assert deadline_s(question) is None
    assert deadline_s(question, 60.0) == 60.0


@pytest.mark.req("K3")
def test_names_that_would_be_ambiguous_or_illegal_get_a_digest() -> None:
    pairs = [
        ("a", "b__c"),
        ("a__b", "c"),
        ("a_", "b"),
        ("a", "_b"),
        ("p" * 40, "o" * 64),
        ("p" * 40, "o" * 63 + "x"),
        ("dé", "x"),
        ("dè", "x"),
    ]
    names = [vendor_name(operation(name, provider=provider)) for provider, name in pairs]
    assert len(set(names)) == len(pairs)
    assert all(len(name) <= 64 and "__" not in name and name.isascii() for name in names)
    offered = tuple(operation(name, provider=provider) for provider, name in pairs)
    for one, name in zip(offered, names, strict=True):
        made = classified(name, {}, offered)
        assert isinstance(made, Call)
        assert made.operation is one
