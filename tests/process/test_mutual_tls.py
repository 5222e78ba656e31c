"""Under a host that asks for go-plugin's mutual TLS, a provider serves that host alone."""

import asyncio
import os
import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme
from provider_host import WAIT, launch

from pluggableharness.wire.handshake import parse_handshake, plugin_environment

CHATTY = Path(__file__).with_name("chatty_provider.py")


async def test_a_host_that_asks_for_mutual_tls_with_no_certificate_is_refused(
    tmp_path: Path,
) -> None:
    variables = plugin_environment(os.environ, str(tmp_path), {"PLUGIN_CLIENT_CERT": "PEM"})
    process = await launch(CHATTY, variables)
    async with asyncio.timeout(WAIT):
        out, err = await process.communicate()
    assert process.returncode == 1
    assert b"PLUGIN_CLIENT_CERT is no certificate" in err
    assert b"|" not in out


@pytest.mark.parametrize("known", [True, False], ids=["the host", "somebody else"])
async def test_under_mutual_tls_the_host_alone_is_let_in(tmp_path: Path, known: Any) -> None:
    host, other = trustme.CA(), trustme.CA()
    pem = host.cert_pem.bytes().decode()
    process = await launch(
        CHATTY, plugin_environment(os.environ, str(tmp_path), {"PLUGIN_CLIENT_CERT": pem})
    )
    assert process.stdout is not None
    async with asyncio.timeout(WAIT):
        handshake = parse_handshake(await process.stdout.readline())
    assert handshake.server_certificate is not None
    try:
        context = ssl.create_default_context(
            cadata=ssl.DER_cert_to_PEM_cert(handshake.server_certificate)
        )
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        context.set_alpn_protocols(["h2"])
        (host if known else other).issue_cert("localhost").configure_cert(context)
        # HTTP/2 begins with a frame of settings; who is not trusted gets none.
        assert await _answers(handshake.address, context) is known
    finally:
        process.kill()
        await process.wait()


async def _answers(address: Any, context: Any) -> Any:
    async with asyncio.timeout(WAIT):
        try:
            reader, writer = await asyncio.open_unix_connection(
                address, ssl=context, server_hostname="localhost"
            )
            writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0)))
            data = await reader.read(9)
            writer.close()
        except OSError:
            return False
    return len(data) == 9
