"""The generated modules, compared with the table of the wire, and with their own sources."""

import importlib
import pkgutil
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    MethodDescriptorProto,
)

from pluggableharness import wire

FACTS = Path(__file__).with_name("wire_facts.txt")
ROOT = Path(__file__).parents[2]

Block: TypeAlias = tuple[str, list[str]]
"""A heading such as "message pluggableharness.tool.v1.ToolCall", and its lines in order."""


def facts() -> Iterator[Block]:
    text = FACTS.read_text(encoding="utf-8")
    for block in text.split("\n\n")[1:]:
        heading, *lines = block.strip().splitlines()
        yield heading, [line.strip() for line in lines]


def described() -> Iterator[Block]:
    for module in pkgutil.iter_modules(wire.__path__):
        if module.name.endswith("_pb2"):
            file = FileDescriptorProto()
            importlib.import_module(f"{wire.__name__}.{module.name}").DESCRIPTOR.CopyToProto(file)
            yield from in_file(file)


def in_file(file: FileDescriptorProto) -> Iterator[Block]:
    for service in file.service:
        yield f"service {file.package}.{service.name}", [method_line(m) for m in service.method]
    for enum in file.enum_type:
        yield enum_block(file.package, enum)
    for message in file.message_type:
        yield from message_blocks(file.package, message)


def message_blocks(scope: str, message: DescriptorProto) -> Iterator[Block]:
    name = f"{scope}.{message.name}"
    maps = {f".{name}.{m.name}": m for m in message.nested_type if m.options.map_entry}
    yield f"message {name}", [field_line(message, field, maps) for field in message.field]
    for enum in message.enum_type:
        yield enum_block(name, enum)
    for nested in message.nested_type:
        if not nested.options.map_entry:
            yield from message_blocks(name, nested)


def enum_block(scope: str, enum: EnumDescriptorProto) -> Block:
    return f"enum {scope}.{enum.name}", [f"{value.number} {value.name}" for value in enum.value]


def field_line(
    message: DescriptorProto, field: FieldDescriptorProto, maps: dict[str, DescriptorProto]
) -> str:
    label = oneof = ""
    if entry := maps.get(field.type_name):
        key, value = entry.field
        type_ = f"map<{type_name(key)}, {type_name(value)}>"
    else:
        type_ = type_name(field)
        label = "repeated " if field.label == field.LABEL_REPEATED else ""
    if field.proto3_optional:
        label = "optional "
    elif field.HasField("oneof_index"):
        oneof = f" (oneof {message.oneof_decl[field.oneof_index].name})"
    return f"{field.number} {field.name}: {label}{type_}{oneof}"


def type_name(field: FieldDescriptorProto) -> str:
    scalar = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    return field.type_name.removeprefix(".") or scalar


def method_line(method: MethodDescriptorProto) -> str:
    sent = "stream " * method.client_streaming + method.input_type.removeprefix(".")
    answered = "stream " * method.server_streaming + method.output_type.removeprefix(".")
    return f"{method.name}({sent}) -> {answered}"


TABLE, DESCRIBED = dict(facts()), dict(described())


def test_the_table_is_the_whole_wire() -> None:
    assert len(TABLE) == 128, "blocks of the table were lost in reading, or a heading stands twice"
    assert TABLE.keys() == DESCRIBED.keys()


@pytest.mark.parametrize("heading", sorted(TABLE.keys() | DESCRIBED.keys()))
def test_names_numbers_types_and_labels_are_those_of_the_wire(heading: str) -> None:
    assert DESCRIBED.get(heading) == TABLE.get(heading)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of what the generator reads and writes."""
    shutil.copytree(ROOT / "proto", tmp_path / "proto")
    shutil.copytree(ROOT / "src/pluggableharness/wire", tmp_path / "src/pluggableharness/wire")
    return tmp_path


def generate(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(tree / "proto" / "generate.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_committed_modules_are_what_the_sources_give(tree: Path) -> None:
    check = generate(tree, "--check")
    assert (check.returncode, check.stderr) == (0, "")


def test_a_stale_module_and_a_left_over_one_fail_the_check_by_name(tree: Path) -> None:
    package = tree / "src/pluggableharness/wire"
    (package / "former_pb2.py").write_text("")
    (package / "tool_pb2_grpc.py").unlink()
    log = tree / "proto/pluggableharness/wire/log.proto"
    log.write_text(log.read_text().replace("LOG_LEVEL_FATAL", "LOG_LEVEL_PANIC"))

    check = generate(tree, "--check")

    assert check.returncode == 1
    for name in ("former_pb2.py", "tool_pb2_grpc.py", "log_pb2.py", "log_pb2.pyi"):
        assert f"pluggableharness/wire/{name}" in check.stderr
    assert "model_pb2.py" not in check.stderr
    assert "make generate" in check.stderr
    assert (package / "former_pb2.py").exists(), "the check must not change anything"


def test_generating_mends_what_the_check_found(tree: Path) -> None:
    package = tree / "src/pluggableharness/wire"
    (package / "former_pb2.py").write_text("")
    (package / "tool_pb2_grpc.py").unlink()

    assert generate(tree).returncode == 0

    assert not (package / "former_pb2.py").exists()
    assert generate(tree, "--check").returncode == 0


def test_a_mistake_in_a_source_leaves_the_modules_alone(tree: Path) -> None:
    package = tree / "src/pluggableharness/wire"
    before = {path.name: path.read_bytes() for path in package.glob("*_pb2*")}
    (tree / "proto/pluggableharness/wire/log.proto").write_text("nonsense")

    failed = generate(tree)

    assert failed.returncode != 0
    assert "log.proto" in failed.stderr
    assert {path.name: path.read_bytes() for path in package.glob("*_pb2*")} == before
