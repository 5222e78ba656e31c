"""The policy file of what people allowed for always, beside agent.hcl (K10, F4)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pluggableharness.kernel.config.evaluate import Scope
from pluggableharness.kernel.config.given import Given
from pluggableharness.kernel.config.load import read_source
from pluggableharness.kernel.config.parser import parse
from pluggableharness.kernel.config.policies import rules
from pluggableharness.kernel.config.reading import Fields, Reading
from pluggableharness.kernel.config.source import ConfigError, Source, Span
from pluggableharness.kernel.config.syntax import Block, Body
from pluggableharness.kernel.config.writing import replace_file
from pluggableharness.kernel.domain.errors import GrantNotKept, UsageError
from pluggableharness.kernel.domain.hcl import hcl_string
from pluggableharness.kernel.policy import Action, Rule

GRANTED_NAME: Final = ".agent/granted.hcl"

_HEAD: Final = """\
# What was allowed for always, in answer to a question. Each rule yields to every deny, and
# beats an ask of equal rank. It holds on the machine where it was given, as it stands, for the
# operation as it was declared then, of which `declared` is the digest. Delete one to be asked
# again; after any other change: harness policy accept
"""

_OWN: Final = ("declared", "void")
"""Attributes that only a grant has: what it is bound to, and why it holds no longer (F4)."""


@dataclass(frozen=True, slots=True)
class GrantedRules:
    """What a file of grants holds: the rules that were given here, and the texts of the others."""

    rules: tuple[Rule, ...] = ()
    foreign: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Grant:
    """A rule, where it stands, and its text."""

    rule: Rule
    block: Block
    text: str


class GrantedFile:
    """The rules of "always" of a project; `shown` is the file's name in messages.

    One holds only as it was given on this machine: whatever else the file holds came with a clone,
    or was written by hand, and waits for a person to take it over.
    """

    def __init__(self, path: Path, shown: str, given: Given) -> None:
        self.path = path
        self.shown = shown
        self._given = given

    def read(self) -> GrantedRules:
        """What the file holds; nothing when it is not there.

        A rule that does not say what its operation declared is bound to a digest that nothing has:
        it never holds, and whoever is asked in its stead is told why.

        Raises:
            UsageError: it is there and cannot be used, or holds anything but grants.
        """
        found = _read(self._source())
        given = self._among(found)
        return GrantedRules(
            tuple(one.rule for one in found if one.text in given),
            tuple(one.text for one in found if one.text not in given),
        )

    def keep(self, rule: str) -> None:
        """Write a rule's text into the file, whole or not at all, in the place of an older one for
        the same calls. Raises GrantNotKept."""
        try:
            self.path.parent.mkdir(exist_ok=True)
            if self.path.parent.is_symlink() or self.path.is_symlink():
                raise GrantNotKept(
                    f"{self.shown} is a link, and may lead anywhere; nothing was kept"
                )
            with self._given.alone():
                source = self._source()
                before, (new,) = _read(source), _read(Source("", rule))
                text = _with(source, before, new)
                _read(Source(self.shown, text))
                self._write(text, {*self._among(before), new.text})
                self.read()
        except (OSError, UsageError) as failure:
            raise GrantNotKept(f"{self.shown} cannot be kept: {failure}") from failure

    def take_over(self, rules: Iterable[str]) -> None:
        """Let these of the file's rules hold as if they had been given here, by their texts.

        Raises:
            UsageError: that cannot be noted.
        """
        try:
            with self._given.alone():
                there = _read(self._source())
                wanted = {*self._among(there), *rules}
                self._given.note(one.text for one in there if one.text in wanted)
        except (OSError, GrantNotKept) as failure:
            raise UsageError(f"{self.shown} cannot be taken over: {failure}") from failure

    def void_changed(
        self, digests: Mapping[str, str], changes: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Write into each rule that its operation has outgrown why it is void, and say which (F4).

        `digests` are those of what operations declare now, `changes` how they differ from what was
        accepted before, both by full name; a rule for another operation stays as it is.

        Raises:
            UsageError: the file cannot be used or written.
        """
        if not self.path.exists():
            return ()
        told: list[str] = []
        try:
            with self._given.alone():
                source = self._source()
                text, before = source.text, _read(source)
                for one in reversed(before):
                    why = _outgrown(one.rule, digests, changes)
                    if why:
                        at = one.block.body.span.end
                        text = f"{text[:at]}  void     = {hcl_string(why)}\n{text[at:]}"
                        told.append(f"{one.rule} is void: {why}")
                if told:
                    given, after = self._among(before), _read(Source(self.shown, text))
                    pairs = zip(before, after, strict=True)
                    self._write(text, [new.text for old, new in pairs if old.text in given])
        except (OSError, GrantNotKept) as failure:
            message = f"{self.shown} cannot say which of its rules are void: {failure}"
            raise UsageError(message) from failure
        return tuple(reversed(told))

    def _source(self) -> Source:
        there = self.path.exists()
        return read_source(self.path, self.shown) if there else Source(self.shown, _HEAD)

    def _among(self, grants: list[_Grant]) -> frozenset[str]:
        return self._given.among(one.text for one in grants)

    def _write(self, text: str, given: Iterable[str]) -> None:
        """Noted first: what a crash leaves noted and unwritten is nothing that holds."""
        self._given.note(given)
        replace_file(self.path, text)


def _read(source: Source) -> list[_Grant]:
    reading = Reading(source, Scope({}))
    body = parse(source, reading.problems)
    Fields(reading, body, "a file of grants", (), ("policy",))
    policies = [one for one in body.blocks if one.type == "policy"]
    blocks = [one for one in policies if reading.labelled(one, "a name")]
    grants: list[_Grant] = []
    for rule, block in rules(reading, blocks, beside=_OWN):
        if rule.action is not Action.ALLOW:
            reading.wrong(block.span, "a grant is an allow; write other rules into agent.hcl")
        own = Fields(reading, _own(block), str(rule), _OWN)
        declared, void = own.string("declared") or "", ""
        if own.setting("void"):
            void = own.required(block.span, "void", "say why it holds no longer") or ""
        granted = replace(rule, granted=True, declared=declared, void=void)
        grants.append(_Grant(granted, block, source.cut(_whole(block))))
    if reading.problems:
        raise ConfigError(source, reading.problems)
    return grants


def _own(block: Block) -> Body:
    """What of a block only a grant has."""
    settings = tuple(one for one in block.body.settings if one.name in _OWN)
    return Body(block.body.span, settings, ())


def _whole(block: Block) -> Span:
    return Span(block.span.start, block.body.span.end + 1)


def _with(source: Source, there: list[_Grant], new: _Grant) -> str:
    """The file's text with a grant; an older one for the same calls gives way to it."""
    for older in there:
        if (older.rule.match, older.rule.when) == (new.rule.match, new.rule.when):
            place = _whole(older.block)
            return source.text[: place.start] + new.text + source.text[place.end :]
    return f"{source.text.rstrip()}\n\n{new.text}\n"


def _outgrown(rule: Rule, digests: Mapping[str, str], changes: Mapping[str, str]) -> str:
    """Why a rule that nothing voids yet holds no longer; "" for one that holds, or speaks of
    none of the operations."""
    known = [name for name in rule.full_names if name in digests]
    if rule.void or any(digests[name] == rule.declared for name in known):
        return ""
    for name in known:
        if not rule.declared:
            return "it did not say what the operation declared when it was given"
        return changes.get(name) or f"{name} was declared otherwise when it was given"
    return ""
