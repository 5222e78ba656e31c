"""The talk between launch and first call: who are you, what can you do, here is your block."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from google.protobuf.message import DecodeError

from pluggableharness.kernel.domain.event import Producer
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.plugins.contract import check_contract
from pluggableharness.kernel.plugins.errors import ProviderLoadError
from pluggableharness.kernel.plugins.launch import HANDSHAKE_S, StartFailed, Unreachable
from pluggableharness.kernel.plugins.spec import ProviderSpec
from pluggableharness.kernel.plugins.transport import TOOL_SERVICE, Channel, grpc_aio, status_of
from pluggableharness.kernel.schema.settings import secrets, with_defaults
from pluggableharness.wire import tool_pb2
from pluggableharness.wire.handshake import APP_PROTOCOL_VERSION
from pluggableharness.wire.masking import Mask
from pluggableharness.wire.structs import to_struct

if TYPE_CHECKING:
    import grpc.aio

# By hand: grpc_health's generated module would take longer to import than all of this.
_HEALTH_REQUEST: Final = b"\x0a\x06plugin"
_SERVING: Final = b"\x08\x01"


@dataclass(frozen=True, slots=True)
class Introduction:
    """What is known of a provider once it may be called; `calls_itself` is only its word."""

    producer: Producer
    operations: tuple[Operation, ...]
    warnings: tuple[str, ...]
    secrets: tuple[str, ...]
    calls_itself: str = ""


async def introduce(channel: Channel, spec: ProviderSpec) -> Introduction:
    """Ask a provider for all that it declares, check it, and configure it (P1-P6, P28, P30).

    Raises:
        StartFailed: it does not answer as a tool provider does.
        ProviderLoadError: what it declares breaks the contract, or the configuration does
            not fit what it declares; all reasons at once.
    """
    declared, described, _ = await asyncio.gather(
        _ask(channel, f"{TOOL_SERVICE}GetSchema"),
        _describe(channel),
        _check_health(channel),
    )
    contract = check_contract(spec.name, _schema(declared))
    if contract.violations:
        raise ProviderLoadError(spec.name, [str(violation) for violation in contract.violations])
    config = with_defaults(contract.settings, spec.config)
    problems = [f"provider block: {problem}" for problem in spec.judge(contract.settings, config)]
    if problems:
        raise ProviderLoadError(spec.name, problems)
    known = secrets(contract.settings, config)
    await _configure(channel, spec.name, config, known)
    producer = _producer(spec.name, described)
    called = described.producer.name
    return Introduction(producer, contract.operations, contract.warnings, known, called)


async def _ask(channel: Channel, method: str, request: bytes = b"") -> bytes:
    try:
        answer: bytes = await channel.unary_unary(method)(request, timeout=HANDSHAKE_S)
    except grpc_aio().RpcError as error:
        raise _refused(method, error) from error
    return answer


def _refused(method: str, error: "grpc.aio.AioRpcError") -> StartFailed:
    """What the provider says of itself in plain words, else which request failed with what."""
    code, says = error.code().name, error.details()
    if code == "FAILED_PRECONDITION" and says:
        return StartFailed(says)
    kind = Unreachable if code == "UNAVAILABLE" else StartFailed
    return kind(f"{method.rpartition('/')[2]} failed: {status_of(error)}")


async def _describe(channel: Channel) -> tool_pb2.DescribeResponse:
    grpc = grpc_aio()
    method = f"{TOOL_SERVICE}Describe"
    try:
        answer = await channel.unary_unary(method)(b"", timeout=HANDSHAKE_S)
        return tool_pb2.DescribeResponse.FromString(answer)
    except grpc.RpcError as error:
        # Older providers have none; their name is known and their version is not.
        if error.code() is grpc.StatusCode.UNIMPLEMENTED:
            return tool_pb2.DescribeResponse()
        raise _refused(method, error) from error
    except DecodeError as error:
        raise StartFailed("its answer to Describe cannot be decoded") from error


async def _check_health(channel: Channel) -> None:
    answer = await _ask(channel, "/grpc.health.v1.Health/Check", _HEALTH_REQUEST)
    if answer != _SERVING:
        raise StartFailed(f"its health service says that it does not serve: {answer!r}")


def _schema(answer: bytes) -> tool_pb2.GetSchemaResponse:
    try:
        return tool_pb2.GetSchemaResponse.FromString(answer)
    except DecodeError as error:
        raise StartFailed(
            "its answer to GetSchema cannot be decoded: it is no such message, or a schema in "
            "it is nested far deeper than the 32 levels that are allowed"
        ) from error


async def _configure(
    channel: Channel, name: str, config: JsonObject, known: tuple[str, ...]
) -> None:
    try:
        request = tool_pb2.ConfigureRequest(config=to_struct(config)).SerializeToString()
    except ValueError as error:
        raise ProviderLoadError(name, [f"provider block: {error}"]) from error
    try:
        await _ask(channel, f"{TOOL_SERVICE}Configure", request)
    except StartFailed as error:
        raise ProviderLoadError(name, [Mask(known).text(str(error))]) from None


def _producer(name: str, described: tool_pb2.DescribeResponse) -> Producer:
    """Who it is: the name is the one that it was configured under, whatever it calls itself."""
    said = described.producer
    if said.protocol_version not in (0, APP_PROTOCOL_VERSION):
        raise StartFailed(
            f"it speaks protocol {said.protocol_version} of the contract, this host "
            f"{APP_PROTOCOL_VERSION}"
        )
    return Producer(name, said.version, said.source, "tool", APP_PROTOCOL_VERSION)
