"""The policy file of what people allowed for always, beside agent.hcl (K10)."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from pluggableharness.kernel.config.evaluate import Scope
from pluggableharness.kernel.config.load import read_source
from pluggableharness.kernel.config.parser import parse
from pluggableharness.kernel.config.policies import rules
from pluggableharness.kernel.config.reading import Reading
from pluggableharness.kernel.config.source import ConfigError
from pluggableharness.kernel.domain.errors import GrantNotKept, UsageError
from pluggableharness.kernel.policy import Action, Rule

GRANTED_NAME: Final = ".agent/granted.hcl"

_HEAD: Final = """\
# What was allowed for always, in answer to a question. Each rule yields to every deny, and
# beats an ask of equal rank. Delete one to be asked again.
"""


def granted_rules(path: Path, shown: str) -> tuple[Rule, ...]:
    """The rules that the file holds; none when it is not there.

    Raises:
        UsageError: it is there and cannot be used, or holds anything but grants.
    """
    if not path.exists():
        return ()
    source = read_source(path, shown)
    body = parse(source)
    reading = Reading(source, Scope({}))
    for setting in body.settings:
        reading.wrong(setting.span, "only policy blocks may stand here")
    for block in body.blocks:
        if block.type != "policy" or len(block.labels) != 1:
            reading.wrong(block.span, "only policy blocks may stand here")
    found = rules(reading, [one for one in body.blocks if len(one.labels) == 1])
    for rule, block in zip(found, body.blocks, strict=False):
        if rule.action is not Action.ALLOW:
            reading.wrong(block.span, "a grant is an allow; write other rules into agent.hcl")
    if reading.problems:
        raise ConfigError(source, reading.problems)
    return tuple(replace(rule, granted=True) for rule in found)


def keeper(path: Path, shown: str) -> Callable[[str], None]:
    """What writes a rule's text into the file, whole or not at all."""
    return lambda rule: _keep(path, shown, rule)


def _keep(path: Path, shown: str, rule: str) -> None:
    """Add a rule, unless the very same is there. Raises GrantNotKept."""
    try:
        granted_rules(path, shown)
        before = path.read_text(encoding="utf-8") if path.exists() else _HEAD
        if rule in before:
            return
        path.parent.mkdir(exist_ok=True)
        if path.parent.is_symlink() or path.is_symlink():
            raise GrantNotKept(f"{shown} is a link, and may lead anywhere; nothing was kept")
        _replace(path, f"{before.rstrip()}\n\n{rule}")
        granted_rules(path, shown)
    except (OSError, UsageError) as failure:
        raise GrantNotKept(f"{shown} cannot be kept: {failure}") from failure


def _replace(path: Path, text: str) -> None:
    """Put a file in the place of another, so that a reader sees the one or the other."""
    with NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
