"""Generates src/pluggableharness/wire/ from the .proto files here; `--check` only compares.

The output is committed, so that an installation needs no compiler. grpcio-tools is pinned in
pyproject.toml, since another version of it writes other text.
"""

import argparse
import sys
import tempfile
from importlib import resources
from pathlib import Path

from grpc_tools import protoc  # type: ignore[import-untyped]

SOURCES = Path(__file__).resolve().parent
PACKAGE = Path("pluggableharness", "wire")
COMMITTED = SOURCES.parent / "src" / PACKAGE


def main() -> int:
    """Bring the generated files up to date, or with `--check` fail when they are not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare and change nothing")
    check = parser.parse_args().check
    # Into a scratch folder also without --check: a source with a mistake then costs nothing.
    with tempfile.TemporaryDirectory() as scratch:
        if status := _compile(Path(scratch)):
            return status
        fresh = _generated(Path(scratch) / PACKAGE)
    committed = _generated(COMMITTED)
    stale = sorted(name for name in fresh | committed if fresh.get(name) != committed.get(name))
    if check and stale:
        names = ", ".join(str(PACKAGE / name) for name in stale)
        print(f"generated code is stale, run `make generate`: {names}", file=sys.stderr)
        return 1
    for name in stale:
        _replace(COMMITTED / name, fresh.get(name))
    return 0


def _compile(out: Path) -> int:
    """Run the compiler on all sources; it says on stderr what is wrong with them."""
    protos = sorted((SOURCES / PACKAGE).glob("*.proto"))
    standard_types = resources.files("grpc_tools") / "_proto"
    status: int = protoc.main(
        [
            "protoc",
            f"--proto_path={SOURCES}",
            f"--proto_path={standard_types}",
            *(f"--{kind}={out}" for kind in ("python_out", "pyi_out", "grpc_python_out")),
            *map(str, protos),
        ]
    )
    # The compiler writes a service module for every file, also where there is no service.
    for module in (out / PACKAGE).glob("*_pb2_grpc.py"):
        if "\nclass " not in module.read_text(encoding="utf-8"):
            module.unlink()
    return status


def _generated(folder: Path) -> dict[str, bytes]:
    paths = [*folder.glob("*_pb2.py*"), *folder.glob("*_pb2_grpc.py")]
    return {path.name: path.read_bytes() for path in paths}


def _replace(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)


if __name__ == "__main__":
    sys.exit(main())
