"""One question to a hook's subscriber, over its process's connection (K26)."""

import asyncio
from collections.abc import Awaitable, Callable

from pluggableharness.kernel.codec.hook import hook_answer, hook_request
from pluggableharness.kernel.domain.hook import (
    HookAnswer,
    HookFailed,
    HookMode,
    HookPayload,
    HookTrouble,
    Subscription,
)
from pluggableharness.kernel.plugins.errors import ProviderLoadError
from pluggableharness.kernel.plugins.process import ProviderProcess
from pluggableharness.kernel.plugins.transport import grpc_aio

_FAILED = {
    HookMode.OBSERVE: HookTrouble.UNKNOWN,
    HookMode.TRANSFORM: HookTrouble.TRANSFORM_FAILED,
    HookMode.VETO: HookTrouble.VETO_FAILED,
}


async def ask_hook(
    start: Callable[[], Awaitable[ProviderProcess]],
    subscription: Subscription,
    payload: HookPayload,
) -> HookAnswer:
    """Ask within the subscription's time, the start of the process included.

    Raises HookFailed for whatever is not an answer that fits.
    """
    try:
        request = hook_request(subscription, payload)
    except ValueError as error:
        raise HookFailed(HookTrouble.UNKNOWN, f"what happens cannot be told: {error}") from error
    try:
        async with asyncio.timeout(subscription.timeout_s):
            process = await start()
            answer = await process.hook(request)
    except TimeoutError:
        words = f"no answer within {subscription.timeout_s:g} s"
        raise HookFailed(HookTrouble.TIMEOUT, words) from None
    except ProviderLoadError as error:
        raise HookFailed(HookTrouble.PROCESS_CRASHED, str(error)) from error
    except grpc_aio().aio.AioRpcError as error:
        raise _failed(subscription, error.code().name, error.details() or "") from None
    return hook_answer(subscription, payload, answer)


def _failed(subscription: Subscription, code: str, details: str) -> HookFailed:
    match code:
        case "UNIMPLEMENTED":
            words = f"it serves no hook at {subscription.point.value}"
            return HookFailed(HookTrouble.UNKNOWN, f"{words}: {details}" if details else words)
        case "UNAVAILABLE":
            return HookFailed(HookTrouble.PROCESS_CRASHED, f"its process is gone ({details})")
        case _:
            return HookFailed(_FAILED[subscription.mode], details or code)
