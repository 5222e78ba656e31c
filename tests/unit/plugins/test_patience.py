"""A cancelling that waits a moment for what is on its way."""

import asyncio
from typing import Any

import pytest

from pluggableharness.kernel.plugins.patience import Patient

SHORT_S, LONG_S = 0.01, 600.0


async def result_of(future: "asyncio.Future[str]") -> str:
    return await future


async def waiting(patient: "Patient[str]") -> Any:
    try:
        return await patient, patient.cancelled
    except ValueError as error:
        return error.args[0], patient.cancelled
    except asyncio.CancelledError:
        return "ended", patient.cancelled


async def started(patient: "Patient[str]") -> "asyncio.Task[Any]":
    task = asyncio.create_task(waiting(patient))
    await asyncio.sleep(0)
    return task


async def test_without_a_cancelling_it_is_a_plain_await() -> None:
    future = asyncio.get_running_loop().create_future()
    task = await started(Patient(result_of(future), LONG_S))
    future.set_result("value")
    assert await task == ("value", False)
    assert await waiting(Patient(result_of(future), LONG_S)) == ("value", False)


async def test_an_exception_passes() -> None:
    future = asyncio.get_running_loop().create_future()
    task = await started(Patient(result_of(future), LONG_S))
    future.set_exception(ValueError("wrong"))
    assert await task == ("wrong", False)


async def test_what_comes_after_the_cancelling_still_arrives() -> None:
    future = asyncio.get_running_loop().create_future()
    task = await started(Patient(result_of(future), LONG_S))
    task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    future.set_result("value")
    assert await task == ("value", True)


async def test_an_exception_after_the_cancelling_still_arrives() -> None:
    future = asyncio.get_running_loop().create_future()
    task = await started(Patient(result_of(future), LONG_S))
    task.cancel()
    future.set_exception(ValueError("wrong"))
    assert await task == ("wrong", True)


async def test_what_does_not_come_in_time_is_cancelled() -> None:
    future = asyncio.get_running_loop().create_future()
    task = await started(Patient(result_of(future), SHORT_S))
    task.cancel()
    assert await asyncio.wait_for(task, 30) == ("ended", False)
    assert future.cancelled()


async def test_several_steps_are_driven_to_the_end() -> None:
    loop = asyncio.get_running_loop()
    futures = [loop.create_future() for _ in range(3)]

    async def steps() -> str:
        return "".join([await future for future in futures])

    task = await started(Patient(steps(), LONG_S))
    for index, future in enumerate(futures):
        if index == 1:
            task.cancel()
        future.set_result(str(index))
        await asyncio.sleep(0)
    assert await task == ("012", True)


async def test_the_task_stays_cancelled_for_who_looks() -> None:
    future = asyncio.get_running_loop().create_future()

    async def owes() -> None:
        patient = Patient(result_of(future), LONG_S)
        await patient
        if patient.cancelled:
            raise asyncio.CancelledError

    task = asyncio.create_task(owes())
    await asyncio.sleep(0)
    task.cancel()
    future.set_result("value")
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled()
