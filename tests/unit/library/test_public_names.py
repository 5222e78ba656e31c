"""The public names: what `__all__` says is there, typed, described, and costs nothing unasked."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import pluggableharness


@pytest.mark.req("K34")
def test_every_public_name_is_there_and_no_other_is_promised() -> None:
    assert sorted(pluggableharness.__all__) == sorted(pluggableharness._HOMES)
    for name in pluggableharness.__all__:
        assert getattr(pluggableharness, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pluggableharness.nothing  # noqa: B018
    assert set(pluggableharness.__all__) <= set(dir(pluggableharness))


def test_type_checkers_find_each_name_in_the_module_that_it_comes_from() -> None:
    (guarded,) = [
        node
        for node in ast.parse(Path(pluggableharness.__file__).read_text()).body
        if isinstance(node, ast.If)
    ]
    typed = {
        alias.name: node.module
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == {
        name: f"pluggableharness.{home}" for name, home in pluggableharness._HOMES.items()
    }


@pytest.mark.req("K34", "S5")
@pytest.mark.parametrize("action", ["", "; dir(pluggableharness)"], ids=["import", "dir"])
def test_importing_the_package_imports_nothing_of_the_kernel(action: str) -> None:
    code = f"import json, sys, pluggableharness{action}; print(json.dumps(list(sys.modules)))"
    told = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=True)
    loaded = json.loads(told.stdout)
    heavy = {"grpc", "asyncio", "google.protobuf", "msgspec", "pydantic_ai", "mcp"}
    assert heavy.isdisjoint(loaded)
    ours = [name for name in loaded if name.startswith("pluggableharness")]
    assert sorted(ours) == ["pluggableharness", "pluggableharness.version"]


def test_the_values_of_the_domain_come_without_the_wire() -> None:
    code = "import sys; from pluggableharness import Answer, Risk; print('grpc' in sys.modules)"
    told = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=True)
    assert told.stdout == b"False\n"
