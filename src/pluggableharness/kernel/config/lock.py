"""`.agent/agent.lock.hcl`: what every provider was when it was accepted (F4).

Pure but for reading and writing the one file. What a provider is now comes from elsewhere.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pluggableharness.kernel.config.declaration import canonical, digest
from pluggableharness.kernel.config.evaluate import Scope
from pluggableharness.kernel.config.load import read_source
from pluggableharness.kernel.config.parser import parse
from pluggableharness.kernel.config.reading import Fields, Reading
from pluggableharness.kernel.config.source import ConfigError, Source
from pluggableharness.kernel.config.syntax import Block
from pluggableharness.kernel.config.writing import heredoc, replace_file
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.hcl import hcl_string
from pluggableharness.kernel.domain.quoting import bounded
from pluggableharness.kernel.domain.values import Json

LOCK_NAME: Final = Path(".agent", "agent.lock.hcl")
"""Below the directory of agent.hcl."""

_HEAD: Final = """\
# What each provider was when it was accepted. Written by harness, to be committed.
# When a provider has changed, `harness config accept` shows how and renews this.
"""
_SHOWN: Final = 160


@dataclass(frozen=True, slots=True)
class Identity:
    """What is to be run, known before it is: where from, and the SHA-256 of its files.

    The same wherever the same provider is: nothing of it is a place on a machine. `version` is that
    of the installed distribution, or "". `sha256` is "" where only declarations are pinned;
    `files` are those of programs that it is of, for messages.
    """

    source: str
    version: str = ""
    sha256: str = ""
    files: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Pin:
    """A provider as it was accepted; `operations` holds each one's declaration as JSON."""

    identity: Identity
    operations: Mapping[str, str] = field(default_factory=dict)


Lock = Mapping[str, Pin]
"""Pins by provider."""


def pinned_digests(lock: Lock) -> dict[str, str]:
    """The digests of what the pinned operations declare, by full name."""
    return {
        f"{provider}.{name}": digest(declared)
        for provider, pin in lock.items()
        for name, declared in pin.operations.items()
    }


def identity_differences(pin: Pin, now: Identity) -> Iterator[str]:
    """How what is to be run differs from what was accepted, a line each.

    Files that were not pinned differ from none: declarations alone were accepted then.
    """
    was = pin.identity
    if was.source != now.source:
        yield f"source was {was.source}, is {now.source}"
    if was.version != now.version:
        yield f"version was {was.version or 'unknown'}, is {now.version or 'unknown'}"
    if was.sha256 not in ("", now.sha256):
        of = f" of {', '.join(now.files)}" if now.files else ""
        yield f"sha256{of} was {was.sha256}, is {now.sha256 or 'not pinned'}"


def operation_differences(pin: Pin, now: Mapping[str, str]) -> Iterator[str]:
    """How declarations differ from those that were accepted, a line for each part of each."""
    for name in sorted({*pin.operations, *now}):
        was, is_now = pin.operations.get(name), now.get(name)
        if was is None:
            yield f"{name} is new"
        elif is_now is None:
            yield f"{name} is gone"
        elif was != is_now:
            yield from (f"{name}: {line}" for line in _changes("", _parsed(was), _parsed(is_now)))


def _parsed(declared: str) -> Json:
    value: Json = json.loads(declared)
    return value


def _changes(path: str, was: Json, is_now: Json) -> Iterator[str]:
    if isinstance(was, dict) and isinstance(is_now, dict):
        for name in sorted({*was, *is_now}):
            inner = f"{path}.{name}" if path else name
            yield from _changes(inner, was.get(name), is_now.get(name))
    elif was != is_now:
        yield f"{path} was {_shown(was)}, is {_shown(is_now)}"


def _shown(value: Json) -> str:
    return bounded("absent" if value is None else json.dumps(value), _SHOWN)


def read_lock(path: Path, shown: str) -> Lock:
    """The pins of a file; none when it is not there.

    Raises:
        UsageError: it is there and cannot be used.
    """
    if not path.exists():
        return {}
    try:
        return _pins(read_source(path, shown))
    except ConfigError as error:
        raise UsageError(
            f"{error}\n{shown} is damaged: restore it; after a merge take either side's whole file "
            "and run harness config accept; or delete it to accept all anew"
        ) from error


def _pins(source: Source) -> Lock:
    reading = Reading(source, Scope({}))
    body = parse(source, reading.problems)
    blocks = Fields(reading, body, "the lock file", (), ("provider",)).named("provider", "its name")
    lock = {name: _pin(reading, name, block) for name, block in blocks.items()}
    if reading.problems:
        raise ConfigError(source, reading.problems)
    return lock


def _pin(reading: Reading, name: str, block: Block) -> Pin:
    what = f'provider "{name}"'
    fields = Fields(reading, block.body, what, ("source", "version", "sha256"), ("operation",))
    source, version, sha256 = (
        fields.string(one, place=block.span) or "" for one in ("source", "version", "sha256")
    )
    operations = {
        operation: _declared(reading, operation, inner)
        for operation, inner in fields.named("operation", "its name").items()
    }
    return Pin(Identity(source, version, sha256), operations)


def _declared(reading: Reading, name: str, block: Block) -> str:
    """What an operation declares; noted is what its digest does not say."""
    fields = Fields(reading, block.body, f'operation "{name}"', ("sha256", "declares"))
    said = fields.string("sha256", place=block.span)
    text = fields.string("declares", place=block.span)
    try:
        declared = "" if text is None else canonical(_parsed(text))
        fits = digest(declared) == said
    except (ValueError, RecursionError):
        declared, fits = "", False
    if text is not None and said is not None and not fits:
        reading.wrong(block.span, f"what {name} declares is not what its digest says")
    return declared


def write_lock(path: Path, shown: str, lock: Lock) -> None:
    """Replace the file, whole or not at all.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        path.parent.mkdir(exist_ok=True)
        replace_file(path, rendered(lock), 0o644)
    except OSError as error:
        message = f"{shown}: cannot be written, so no provider can be pinned: {error.strerror}"
        raise UsageError(message) from error


def rendered(lock: Lock) -> str:
    """The file's text; the same pins give the same text."""
    return "\n".join([_HEAD, *(_block(name, lock[name]) for name in sorted(lock))])


def _block(name: str, pin: Pin) -> str:
    lines = [
        f"provider {hcl_string(name)} {{",
        f"  source  = {hcl_string(pin.identity.source)}",
        f"  version = {hcl_string(pin.identity.version)}",
        f"  sha256  = {hcl_string(pin.identity.sha256)}",
    ]
    for operation, declared in sorted(pin.operations.items()):
        lines += [
            f"  operation {hcl_string(operation)} {{",
            f"    sha256   = {hcl_string(digest(declared))}",
            f"    declares = {heredoc('JSON', _spread(declared), 6)}",
            "  }",
        ]
    return "\n".join([*lines, "}", ""])


def _spread(declared: str) -> str:
    """A declaration with each of its parts on a line of its own, so that a diff tells which one
    has changed; whatever does not print is escaped."""
    text = json.dumps(_parsed(declared), sort_keys=True, ensure_ascii=False, indent=2)
    return "".join(
        one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text
    )
