"""What a provider needs to be written: operations, context, failures, serving.

Beside what stands here: `pluggableharness.sdk.render` (nodes of previews), `.jail` (files
beneath allowed roots), `.processes` (children that leave nothing behind) and `.testing`.
"""

from pluggableharness.sdk.annotations import (
    Doc,
    Ge,
    Gt,
    Le,
    Lt,
    MaxLength,
    MinLength,
    Pattern,
    Secret,
)
from pluggableharness.sdk.callbacks import Emitted, SessionOutcome
from pluggableharness.sdk.context import Context
from pluggableharness.sdk.failures import (
    Category,
    ConcurrencyConflict,
    DeclarationError,
    ExecutionFailed,
    InvalidArguments,
    KernelUnavailable,
    Misuse,
    NotFound,
    PermissionDenied,
    ResultMismatch,
    TimedOut,
    ToolFailure,
)
from pluggableharness.sdk.hooks import HookEvent
from pluggableharness.sdk.provider import Provider

__all__ = [
    "Category",
    "ConcurrencyConflict",
    "Context",
    "DeclarationError",
    "Doc",
    "Emitted",
    "ExecutionFailed",
    "Ge",
    "Gt",
    "HookEvent",
    "InvalidArguments",
    "KernelUnavailable",
    "Le",
    "Lt",
    "MaxLength",
    "MinLength",
    "Misuse",
    "NotFound",
    "Pattern",
    "PermissionDenied",
    "Provider",
    "ResultMismatch",
    "Secret",
    "SessionOutcome",
    "TimedOut",
    "ToolFailure",
]
