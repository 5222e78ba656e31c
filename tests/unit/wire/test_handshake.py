"""The one line of the handshake, its facts, and the environment around it."""

import base64
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pluggableharness.wire import handshake
from pluggableharness.wire.handshake import (
    Handshake,
    HandshakeError,
    Network,
    format_handshake,
    parse_handshake,
    plugin_environment,
    started_by_host,
)

SOCKET = Handshake(Network.UNIX, "/tmp/plugin-1/plugin.sock")

printable = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="|"))
handshakes = st.one_of(
    st.builds(Handshake, st.just(Network.UNIX), printable.map("/".__add__)),
    st.builds(
        Handshake,
        st.just(Network.TCP),
        st.integers(1, 65_535).map("127.0.0.1:{}".format),
        st.none() | st.binary(min_size=1, max_size=2_000),
    ),
)


def test_the_facts_are_those_that_other_plugins_were_built_with() -> None:
    assert (handshake.CORE_PROTOCOL_VERSION, handshake.APP_PROTOCOL_VERSION) == (1, 1)
    assert handshake.COOKIE_VARIABLE == "PLUGGABLEHARNESS_AGENT_PLUGIN"
    assert handshake.COOKIE_VALUE == "pluggableharness-agent-v1-a6f3c9d2-plugin-handshake"
    assert handshake.CLIENT_CERTIFICATE_VARIABLE == "PLUGIN_CLIENT_CERT"
    assert handshake.CALLBACK_SERVICE_ID == 1
    assert handshake.HEALTH_SERVICE == "plugin"
    assert handshake.CALL_ID_METADATA == "pluggableharness-call-id"


def test_a_line_is_written_as_go_plugin_writes_it() -> None:
    assert format_handshake(SOCKET) == b"1|1|unix|/tmp/plugin-1/plugin.sock|grpc|\n"
    secured = Handshake(Network.TCP, "127.0.0.1:10000", b"\x01\x02\x03\xff")
    assert format_handshake(secured) == b"1|1|tcp|127.0.0.1:10000|grpc|AQID/w\n"


@given(handshakes)
def test_what_is_written_reads_back_the_same(value: Handshake) -> None:
    assert parse_handshake(format_handshake(value)) == value


@pytest.mark.parametrize(
    "line",
    [
        b"1|1|unix|/tmp/plugin-1/plugin.sock|grpc",
        b"1|1|unix|/tmp/plugin-1/plugin.sock|grpc|",
        b"1|1|unix|/tmp/plugin-1/plugin.sock|grpc|\r\n",
        b"  1|1|unix|/tmp/plugin-1/plugin.sock|grpc|\n",
        b"1|1|unix|/tmp/plugin-1/plugin.sock|grpc||true\n",
        b"1|1|unix|/tmp/plugin-1/plugin.sock|grpc||false\n",
    ],
)
def test_every_form_that_go_plugin_has_printed_is_read(line: bytes) -> None:
    assert parse_handshake(line) == SOCKET


def test_a_certificate_arrives_as_der() -> None:
    der = bytes(range(256)) * 8
    text = base64.b64encode(der).rstrip(b"=")
    assert parse_handshake(b"1|1|tcp|localhost:7|grpc|" + text).server_certificate == der


def test_the_target_is_what_a_channel_takes() -> None:
    assert SOCKET.target == "unix:/tmp/plugin-1/plugin.sock"
    assert Handshake(Network.TCP, "[::1]:7").target == "[::1]:7"


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (b"2|1|unix|/x|grpc|", "core protocol '2', this host speaks 1"),
        (b"2|1", "core protocol '2'"),
        (b"1|7|unix|/x|grpc|", "application protocol '7', this host speaks 1"),
        (b"1|1|unix|/x|netrpc|", "'netrpc', this host speaks only gRPC"),
        (b"1|1|unix|/x", "'netrpc'"),
        (b"1|1|unix", "3 fields, expected 6"),
        (b"1|1|unixgram|/x|grpc|", "'unixgram', expected unix or tcp"),
        (b"1|1|unix|x.sock|grpc|", "'x.sock', expected an absolute path"),
        (b"1|1|unix||grpc|", "'', expected an absolute path"),
        (b"1|1|unix|/a\x1b[2J|grpc|", "expected an absolute path of printable"),
        (b"1|1|tcp|127.0.0.1|grpc|", "'127.0.0.1', expected host:port"),
        (b"1|1|tcp|:80|grpc|", "':80', expected host:port"),
        (b"1|1|tcp|127.0.0.1:0|grpc|", "expected host:port"),
        (b"1|1|tcp|127.0.0.1:65536|grpc|", "expected host:port"),
        ("1|1|tcp|127.0.0.1:٣|grpc|".encode(), "expected host:port"),
        (b"1|1|unix|/x|grpc|AQID/w==", "not base64 without padding"),
        (b"1|1|unix|/x|grpc|A", "not base64 without padding"),
        (b"1|1|unix|/x|grpc|AQ*ID", "not base64 without padding"),
        (b"1|1|unix|/x|grpc||maybe", "fields too many"),
        (b"1|1|unix|/x|grpc||true|x", "fields too many"),
        (b"Listening on 8080\n", "no handshake: 'Listening on 8080'"),
        (b"a|b|c", "no handshake"),
        (b"", "no handshake: ''"),
        (b"\n", "no handshake"),
        (b"\xff\xfe|1", "no handshake"),
    ],
)
def test_a_wrong_line_is_refused_with_its_cause(line: bytes, cause: str) -> None:
    with pytest.raises(HandshakeError) as refusal:
        parse_handshake(line)
    assert cause in str(refusal.value)


def test_a_line_without_end_is_refused_and_not_repeated() -> None:
    """Case plugin-process-05: a handshake that never ends."""
    with pytest.raises(HandshakeError) as refusal:
        parse_handshake(b"1|1|unix|/" + b"x" * handshake.MAX_LINE_BYTES)
    assert "longer than 16384 bytes" in str(refusal.value)
    assert len(str(refusal.value)) < 400


pieces = st.sampled_from(["1", "2", "unix", "tcp", "/x", "a:1", "grpc", "AQID", "true", ""])
lines = st.lists(pieces | st.text(max_size=5), max_size=9).map("|".join).map(str.encode)


@given(lines | st.binary(max_size=100))
def test_whatever_a_plugin_prints_is_a_handshake_or_a_printable_refusal(line: bytes) -> None:
    refusal = ""
    try:
        parsed = parse_handshake(line)
        assert parse_handshake(format_handshake(parsed)) == parsed
    except HandshakeError as error:
        refusal = str(error)
    assert refusal.isprintable()


@pytest.mark.parametrize("address", ["/a|b", "/a\nb", "a", ""])
def test_an_address_that_breaks_the_line_is_not_written(address: str) -> None:
    with pytest.raises(HandshakeError):
        format_handshake(Handshake(Network.UNIX, address))


def test_a_plugin_gets_the_allowlist_what_is_named_for_it_and_the_handshake() -> None:
    host = {"PATH": "/bin", "HOME": "/home/x", "API_KEY": "canary", "PLUGIN_CLIENT_CERT": "pem"}
    named = {"GITHUB_TOKEN": "t", "HOME": "/elsewhere", "PLUGIN_UNIX_SOCKET_DIR": "/wrong"}

    assert plugin_environment(host, "/run/launch-1", named) == {
        "PATH": "/bin",
        "HOME": "/elsewhere",
        "GITHUB_TOKEN": "t",
        "PLUGGABLEHARNESS_AGENT_PLUGIN": handshake.COOKIE_VALUE,
        "PLUGIN_PROTOCOL_VERSIONS": "1",
        "PLUGIN_MIN_PORT": "10000",
        "PLUGIN_MAX_PORT": "25000",
        "PLUGIN_UNIX_SOCKET_DIR": "/run/launch-1",
    }


def test_all_of_the_allowlist_is_handed_on_where_it_is_set() -> None:
    host = dict.fromkeys(("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"), "x")
    assert host.items() <= plugin_environment(host, "/run/launch-1", {}).items()


def test_only_the_cookie_tells_a_host_from_a_person() -> None:
    assert started_by_host(plugin_environment({}, "/run/launch-1", {}))
    assert not started_by_host({})
    assert not started_by_host({handshake.COOKIE_VARIABLE: "1"})


def test_the_facts_load_without_the_wire() -> None:
    """A plugin that is started by a person answers before it has loaded gRPC."""
    program = "import sys, pluggableharness.wire.handshake; print('grpc' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "False\n"
