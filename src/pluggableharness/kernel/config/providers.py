"""Which providers a configuration loads, and where each comes from (F3)."""

import re
from collections.abc import Mapping
from pathlib import Path

from pluggableharness.kernel.config.commands import command_problem, located, portable
from pluggableharness.kernel.config.config import Known, Origin, OriginKind, ProviderConfig
from pluggableharness.kernel.config.mcp_source import ATTRIBUTES as MCP_ATTRIBUTES
from pluggableharness.kernel.config.mcp_source import mcp_origin
from pluggableharness.kernel.config.provider_block import provider_block
from pluggableharness.kernel.config.reading import Reading
from pluggableharness.kernel.config.source import Span
from pluggableharness.kernel.config.syntax import Block, Body, ObjectOf, Setting
from pluggableharness.kernel.config.versions import constraint_problem, satisfies
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.schema.nearest import did_you_mean

_ATTRIBUTES = ("source", "version")
_SOMEWHERE = Origin(OriginKind.ANNOUNCED)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_MODULE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


class Providers:
    """Reads both kinds of block against what is known; `root` is what paths are relative to."""

    def __init__(
        self, reading: Reading, root: Path, known: Mapping[str, Known], version: str
    ) -> None:
        self._reading = reading
        self._root = root
        self._known = known
        self._version = version

    def read(self, required: Block | None, blocks: list[Block]) -> tuple[ProviderConfig, ...]:
        """The providers, in the order of required_providers."""
        origins = self._required(required) if required else self._builtin()
        configured = {block.labels[0]: block for block in blocks}
        for name, block in configured.items():
            if name not in origins:
                self._not_loaded(name, block, required is not None)
        return tuple(
            self._provider(name, *origin, configured.get(name)) for name, origin in origins.items()
        )

    def _builtin(self) -> dict[str, tuple[Origin, str, Span]]:
        return {name: (Origin(OriginKind.BUILTIN), "", Span(0, 0)) for name in self._known}

    def _not_loaded(self, name: str, block: Block, listed: bool) -> None:
        span = block.label_spans[0]
        if listed and name in self._known:
            message = f"{name} is not among required_providers, so it is not loaded; add there "
            self._reading.wrong(span, message + f'{name} = {{ source = "builtin" }}')
            return
        message = f"there is no provider {in_quotes(name)}{did_you_mean(name, self._known)}"
        how = 'Others are named in required_providers { NAME = { source = "…" } }'
        self._reading.wrong(span, f"{message}{'' if message.endswith('?') else '.'} {how}")

    def _required(self, block: Block) -> dict[str, tuple[Origin, str, Span]]:
        found: dict[str, tuple[Origin, str, Span]] = {}
        for inner in block.body.blocks:
            message = f'write {inner.type} = {{ source = "…" }}, with an equals sign'
            self._reading.wrong(inner.span, message)
        for setting in block.body.settings:
            found[setting.name] = (*self._requirement(setting), setting.span)
        return found

    def _requirement(self, setting: Setting) -> tuple[Origin, str]:
        """Where a provider comes from, and the versions that it may have.

        One whose source is a mistake comes from somewhere all the same, so that what the file
        says of it elsewhere is no mistake as well.
        """
        reading = self._reading
        if not _NAME.fullmatch(setting.name):
            reading.wrong(setting.span, "a provider's name has at most 64 ASCII letters and digits")
            return _SOMEWHERE, ""
        value = reading.value(setting.value)
        if not isinstance(value, dict):
            if value is not None:
                message = f'write {setting.name} = {{ source = "builtin" }}, or another source'
                reading.wrong(setting.value.span, message)
            return _SOMEWHERE, ""
        written = setting.value.named if isinstance(setting.value, ObjectOf) else {}
        spans = {key: item.span for key, item in written.items()}
        for key in value:
            known = _ATTRIBUTES if value.get("source") != "mcp" else (*_ATTRIBUTES, *MCP_ATTRIBUTES)
            if key not in known:
                span = spans.get(key, setting.span)
                reading.unknown(span, "attribute", key, known, "a required provider")
        version = self._constraint(value.get("version"), spans.get("version", setting.span))
        span = spans.get("source", setting.span)
        if value.get("source") == "mcp" and isinstance(setting.value, ObjectOf):
            server = mcp_origin(reading, self._root, value, setting.value, span)
            return server or Origin(OriginKind.MCP), version
        origin = self._origin(setting.name, value.get("source"), span) or _SOMEWHERE
        if origin.kind is OriginKind.BUILTIN and not satisfies(self._version, version):
            message = f"{setting.name} has version {self._version}, which is not {version}"
            reading.wrong(spans.get("version", setting.span), message)
        return origin, version

    def _constraint(self, value: Json, span: Span) -> str:
        if value is None:
            return ""
        problem = constraint_problem(value) if isinstance(value, str) else "it is a string"
        if problem or not isinstance(value, str):
            self._reading.wrong(span, f"'version' is written like \">= 1.2, < 2\": {problem}")
            return ""
        return value

    def _origin(self, name: str, source: Json, span: Span) -> Origin | None:
        match source:
            case None if name in self._known:
                return Origin(OriginKind.BUILTIN)
            case None:
                return Origin(OriginKind.ANNOUNCED)
            case "builtin":
                return self._builtin_origin(name, span)
            case str() if source.startswith("python:"):
                return self._python(source.removeprefix("python:"), span)
            case str() if "/" in source:
                return self._executable([source], span)
            case [str(), *rest] if all(isinstance(word, str) for word in rest):
                return self._executable([str(word) for word in source], span)
        message = (
            "a source is \"builtin\", a path with a '/' in it, a list of a program and its "
            'arguments, "python:MODULE", "mcp", or left out for an installed package that '
            "announces itself"
        )
        self._reading.wrong(span, message)
        return None

    def _builtin_origin(self, name: str, span: Span) -> Origin | None:
        if name in self._known:
            return Origin(OriginKind.BUILTIN)
        self._reading.unknown(span, "built-in provider", name, self._known)
        return None

    def _python(self, module: str, span: Span) -> Origin | None:
        if _MODULE.fullmatch(module):
            return Origin(OriginKind.PYTHON, module=module)
        self._reading.wrong(span, f"{in_quotes(module)} is no name of a Python module")
        return None

    def _executable(self, words: list[str], span: Span) -> Origin | None:
        problem = command_problem(self._root, words)
        if problem:
            self._reading.wrong(span, problem)
            return None
        root = self._root
        return Origin(OriginKind.EXECUTABLE, located(root, words), portable(root, words))

    def _provider(
        self, name: str, origin: Origin, version: str, span: Span, block: Block | None
    ) -> ProviderConfig:
        known = self._known.get(name) if origin.kind is OriginKind.BUILTIN else None
        if block is None:
            block = Block(span, "provider", (name,), (span,), Body(span, (), ()))
        place = self._reading.source.where(block.span)
        return provider_block(
            self._reading, block, known, ProviderConfig(name, origin, place, version)
        )
