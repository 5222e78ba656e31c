"""What an operation declares, as people accept it and as records refer to it (F4)."""

import hashlib
import json

from pluggableharness.kernel.codec.json_schema import to_json_schema
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.values import Json


def declaration(operation: Operation) -> str:
    """All that an operation declares, as canonical JSON; what people decide about."""
    return canonical(
        {
            "kind": operation.kind.value,
            "risk": operation.risk.value,
            "description": operation.description,
            "input_schema": to_json_schema(operation.input_schema),
            "output_schema": to_json_schema(operation.output_schema),
            "idempotent": operation.idempotent,
            "terminates_turn": operation.terminates_turn,
        }
    )


def canonical(declared: Json) -> str:
    """The one text of a declaration that its digest is taken of."""
    return json.dumps(declared, sort_keys=True, ensure_ascii=False)


def digest(declared: str) -> str:
    """The SHA-256 of a declaration, as hexadecimal digits."""
    return hashlib.sha256(declared.encode(errors="surrogatepass")).hexdigest()


def operation_digest(operation: Operation) -> str:
    """The digest by which pins and standing approvals know what an operation declares (F4)."""
    return digest(declaration(operation))
