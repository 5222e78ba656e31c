"""What a message's order means for who runs when."""

import pytest
from unit.planning.doubles import call, operation

from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.planning import split, waits_for

READ = operation("read", Kind.DATA_SOURCE)
ASK = operation("ask", Kind.INTERACTIVE)
BASH = operation("bash", provider="exec")
WRITE = operation("write_file", safe=True, keys=("path",))
EDIT = operation("edit_file", safe=True, keys=("path",))
POST = operation("post", safe=True, provider="web")


@pytest.mark.req("K1", "K13a")
def test_reads_and_questions_stay_on_their_side_of_the_first_resource() -> None:
    calls = [call(one) for one in (READ, ASK, WRITE, READ, BASH, ASK)]
    before, resources, after = split(calls)
    assert before == (calls[0], calls[1])
    assert resources == (calls[2], calls[4])
    assert after == (calls[3], calls[5])


@pytest.mark.req("K1")
def test_without_a_resource_everything_runs_before() -> None:
    calls = [call(READ), call(ASK)]
    assert split(calls) == (tuple(calls), (), ())
    assert split([]) == ((), (), ())


@pytest.mark.req("K13a")
def test_a_call_that_is_not_safe_is_a_barrier_across_providers() -> None:
    calls = [call(WRITE, path="a"), call(POST), call(BASH), call(POST), call(BASH), call(BASH)]
    assert waits_for(calls) == ((), (), (0, 1), (2,), (3,), (4,))


@pytest.mark.req("K13a")
def test_safe_calls_of_different_things_wait_for_nothing() -> None:
    calls = [call(WRITE, path="a"), call(WRITE, path="b"), call(POST), call(POST)]
    assert waits_for(calls) == ((), (), (), ())


@pytest.mark.req("K13a")
def test_work_on_one_thing_keeps_its_order_whatever_the_operation() -> None:
    """Case concurrency-03: an edit that was written after a write comes after it."""
    calls = [call(WRITE, path="a"), call(EDIT, path="b"), call(EDIT, path="a"), call(BASH)]
    assert waits_for(calls) == ((), (), (0,), (1, 2))
    assert waits_for([call(BASH), *calls]) == ((), (0,), (0,), (1,), (2, 3))
