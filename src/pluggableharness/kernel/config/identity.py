"""What a provider's source comes to on this machine: a command, and what its files are (F3, F4).

Nothing is started and nothing of it imported.
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pluggableharness.kernel.config.config import Config, OriginKind, ProviderConfig
from pluggableharness.kernel.config.lock import Identity
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.policy.shell.programs import interprets
from pluggableharness.kernel.schema.nearest import did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import Distribution

GROUP: Final = "pluggableharness.providers"
"""Entry points by which installed packages announce providers: NAME = "module"."""

_DISTRIBUTION: Final = "pluggableharness"
_BRIDGE: Final = "pluggableharness.bridges.inward"


@dataclass(frozen=True, slots=True)
class Found:
    """A provider that can be started; `command` is empty for one that is built in."""

    command: tuple[str, ...]
    identity: Identity


def locate(provider: ProviderConfig, root: Path) -> Found:
    """Find what a provider's source names; `root` is the project's.

    Raises:
        UsageError: it is not there.
    """
    match provider.origin.kind:
        case OriginKind.BUILTIN:
            return Found((), _distributed("builtin", _metadata().distribution(_DISTRIBUTION)))
        case OriginKind.EXECUTABLE:
            return _executable(provider, root)
        case OriginKind.PYTHON:
            return _module(provider)
        case OriginKind.ANNOUNCED:
            return _announced(provider)
        case OriginKind.MCP:
            return _mcp(provider, root)


def not_there(config: Config) -> Iterator[str]:
    """Why providers that do not come along could not be started, as far as looking tells (F11)."""
    for one in config.providers:
        if one.origin.kind is not OriginKind.BUILTIN:
            try:
                locate(one, config.path.parent)
            except UsageError as error:
                yield str(error)


def _executable(provider: ProviderConfig, root: Path) -> Found:
    program, *arguments = provider.origin.command
    path = shutil.which(program)
    if path is None:
        raise UsageError(f"{provider.place}: provider {provider.name}: there is no {program} here")
    files = list(filter(os.path.isfile, (os.path.join(root, one) for one in arguments)))
    if not _is_interpreter(program, arguments, root):
        files.insert(0, path)
    # Inside the project a program changes as people work on it: there its schema is the pin.
    project = root.resolve()
    outside = tuple(one for one in files if not Path(one).resolve().is_relative_to(project))
    sums = hashlib.sha256()
    for file in outside:
        sums.update(_file_digest(file, provider))
    sha256 = sums.hexdigest() if outside else ""
    identity = Identity(provider.origin.portable, sha256=sha256, files=outside)
    return Found((path, *arguments), identity)


def _is_interpreter(program: str, arguments: Sequence[str], root: Path) -> bool:
    """Whether a program is an interpreter of the machine, or of the project's environment, that
    runs the file which is its first word.

    That file is then the provider. Its interpreter is another on every machine and after every
    update; one outside by its path is the very one that was chosen.
    """
    file = next((one for one in arguments if not one.startswith("-")), "")
    return (
        ("/" not in program or Path(program).is_relative_to(root))
        and interprets(os.path.basename(program))
        and os.path.isfile(os.path.join(root, file))
    )


def _mcp(provider: ProviderConfig, root: Path) -> Found:
    """The bridge to a server; of one that is only an address there are no files to be pinned."""
    origin = provider.origin
    if origin.address:
        command: tuple[str, ...] = ()
        identity = Identity(f"mcp {origin.address}")
    else:
        found = _executable(provider, root)
        command = found.command
        identity = replace(found.identity, source=f"mcp {origin.portable}")
    variables = (*provider.environment, *filter(None, (origin.token_variable,)))
    server = {
        "name": provider.name,
        "command": command,
        "address": origin.address,
        "token_variable": origin.token_variable,
        "environment": variables,
        "overrides": provider.overrides,
    }
    return Found((*_python(_BRIDGE), json.dumps(server)), identity)


def _file_digest(file: str, provider: ProviderConfig) -> bytes:
    try:
        with open(file, "rb") as opened:
            return hashlib.file_digest(opened, "sha256").digest()
    except OSError as error:
        message = f"{provider.place}: provider {provider.name}: {file}: {error.strerror}"
        raise UsageError(message) from error


def _module(provider: ProviderConfig) -> Found:
    module = provider.origin.module
    names = _metadata().packages_distributions().get(module.partition(".")[0])
    if not names:
        raise UsageError(
            f"{provider.place}: provider {provider.name}: no installed package offers the module "
            f"{module}; install it beside the harness, or give a path as source"
        )
    distribution = _metadata().distribution(names[0])
    return Found(_python(module), _distributed(f"python:{module}", distribution))


def _announced(provider: ProviderConfig) -> Found:
    points = _metadata().entry_points(group=GROUP)
    for point in points:
        if point.name == provider.name and point.dist is not None:
            source = f"announced by {point.dist.name}"
            return Found(_python(point.module), _distributed(source, point.dist))
    hint = did_you_mean(provider.name, points.names)
    raise UsageError(
        f"{provider.place}: provider {provider.name}: no installed package announces it in the "
        f"group {GROUP}{hint}. Give it a source, or install its package"
    )


def _metadata() -> Any:
    # 20 ms to import, and a project without agent.hcl needs none of it.
    from importlib import metadata

    return metadata


def _python(module: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-m", module)


def _distributed(source: str, distribution: "Distribution") -> Identity:
    """The identity of an installed distribution: its list of files with their digests.

    Files outside of the folder of packages are left out: an installer writes the place of its
    Python into scripts. One that is worked on where it lies has no list but of that place.
    """
    url = json.loads(distribution.read_text("direct_url.json") or "{}")
    if url.get("dir_info", {}).get("editable"):
        return Identity(source, distribution.version)
    listed = sorted(
        f"{file} {file.hash.value if file.hash else ''}"
        for file in distribution.files or ()
        if file.suffix != ".pyc" and file.parts[0] != ".." and not file.match("*.dist-info/*")
    )
    sums = hashlib.sha256("\n".join(listed).encode()).hexdigest()
    return Identity(source, distribution.version, sums)
