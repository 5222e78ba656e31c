"""`harness config accept`: pin providers as they are now; void what was allowed of others (F4)."""

import os
from pathlib import Path

from pluggableharness.cli.complaining import complain
from pluggableharness.cli.exits import DONE, FAILED
from pluggableharness.cli.interrupts import run_until_done
from pluggableharness.kernel.config.admission import LockGate
from pluggableharness.kernel.config.config import Config
from pluggableharness.kernel.config.lock import pinned_digests
from pluggableharness.kernel.config.project import shown_path
from pluggableharness.kernel.configured import granted_file, setup_of
from pluggableharness.kernel.kernel import opened


def accept(config: Config, directory: Path) -> int:
    """Start every provider, say what has changed, and pin it."""
    return run_until_done(lambda: _accept(config, directory))


async def _accept(config: Config, directory: Path) -> int:
    gate = LockGate.opened(config, accept=True)
    known = set(gate.lock)
    async with opened(setup_of(config, directory, os.environ, gate=gate)) as kernel:
        await kernel.operations()
        absent = kernel.absent
    for name in gate.lock:
        if name not in known:
            print(f"{name}: is new")
        for change in gate.accepted.get(name, ()):
            print(f"{name}: {change}")
    gone = gate.forget_others()
    for name in gone:
        print(f"{name}: is no longer configured")
    void = _void(gate)
    for line in void:
        print(line)
    if not gate.accepted and not gone and not void and known == set(gate.lock):
        print("nothing has changed")
    for name, reason in absent.items():
        complain(f"provider {name} is not loaded and stays as it was pinned: {reason}")
    print(f"{shown_path(gate.path)} holds the {'other ' * bool(absent)}providers as they are now")
    return FAILED if absent else DONE


def _void(gate: LockGate) -> tuple[str, ...]:
    """Mark the standing approvals that operations have outgrown; the person is asked again."""
    changes: dict[str, list[str]] = {}
    for provider, lines in gate.accepted.items():
        for line in lines:
            operation, colon, change = line.partition(": ")
            if colon:
                changes.setdefault(f"{provider}.{operation}", []).append(change)
    digests = pinned_digests(gate.lock)
    told = {name: "; ".join(parts) for name, parts in changes.items()}
    return granted_file(gate.path.parents[1]).void_changed(digests, told)
