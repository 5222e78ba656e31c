"""The policy file of what people allowed for always, beside agent.hcl (K10, F4)."""

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from pluggableharness.kernel.config.evaluate import Scope
from pluggableharness.kernel.config.load import read_source
from pluggableharness.kernel.config.parser import parse
from pluggableharness.kernel.config.policies import rules
from pluggableharness.kernel.config.reading import Fields, Reading
from pluggableharness.kernel.config.source import ConfigError, Source
from pluggableharness.kernel.config.syntax import Block
from pluggableharness.kernel.config.writing import quoted
from pluggableharness.kernel.domain.errors import GrantNotKept, UsageError
from pluggableharness.kernel.policy import Action, Rule

GRANTED_NAME: Final = ".agent/granted.hcl"

_HEAD: Final = """\
# What was allowed for always, in answer to a question. Each rule yields to every deny, and
# beats an ask of equal rank. It holds for the operation as it was declared then, of which
# `declared` is the digest. Delete one to be asked again.
"""

_OWN: Final = ("declared", "void")
"""Attributes that only a grant has: what it is bound to, and why it holds no longer (F4)."""

Granted = list[tuple[Rule, Block]]


def granted_rules(path: Path, shown: str) -> tuple[Rule, ...]:
    """The rules that the file holds; none when it is not there.

    One that does not say what its operation declared is bound to a digest that nothing has: it
    never holds, and whoever is asked in its stead is told why.

    Raises:
        UsageError: it is there and cannot be used, or holds anything but grants.
    """
    if not path.exists():
        return ()
    return tuple(rule for rule, _ in _read(read_source(path, shown)))


def void_changed(
    path: Path, shown: str, digests: Mapping[str, str], changes: Mapping[str, str]
) -> tuple[str, ...]:
    """Write into each rule that its operation has outgrown why it is void, and say which (F4).

    `digests` are those of what operations declare now, `changes` how they differ from what was
    accepted before, both by full name; a rule for another operation stays as it is.

    Raises:
        UsageError: the file cannot be used or written.
    """
    if not path.exists():
        return ()
    told: list[str] = []
    try:
        with _alone(path, shown):
            source = read_source(path, shown)
            text = source.text
            for rule, block in reversed(_read(source)):
                why = _outgrown(rule, digests, changes)
                if why:
                    at = block.body.span.end
                    text = f"{text[:at]}  void     = {quoted(why)}\n{text[at:]}"
                    told.append(f"{rule} is void: {why}")
            if told:
                _replace(path, text)
    except (OSError, GrantNotKept) as failure:
        raise UsageError(f"{shown} cannot say which of its rules are void: {failure}") from failure
    return tuple(reversed(told))


def _outgrown(rule: Rule, digests: Mapping[str, str], changes: Mapping[str, str]) -> str:
    """Why a rule that nothing voids yet holds no longer; "" for one that holds, or speaks of
    none of the operations."""
    names = [f"{one}.{tool}" for one in rule.provider or () for tool in rule.tool_name or ()]
    known = [name for name in names if name in digests]
    if rule.void or any(digests[name] == rule.declared for name in known):
        return ""
    for name in known:
        if not rule.declared:
            return "it did not say what the operation declared when it was given"
        return changes.get(name) or f"{name} was declared otherwise when it was given"
    return ""


def keeper(path: Path, shown: str) -> Callable[[str], None]:
    """What writes a rule's text into the file, whole or not at all, in the place of an older
    one for the same calls."""
    return lambda rule: _keep(path, shown, rule)


def _read(source: Source) -> Granted:
    body = parse(source)
    reading = Reading(source, Scope({}))
    for setting in body.settings:
        reading.wrong(setting.span, "only policy blocks may stand here")
    for block in body.blocks:
        if block.type != "policy" or len(block.labels) != 1:
            reading.wrong(block.span, "only policy blocks may stand here")
    blocks = [one for one in body.blocks if len(one.labels) == 1]
    found = rules(reading, [_without_own(one) for one in blocks])
    pairs: Granted = []
    for rule, block in zip(found, blocks, strict=False):
        if rule.action is not Action.ALLOW:
            reading.wrong(block.span, "a grant is an allow; write other rules into agent.hcl")
        own = Fields(reading, _only_own(block).body, str(rule), _OWN)
        declared, void = own.string("declared") or "", own.string("void") or ""
        pairs.append((replace(rule, granted=True, declared=declared, void=void), block))
    if reading.problems:
        raise ConfigError(source, reading.problems)
    return pairs


def _without_own(block: Block) -> Block:
    settings = tuple(one for one in block.body.settings if one.name not in _OWN)
    return replace(block, body=replace(block.body, settings=settings))


def _only_own(block: Block) -> Block:
    settings = tuple(one for one in block.body.settings if one.name in _OWN)
    return replace(block, body=replace(block.body, settings=settings, blocks=()))


def _keep(path: Path, shown: str, rule: str) -> None:
    """Add a rule, unless the very same is there. Raises GrantNotKept."""
    try:
        path.parent.mkdir(exist_ok=True)
        if path.parent.is_symlink() or path.is_symlink():
            raise GrantNotKept(f"{shown} is a link, and may lead anywhere; nothing was kept")
        with _alone(path, shown):
            source = read_source(path, shown) if path.exists() else Source(shown, _HEAD)
            text = _with(source, rule)
            if text != source.text:
                _read(Source(shown, text))
                _replace(path, text)
                granted_rules(path, shown)
    except (OSError, UsageError) as failure:
        raise GrantNotKept(f"{shown} cannot be kept: {failure}") from failure


def _with(source: Source, rule: str) -> str:
    """The file's text with a rule; an older one for the same calls gives way to it."""
    ((newer, _),) = _read(Source("", rule))
    for older, block in _read(source):
        if (older.match, older.when) == (newer.match, newer.when):
            before, after = block.span.start, block.body.span.end + 1
            return source.text[:before] + rule.rstrip("\n") + source.text[after:]
    return f"{source.text.rstrip()}\n\n{rule}"


@contextmanager
def _alone(path: Path, shown: str) -> Iterator[None]:
    """Keep other harnesses from writing at the same time, of whom one would lose its rule."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise GrantNotKept(f"{shown} is being written by another harness; try again") from None
    finally:
        os.close(folder)


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
