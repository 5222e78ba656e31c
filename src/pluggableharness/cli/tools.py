"""`harness tools`: what the providers offer."""

import argparse
import os
import sys

import msgspec

from pluggableharness.cli.complaining import complain
from pluggableharness.cli.exits import DONE, FAILED
from pluggableharness.cli.hanging import hanging
from pluggableharness.cli.interrupts import run_until_done
from pluggableharness.cli.working_directory import working_directory
from pluggableharness.kernel.codec.json_schema import to_json_schema
from pluggableharness.kernel.configured import configured
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.frontends.text import shown
from pluggableharness.kernel.kernel import opened


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--json", action="store_true", help="one JSON list, schemas included")
    parser.add_argument("--cwd", metavar="DIR", default=".", help="the project's directory")


def main(options: argparse.Namespace) -> int:
    """List the operations of every provider; 1 when one is not loaded."""
    return run_until_done(lambda: _tools(options))


async def _tools(options: argparse.Namespace) -> int:
    async with opened(configured(working_directory(options.cwd), os.environ)) as kernel:
        operations = await kernel.operations()
        absent = kernel.absent
    if options.json:
        text = msgspec.json.format(msgspec.json.encode([as_json(one) for one in operations]))
        sys.stdout.write(text.decode() + "\n")
    else:
        sys.stdout.write(as_table(operations))
    for name, reason in absent.items():
        complain(f"provider {name} is not loaded: {reason}")
    return FAILED if absent else DONE


def as_json(operation: Operation) -> dict[str, object]:
    """An operation as other programs read it; the shape is part of the command's promise."""
    return {
        "provider": operation.provider,
        "operation": operation.name,
        "kind": operation.kind.value,
        "risk": operation.risk.value,
        "description": operation.description,
        "safe": operation.safe,
        "key_fields": list(operation.concurrency.key_fields) if operation.concurrency else [],
        "streaming": operation.streaming,
        "idempotent": operation.idempotent,
        "terminates_turn": operation.terminates_turn,
        "default_timeout_s": operation.default_timeout_s,
        "input_schema": to_json_schema(operation.input_schema),
        "output_schema": to_json_schema(operation.output_schema),
    }


def as_table(operations: tuple[Operation, ...]) -> str:
    """A line an operation: name, kind, risk, and the first sentence of its description."""
    width = max((len(one.full_name) for one in operations), default=0)
    return "".join(
        hanging(
            f"{one.full_name:<{width}}  {one.kind.value:<11}  {one.risk.value:<9}  ",
            shown(first_sentence(one.description)),
        )
        + "\n"
        for one in operations
    )


def first_sentence(text: str) -> str:
    """The first sentence of a description, on one line."""
    return " ".join(text.split()).partition(". ")[0].rstrip(".")
