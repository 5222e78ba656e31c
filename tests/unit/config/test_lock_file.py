"""The lock file: whatever was declared comes back, and a diff tells what of it changed (F4)."""

import difflib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.planning.doubles import operation

from pluggableharness.kernel.config.declaration import canonical, declaration, digest
from pluggableharness.kernel.config.lock import Identity, Lock, Pin, read_lock, rendered
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.hcl import hcl_string
from pluggableharness.kernel.domain.operation import Schema, SchemaType

TEXT = Schema(SchemaType.STRING, description="what it says")
SEND = replace(
    operation("send", provider="mail"),
    description="Send it.\nTo all.",
    input_schema=Schema(SchemaType.OBJECT, properties={"to": TEXT, "text": TEXT}),
)


def lock_of(declared: str) -> Lock:
    return {"mail": Pin(Identity("builtin", "1", ""), {"send": declared})}


def read(text: str, folder: Path) -> Lock:
    path = folder / "agent.lock.hcl"
    path.write_text(text, encoding="utf-8", newline="")
    return read_lock(path, "agent.lock.hcl")


@pytest.mark.req("F4")
@given(text=st.text(st.characters() | st.sampled_from('$%{}~\\"\r\n\t\u2028\u202e\ud800 JSON')))
def test_what_is_pinned_comes_back_and_nothing_of_it_is_hidden(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    lock = lock_of(canonical({"description": text, text: [text, 1, None]}))
    written = rendered(lock)
    assert all(line.isprintable() for line in written.split("\n"))
    assert read(written, tmp_path_factory.getbasetemp()) == lock


@pytest.mark.req("F4")
def test_a_diff_tells_which_argument_of_which_operation_changed() -> None:
    changed = replace(TEXT, description="whom to")
    schema = replace(SEND.input_schema, properties={"to": changed, "text": TEXT})
    texts = [
        rendered(lock_of(declaration(one))).splitlines()
        for one in (SEND, replace(SEND, input_schema=schema))
    ]
    lines = difflib.ndiff(texts[0], texts[1])
    told = [line for line in lines if line[0] in "-+" and "sha256" not in line]
    assert [line.split() for line in told] == [
        ["-", '"description":', '"what', "it", 'says",'],
        ["+", '"description":', '"whom', 'to",'],
    ]


@pytest.mark.req("F4")
def test_a_file_with_each_declaration_on_one_line_is_read_as_well(tmp_path: Path) -> None:
    declared = declaration(SEND)
    text = (
        'provider "mail" {\n  source  = "builtin"\n  version = "1"\n  sha256  = ""\n'
        f'  operation "send" {{\n    sha256   = "{digest(declared)}"\n'
        f"    declares = {hcl_string(declared)}\n  }}\n}}\n"
    )
    assert read(text, tmp_path) == lock_of(declared)


@pytest.mark.req("F4")
@pytest.mark.parametrize(("before", "after"), [("Send it", "Keep it"), ("<<-JSON\n      {", '"{')])
def test_a_declaration_that_is_not_what_its_digest_says_is_damage(
    tmp_path: Path, before: str, after: str
) -> None:
    text = rendered(lock_of(declaration(SEND)))
    assert before in text
    with pytest.raises(UsageError):
        read(text.replace(before, after), tmp_path)


def merged(change: str) -> str:
    """A lock file that a merge or a hand has changed."""
    text = rendered(lock_of(declaration(SEND)))
    start = text.index("  operation")
    operation, end = text[start:-2], len(text) - 2
    match change:
        case "a provider twice":
            return text + text[text.index("provider") :].replace('"1"', '"2"')
        case "an operation twice":
            return text[:end] + operation + text[end:]
        case "conflict markers":
            return text.replace("  version", "<<<<<<< HEAD\n  version")
        case "another block":
            return text.replace("provider", "policy")
        case "another block within":
            return text.replace("  operation", "  hook")
        case "two names":
            return text.replace('provider "mail"', 'provider "mail" "b"')
        case "no name":
            return text.replace('provider "mail"', "provider")
        case "an attribute outside":
            return "x = 1\n" + text
        case "an attribute too many":
            return text.replace("  version", "  junk = 1\n  version")
        case "an attribute too many within":
            return text.replace("    sha256 ", "    junk = 1\n    sha256 ")
        case "no source":
            return text.replace("  source  =", "  # source  =")
        case "no version":
            return text.replace("  version =", "  # version =")
        case "no digest":
            return text.replace("    sha256 ", "    # sha256 ")
        case "no declaration":
            return text[:start] + '  operation "send" {\n    sha256 = ""\n  }\n}\n'
        case "a declaration that is no JSON":
            return (
                text[:start] + '  operation "send" {\n    sha256 = ""\n    declares = "{"\n  }\n}\n'
            )
        case _:
            return text.replace('"builtin"', "1")


@pytest.mark.req("F4", "F1")
@pytest.mark.parametrize(
    "change",
    [
        *("a provider twice", "an operation twice", "conflict markers", "another block"),
        *("another block within", "two names", "no name", "an attribute outside"),
        *("an attribute too many", "an attribute too many within", "no source", "no version"),
        *("no digest", "no declaration", "a declaration that is no JSON", "a number for a text"),
    ],
)
def test_whatever_is_not_as_it_is_written_is_damage_that_names_its_place_and_the_way_out(
    tmp_path: Path, change: str
) -> None:
    with pytest.raises(UsageError, match=r"^agent\.lock\.hcl:[0-9]+:[0-9]+: ") as caught:
        read(merged(change), tmp_path)
    assert "is damaged: restore it; after a merge take either side's whole file" in str(
        caught.value
    )


@pytest.mark.req("K34")
def test_a_program_that_opens_a_kernel_reads_no_configuration_and_imports_no_parser() -> None:
    code = (
        "import sys, pluggableharness.kernel.kernel\n"
        "print([one for one in sys.modules if one.startswith('pluggableharness.kernel.config.')])"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert "declaration" in told.stdout
    assert "parser" not in told.stdout and "load" not in told.stdout
