"""What a provider says of itself before any call: schema, configuration, name."""

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from pluggableharness.kernel.domain.operation import Kind, Operation
from pluggableharness.kernel.domain.settings import Setting
from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.plugins.checking.arguments import configuration, wrong_setting
from pluggableharness.kernel.plugins.checking.probe import Gone, Probe
from pluggableharness.kernel.plugins.checking.report import Findings
from pluggableharness.kernel.plugins.contract import Contract, ContractViolation, check_contract
from pluggableharness.kernel.plugins.transport import grpc_aio, status_of
from pluggableharness.kernel.schema.settings import with_defaults
from pluggableharness.wire import common_pb2, tool_pb2
from pluggableharness.wire.handshake import APP_PROTOCOL_VERSION
from pluggableharness.wire.structs import to_struct

if TYPE_CHECKING:
    import grpc.aio


async def check_schema(probe: Probe, findings: Findings) -> Contract:
    """Hold the declarations against their rules (P1, P3, P5, P6, P28).

    Raises:
        Gone: it does not answer, or not with a schema.
    """
    try:
        first, second = await probe.ask("GetSchema"), await probe.ask("GetSchema")
        declared = tool_pb2.GetSchemaResponse.FromString(first)
        again = tool_pb2.GetSchemaResponse.FromString(second)
    except (grpc_aio().RpcError, DecodeError) as error:
        findings.failed("P1", f"GetSchema: {_told(error)}")
        raise Gone("it does not say what it declares") from error
    findings.reached("P1", "P3", "P5", "P6")
    if declared != again:
        findings.failed("P1", "GetSchema: two answers differ; it has to be the same each time")
    contract = check_contract("provider", declared)
    for violation in contract.violations:
        findings.failed(_point(violation), str(violation))
    findings.remarks += contract.warnings
    findings.remarks += [_unkeyed(one) for one in contract.operations if _is_unkeyed(one)]
    if contract.violations:
        raise Gone("what it declares breaks the contract, so that no call can be judged")
    return contract


async def check_configuration(
    probe: Probe, findings: Findings, settings: tuple[Setting, ...], secret: str
) -> None:
    """See that wrong blocks are refused by name, and a right one is taken (P28).

    Raises:
        Gone: it takes no block that fits what it declares.
    """
    right = with_defaults(settings, configuration(settings, secret))
    findings.reached("P28")
    for name, wrong in _wrong_blocks(settings, right):
        refusal = await _refusal(probe, wrong)
        if refusal is None:
            findings.failed("P28", f"Configure took a block whose {name} is wrong")
        elif name not in refusal:
            findings.failed("P28", f"Configure refused {name} without naming it: {refusal}")
    refusal = await _refusal(probe, right)
    if refusal is not None:
        findings.failed("P28", f"Configure refused what fits its declaration: {refusal}")
        raise Gone("it could not be configured")


async def check_description(probe: Probe, findings: Findings) -> None:
    """See who it says it is (P30)."""
    findings.reached("P30")
    try:
        answer = await probe.ask("Describe")
        producer = tool_pb2.DescribeResponse.FromString(answer).producer
    except (grpc_aio().RpcError, DecodeError) as error:
        findings.failed("P30", f"Describe: {_told(error)}")
        return
    for name in ("name", "version", "source"):
        if not getattr(producer, name):
            findings.failed("P30", f"Describe: {name} is empty")
    if producer.category != common_pb2.CATEGORY_TOOL:
        findings.failed("P30", "Describe: category is not CATEGORY_TOOL")
    if producer.protocol_version != APP_PROTOCOL_VERSION:
        said = producer.protocol_version
        findings.failed("P30", f"Describe: protocol_version is {said}, not {APP_PROTOCOL_VERSION}")


def _wrong_blocks(settings: tuple[Setting, ...], right: JsonObject) -> list[tuple[str, JsonObject]]:
    unknown = "no_such_setting"
    wrong = [(one.name, {**right, one.name: wrong_setting(one)}) for one in settings]
    missing = [
        (one.name, {key: value for key, value in right.items() if key != one.name})
        for one in settings
        if one.required
    ]
    return [*wrong, *missing, (unknown, {**right, unknown: 1})]


async def _refusal(probe: Probe, block: JsonObject) -> str | None:
    request = tool_pb2.ConfigureRequest(config=to_struct(block))
    try:
        await probe.ask("Configure", request.SerializeToString())
    except grpc_aio().RpcError as error:
        return status_of(error)
    return None


def _told(error: "grpc.aio.AioRpcError | DecodeError") -> str:
    return "its answer cannot be decoded" if isinstance(error, DecodeError) else status_of(error)


def _point(violation: ContractViolation) -> str:
    if violation.operation == "ConfigSchema":
        return "P28"
    if violation.field == "terminates_turn":
        return "P3"
    if violation.field.startswith("concurrency"):
        return "P5"
    about_schema = violation.field.startswith(("input_schema", "output_schema"))
    return "P6" if about_schema and violation.value != "absent" else "P1"


def _is_unkeyed(operation: Operation) -> bool:
    return (
        operation.kind is Kind.RESOURCE
        and operation.concurrency is not None
        and operation.concurrency.safe
        and not operation.concurrency.key_fields
    )


def _unkeyed(operation: Operation) -> str:
    return f"{operation.name}: safe without key_fields claims that no two calls of it can meet"
