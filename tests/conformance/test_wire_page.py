"""The page on the wire says what the code does, for authors of providers in other languages."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conformance.test_wire_facts import TABLE

from pluggableharness.kernel.plugins.calls import MAX_IN_FLIGHT
from pluggableharness.kernel.plugins.flights import GRACE_S
from pluggableharness.kernel.plugins.launch import HANDSHAKE_S
from pluggableharness.kernel.plugins.life import STOP_S
from pluggableharness.kernel.plugins.supervisor import PREVIEW_S
from pluggableharness.kernel.plugins.transport import MAX_MESSAGE_BYTES
from pluggableharness.wire import handshake
from pluggableharness.wire.places import PLACES
from pluggableharness.wire.structs import MAX_DEPTH

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "wire.md").read_text("utf-8")


def cells(heading: str) -> Iterator[str]:
    """The first column of the table below a heading."""
    (section,) = (one for one in re.split(r"^## ", PAGE, flags=re.MULTILINE) if heading in one[:40])
    yield from re.findall(r"^\| (.*?) \|", section, re.MULTILINE)


@pytest.mark.req("P31")
def test_the_variables_are_those_that_a_plugin_gets() -> None:
    host = dict.fromkeys(handshake.INHERITED_VARIABLES, "x")
    given = handshake.plugin_environment(host, "/sockets", {})
    others = {handshake.GUARDED_VARIABLE, handshake.CLIENT_CERTIFICATE_VARIABLE}
    assert {name for cell in cells("The start") for name in re.findall(r"`(\w+)`", cell)} == {
        *given,
        *others,
    }
    assert f"`{handshake.COOKIE_VALUE}`" in PAGE
    assert "`PLUGIN_MULTIPLEX_GRPC` is not set" in PAGE
    line = handshake.format_handshake(
        handshake.Handshake(handshake.Network.UNIX, "/path/to/socket")
    )
    assert f"\n{line.decode()}" in PAGE


def test_the_services_and_what_they_are_asked_are_those_of_the_wire() -> None:
    ours = {name.removeprefix("service ") for name in TABLE if name.startswith("service ")}
    served = {cell.strip("`") for cell in cells("What it serves") if cell.startswith("`")}
    callback = "pluggableharness.kernel.v1.KernelCallbackService"
    assert served == {*ours - {callback}, "grpc.health.v1.Health"}
    for service in ours:
        methods = [line.partition("(")[0] for line in TABLE[f"service {service}"]]
        assert [method for method in methods if f"`{method}`" not in PAGE] == []
    called = [cell.strip("`") for cell in cells("Calling the kernel") if cell.startswith("`")]
    assert sorted(called) == sorted(line.partition("(")[0] for line in TABLE[f"service {callback}"])


@pytest.mark.parametrize(
    "said",
    [
        f"| a message | {MAX_MESSAGE_BYTES >> 20} MiB |",
        f"| calls in flight in one process | {MAX_IN_FLIGHT};",
        f"| levels of a schema, of a Struct | {MAX_DEPTH} |",
        f"before the first call | {HANDSHAKE_S:g} s |",
        f"| a preview | {PREVIEW_S:g} s,",
        f"| from Shutdown to the kill | {STOP_S:g} s |",
        f"Within {GRACE_S:g} s the provider",
        f"`{handshake.CALL_ID_METADATA}`",
        f"`{PLACES}`",
        f"service id {handshake.CALLBACK_SERVICE_ID},",
        f"{handshake.MIN_PORT} to {handshake.MAX_PORT}",
    ],
)
def test_the_numbers_are_those_of_the_kernel(said: str) -> None:
    assert said in " ".join(PAGE.split())
