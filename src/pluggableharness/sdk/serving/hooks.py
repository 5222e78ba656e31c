"""HookSubscriberService over the hooks that a provider declares (K25, K26)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

import grpc
import grpc.aio

from pluggableharness.sdk.calling import Runner
from pluggableharness.sdk.failures import ToolFailure
from pluggableharness.sdk.hooks import Handler, HookEvent, HookMode, HookPoint
from pluggableharness.sdk.naming import bounded
from pluggableharness.wire import hook_pb2

SERVICE: Final = "pluggableharness.hook.v1.HookSubscriberService"
_SHOWN: Final = 1_000
"""Characters of an error's message: it travels in a header, whose size is limited."""

_MODES: Final[dict[int, HookMode]] = {
    hook_pb2.HOOK_MODE_OBSERVE: "observe",
    hook_pb2.HOOK_MODE_TRANSFORM: "transform",
    hook_pb2.HOOK_MODE_VETO: "veto",
}

Rpc = grpc.aio.ServicerContext[bytes, bytes]


class _Wrong(Exception):
    """The function's answer is none for its mode."""


class HookService:
    """Answers DispatchHook with the function that is declared for the point and the mode."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def handler(self) -> grpc.GenericRpcHandler:
        """Return what a gRPC server serves."""
        return grpc.method_handlers_generic_handler(
            SERVICE, {"DispatchHook": grpc.unary_unary_rpc_method_handler(self.dispatch)}
        )

    async def dispatch(self, request: bytes, rpc: Rpc) -> bytes:
        """Call the function; what goes wrong in it is the RPC's error, and so a failure (K26)."""
        message = hook_pb2.DispatchHookRequest.FromString(request)
        field = message.payload.WhichOneof("payload") or ""
        # What is no point stands in no key.
        point, mode = cast(HookPoint, field.replace("_", "-")), _MODES.get(message.mode, "observe")
        handler = self._runner.provider.hooks.get((point, mode))
        if handler is None:
            declared = [f"{mode} at {point}" for point, mode in self._runner.provider.hooks]
            await rpc.abort(
                grpc.StatusCode.UNIMPLEMENTED, f"it has only: {', '.join(declared) or 'none'}"
            )
        try:
            answer = await self._answer(handler, point, mode, message.payload)
        except ToolFailure as failure:
            await rpc.abort(grpc.StatusCode.FAILED_PRECONDITION, self._clean(failure.message))
        except Exception as error:
            await rpc.abort(
                grpc.StatusCode.INTERNAL, self._clean(f"{type(error).__name__}: {error}")
            )
        return answer.SerializeToString()

    async def _answer(
        self, handler: Handler, point: HookPoint, mode: HookMode, payload: hook_pb2.HookPayload
    ) -> hook_pb2.DispatchHookResponse:
        event = HookEvent(point, _as_json(payload), self._runner.settings())
        value = await handler(event)
        response = hook_pb2.DispatchHookResponse()
        if mode == "observe":
            response.observe.SetInParent()
        elif mode == "veto":
            response.veto.decision = _decision(value)
        else:
            response.transform.payload.CopyFrom(_with_messages(payload, value))
        return response

    def _clean(self, text: str) -> str:
        return bounded(self._runner.redactor.text(text), _SHOWN)


def _as_json(payload: hook_pb2.HookPayload) -> dict[str, Any]:
    """The fields of the point's message as JSON values; lists are there when they are empty."""
    # 10 ms to import, and only hooks need it.
    from google.protobuf.json_format import MessageToDict

    inner = getattr(payload, payload.WhichOneof("payload") or "")
    found: dict[str, Any] = MessageToDict(
        inner, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return found


def _decision(value: object) -> hook_pb2.HookDecision:
    if value is True:
        return hook_pb2.HOOK_DECISION_ALLOW
    if value is False:
        return hook_pb2.HOOK_DECISION_DENY
    raise _Wrong(f"a veto returned {value!r}; it must return True (no objection) or False")


def _with_messages(payload: hook_pb2.HookPayload, value: object) -> hook_pb2.HookPayload:
    from google.protobuf.json_format import ParseDict

    if not isinstance(value, Sequence) or isinstance(value, str):
        raise _Wrong(f"a transform returned {type(value).__name__}; it must return the messages")
    changed = hook_pb2.HookPayload()
    changed.CopyFrom(payload)
    changed.pre_model_call.ClearField("messages")
    for message in value:
        ParseDict(message, changed.pre_model_call.messages.add())
    return changed
