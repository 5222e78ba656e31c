"""What every file owes its readers, and what packages promise beyond the import contracts."""

import ast
import functools
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "pluggableharness"
LONGEST = 400

LONG_FOR_A_REASON: dict[str, str] = {}
"""Files that may be longer, by path from the root, each with the reason why it is one thing."""

IMPURE = {"asyncio", "logging", "random", "socket", "sqlite3", "subprocess", "threading", "time"}
HEAVY = {"pydantic", "rich", "yaml"}


def sources(*folders: Path) -> list[Path]:
    found = (path for folder in folders for path in folder.rglob("*.py"))
    return sorted(path for path in found if not path.stem.endswith(("_pb2", "_pb2_grpc")))


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield each imported module's full name, with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.lineno


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def test_no_file_is_so_long_that_it_must_be_two_things() -> None:
    everything = sources(*(ROOT / name for name in ("src", "tests", "bench", "examples", "proto")))
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in everything
    }
    assert {name: n for name, n in lengths.items() if n > LONGEST}.keys() == {*LONG_FOR_A_REASON}


def test_every_module_says_what_it_owns() -> None:
    assert [str(path) for path in sources(PACKAGE) if not ast.get_docstring(parsed(path))] == []


def test_every_folder_is_a_package() -> None:
    """The import contracts do not see the modules of one that is not."""
    folders = {path.parent for path in sources(PACKAGE)}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_a_function_that_imports_our_own_modules_says_what_that_puts_off() -> None:
    """It is for start-up time alone: the import contracts see these like any other import."""
    silent = [
        f"{place(path, line)} imports {name}"
        for path in sources(PACKAGE)
        for function in ast.walk(parsed(path))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for name, line in imports(function)
        if name.partition(".")[0] == PACKAGE.name and not explained(path, line)
    ]
    assert silent == []


def explained(path: Path, line: int) -> bool:
    """Tell whether a comment stands above the import, or above the imports that it follows."""
    above = path.read_text(encoding="utf-8").splitlines()[line - 2].strip()
    if above.startswith(("import ", "from ")):
        return explained(path, line - 1)
    return above.startswith("#")


def test_mcp_is_imported_in_its_bridges_alone() -> None:
    """It takes a second, and no other command is to pay for it (S5)."""
    elsewhere = [
        f"{place(path, line)} imports {name}"
        for path in sources(PACKAGE)
        for name, line in imports(parsed(path))
        if name.partition(".")[0] in ("mcp", "mcp_types")
        and not path.is_relative_to(PACKAGE / "bridges")
    ]
    assert elsewhere == []


def test_the_domain_needs_the_standard_library_alone() -> None:
    foreign = [
        f"{place(path, line)} imports {name}"
        for path in sources(PACKAGE / "kernel" / "domain")
        for name, line in imports(parsed(path))
        if name.partition(".")[0] not in sys.stdlib_module_names
        and not name.startswith("pluggableharness.kernel.domain")
    ]
    assert foreign == []


@pytest.mark.parametrize("package", ["schema", "policy", "planning"])
def test_decisions_await_nothing_and_touch_nothing(package: str) -> None:
    modules = sources(PACKAGE / "kernel" / package)
    impure = [
        f"{place(path, line)} imports {name}"
        for path in modules
        for name, line in imports(parsed(path))
        if name.partition(".")[0] in IMPURE
    ]
    waiting = [
        place(path, node.lineno)
        for path in modules
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.AsyncFunctionDef | ast.Await)
    ]
    assert (impure, waiting) == ([], [])


@pytest.mark.parametrize("package", ["guard", "providers", "sdk", "wire"])
def test_provider_processes_load_nothing_heavy(package: str) -> None:
    heavy = [
        f"{place(path, line)} imports {name}"
        for path in sources(PACKAGE / package)
        for name, line in imports(parsed(path))
        if name.partition(".")[0] in HEAVY
    ]
    assert heavy == []
