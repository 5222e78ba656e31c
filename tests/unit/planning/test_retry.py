"""Who is tried again, and how often."""

import pytest
from unit.planning.doubles import operation

from pluggableharness.kernel.domain.operation import Kind, Operation
from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Success
from pluggableharness.kernel.planning import retry_delay

READ = operation("read", Kind.DATA_SOURCE)
IDEMPOTENT = operation("write", idempotent=True)
EDIT = operation("edit")
ASK = operation("ask", Kind.INTERACTIVE, idempotent=True)


def failure(category: ErrorCategory, retryable: bool = True) -> Failure:
    return Failure(category, "m", retryable=retryable)


def retried(
    of: Operation, category: ErrorCategory, attempts: int = 1, retryable: bool = True
) -> bool:
    return retry_delay(of, failure(category, retryable), attempts) is not None


@pytest.mark.req("P17")
@pytest.mark.parametrize("category", [ErrorCategory.TIMEOUT, ErrorCategory.EXECUTION_FAILED])
def test_a_retryable_error_is_retried_for_reads_and_idempotent_resources_only(
    category: ErrorCategory,
) -> None:
    assert retried(READ, category)
    assert retried(IDEMPOTENT, category)
    assert not retried(EDIT, category)
    assert not retried(ASK, category)
    assert not retried(READ, category, retryable=False)


@pytest.mark.req("P15")
def test_a_conflict_is_retried_for_whatever_is_not_a_question() -> None:
    conflict = ErrorCategory.CONCURRENCY_CONFLICT
    assert all(retried(one, conflict) for one in (READ, IDEMPOTENT, EDIT))
    assert not retried(ASK, conflict)


@pytest.mark.req("P15", "P23")
def test_the_kernels_own_conflict_is_not_retried() -> None:
    assert not retried(READ, ErrorCategory.CONCURRENCY_CONFLICT, retryable=False)


@pytest.mark.req("P15")
@pytest.mark.parametrize(
    "category",
    [
        ErrorCategory.INVALID_ARGUMENTS,
        ErrorCategory.NOT_FOUND,
        ErrorCategory.PERMISSION_DENIED,
        ErrorCategory.CANCELLED,
        ErrorCategory.PROCESS_CRASHED,
        ErrorCategory.UNKNOWN,
    ],
)
def test_the_other_categories_are_never_retried_whatever_the_provider_says(
    category: ErrorCategory,
) -> None:
    assert not any(retried(one, category) for one in (READ, IDEMPOTENT, EDIT, ASK))


@pytest.mark.req("P15", "P17")
@pytest.mark.parametrize("category", [ErrorCategory.TIMEOUT, ErrorCategory.CONCURRENCY_CONFLICT])
def test_there_are_two_retries_each_later_than_the_one_before(category: ErrorCategory) -> None:
    delays = [retry_delay(READ, failure(category), attempts) for attempts in (1, 2, 3, 4)]
    assert delays[0] is not None
    assert delays[1] is not None
    assert 0 < delays[0] < delays[1]
    assert delays[2:] == [None, None]


@pytest.mark.req("P17")
def test_a_success_is_final() -> None:
    assert retry_delay(READ, Success({}), 1) is None


@pytest.mark.req("P17")
@pytest.mark.parametrize(("most", "retries"), [(0, 0), (1, 1), (2, 2), (9, 2)])
def test_fewer_retries_may_be_asked_for_and_never_more(most: int, retries: int) -> None:
    failed = failure(ErrorCategory.TIMEOUT)
    delays = [retry_delay(READ, failed, attempts, most) for attempts in range(1, 5)]
    assert [delay is not None for delay in delays] == [True] * retries + [False] * (4 - retries)
