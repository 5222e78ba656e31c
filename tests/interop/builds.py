"""Builds the programs in other languages, once for each content of their sources.

A build lands in the system's temporary directory under the hash of what it was made from, so
that later runs take it from there; what it downloads stays in Go's and npm's own caches.
"""

import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROTO = HERE.parents[1] / "proto"
BUILD_S = 600
"""A first build downloads and compiles everything; only a hang takes longer."""

_GENERATORS = (
    "google.golang.org/protobuf/cmd/protoc-gen-go",
    "google.golang.org/grpc/cmd/protoc-gen-go-grpc",
)


@functools.cache
def go_programs() -> Path:
    """The directory with `provider` and `host`, both on the real go-plugin."""
    go = _tool("go")
    return _built("go", lambda work: _build_go(go, work)) / "bin"


@functools.cache
def node_provider() -> tuple[str, ...]:
    """The command of the provider in Node."""
    node, npm = _tool("node"), _tool("npm")
    built = _built("node", lambda work: _build_node(npm, work))
    return (node, str(built / "provider.js"), str(PROTO))


def _tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed, so nothing in that language can be run")
    return path


def _build_go(go: str, work: Path) -> None:
    _run(work, go, "build", "-o", "bin/", *_GENERATORS)
    _generate_go(work)
    _run(work, go, "build", "-p", "2", "-o", "bin/", "./provider", "./host")


def _generate_go(work: Path) -> None:
    # go-plugin brings its own messages of the package `plugin`; a second copy would clash.
    names = [f"pluggableharness/wire/{path.name}" for path in _protos()]
    packages = [
        f"--{kind}_opt=M{name}=interop/wire" for kind in ("go", "go-grpc") for name in names
    ]
    _run(
        work,
        *(sys.executable, "-m", "grpc_tools.protoc"),
        f"--proto_path={PROTO}",
        f"--proto_path={resources.files('grpc_tools') / '_proto'}",
        *(f"--plugin=protoc-gen-{kind}=bin/protoc-gen-{kind}" for kind in ("go", "go-grpc")),
        *("--go_out=.", "--go-grpc_out=.", "--go_opt=module=interop"),
        *("--go-grpc_opt=module=interop", *packages, *names),
    )


def _build_node(npm: str, work: Path) -> None:
    _run(work, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")


def _protos() -> list[Path]:
    found = sorted((PROTO / "pluggableharness" / "wire").glob("*.proto"))
    return [path for path in found if path.name != "plugin.proto"]


def _run(work: Path, *command: str) -> None:
    environment = {**os.environ, "GOFLAGS": "-buildvcs=false", "GOWORK": "off"}
    done = subprocess.run(
        command, cwd=work, env=environment, capture_output=True, text=True, timeout=BUILD_S
    )
    if done.returncode:
        pytest.fail(f"{' '.join(command[:6])} …:\n{done.stderr[-4000:]}", pytrace=False)


def _built(language: str, build: Callable[[Path], None]) -> Path:
    sources = HERE / language
    cache = Path(tempfile.gettempdir()) / f"pluggableharness-interop-{os.getuid()}"
    cache.mkdir(mode=0o700, exist_ok=True)
    assert cache.stat().st_uid == os.getuid(), f"{cache} belongs to somebody else: remove it"
    target = cache / f"{language}-{_fingerprint(sources)}"
    with _alone(cache / f"{language}.lock"):
        if not target.exists():
            # Renamed when it is done: a build that was cut short is none.
            with tempfile.TemporaryDirectory(dir=cache) as scratch:
                work = Path(scratch) / "work"
                shutil.copytree(sources, work)
                build(work)
                work.rename(target)
    return target


def _fingerprint(sources: Path) -> str:
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted(path for path in sources.rglob("*") if path.is_file()) + _protos():
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:20]


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
