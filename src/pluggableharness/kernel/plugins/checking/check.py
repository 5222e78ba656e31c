"""The whole check of one executable, in order."""

import secrets
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

from pluggableharness.kernel.plugins.checking.calls import CallChecks, prepare
from pluggableharness.kernel.plugins.checking.declarations import (
    check_configuration,
    check_description,
    check_schema,
)
from pluggableharness.kernel.plugins.checking.probe import Gone, Probe, probing
from pluggableharness.kernel.plugins.checking.report import Findings, Report
from pluggableharness.kernel.plugins.life import STOP_S
from pluggableharness.kernel.plugins.spec import ProviderSpec

_VARIABLE: Final = "HARNESS_CHECK_SECRET"
"""What the secret is given as; a provider that asks for none gets one all the same."""


async def check_provider(spec: ProviderSpec, *, invoke_resources: bool = False) -> Report:
    """Start an executable and hold it against all that can be seen from outside (P33).

    Its data sources are called in a directory made for that. Its resources are called with
    arguments that make no sense, and with others only when `invoke_resources` says so.

    Raises:
        ProviderLoadError: it could not be started, or is no plugin.
    """
    findings = Findings()
    secret = secrets.token_hex(16)
    given = replace(spec, environment={**spec.environment, _VARIABLE: secret})
    with tempfile.TemporaryDirectory(prefix="harness-check-") as name:
        prepare(Path(name))
        async with probing(given, Path(name)) as probe:
            try:
                await _run(probe, findings, secret, invoke_resources)
            except Gone as gone:
                findings.broke_off(str(gone))
            if probe.alive:
                await _end(probe, findings)
            _judge_secret(probe, findings, secret)
    return findings.report()


async def _run(probe: Probe, findings: Findings, secret: str, invoke_resources: bool) -> None:
    await check_description(probe, findings)
    contract = await check_schema(probe, findings)
    await check_configuration(probe, findings, contract.settings, secret)
    calls = CallChecks(probe, findings, resources=invoke_resources)
    await calls.refusals(contract.operations)
    await calls.previews(contract.operations)
    await calls.results(contract.operations)
    await calls.cancelling(contract.operations)


async def _end(probe: Probe, findings: Findings) -> None:
    findings.reached("K16")
    if not await probe.ended_when_asked():
        findings.failed("K16", f"it still ran {STOP_S:g} s after Shutdown")


def _judge_secret(probe: Probe, findings: Findings, secret: str) -> None:
    """Look for the secret in everything that came from the provider (P31)."""
    findings.reached("P31")
    needle = secret.encode()
    if any(needle in data for data in probe.heard.said):
        findings.failed("P31", "a secret that it was given stands in what it sent")
    if any(secret in line for line in probe.stderr()):
        findings.failed("P31", "a secret that it was given stands on its stderr")
