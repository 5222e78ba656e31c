"""An agent harness kernel: a model proposes, the kernel decides, runs and records (K34).

What stands in `__all__` is the library. Importing the package imports none of it: each name
comes from its module when it is first asked for.
"""

from pluggableharness.version import __version__ as __version__

TYPE_CHECKING = False  # to a type checker it is true, and `typing` is not worth its time here

if TYPE_CHECKING:
    from pluggableharness.kernel.domain.bounds import Bounds
    from pluggableharness.kernel.domain.call import Call, ProposedCall
    from pluggableharness.kernel.domain.errors import (
        GrantNotKept,
        HarnessError,
        ModelFailed,
        ProviderUnavailable,
        RecordFailed,
        UsageError,
    )
    from pluggableharness.kernel.domain.message import (
        Message,
        ModelReply,
        Role,
        Text,
        ToolResult,
        Usage,
    )
    from pluggableharness.kernel.domain.news import (
        CallEnded,
        CallEvent,
        CallRefused,
        CallStarted,
        FromChild,
        ItemDecided,
        MessageArrived,
        News,
        Notice,
        PlanApplied,
        PlanReady,
        SessionEnded,
        SessionStarted,
        TextDelta,
    )
    from pluggableharness.kernel.domain.operation import Kind, Operation, Risk
    from pluggableharness.kernel.domain.outcome import ErrorCategory, Failure, Outcome, Success
    from pluggableharness.kernel.domain.plan import Answer, Lasting, PlanItem, Scope
    from pluggableharness.kernel.domain.profile import Profile
    from pluggableharness.kernel.domain.session import SessionEnd, SessionStatus
    from pluggableharness.kernel.first_party import first_party
    from pluggableharness.kernel.kernel import Kernel, opened
    from pluggableharness.kernel.plugins.spec import ProviderSpec
    from pluggableharness.kernel.policy.rules import Rule
    from pluggableharness.kernel.session.outside import OutsideCalls
    from pluggableharness.kernel.session.session import Session
    from pluggableharness.kernel.setup import Setup
    from pluggableharness.kernel.turn.ports import Frontend, Model
    from pluggableharness.library.answering import answering
    from pluggableharness.library.models import model, models, script
    from pluggableharness.library.opening import project
    from pluggableharness.library.records import Record, record
    from pluggableharness.library.tools import Tool, text_of, tools

_MODULES = {
    "kernel.domain.bounds": ("Bounds",),
    "kernel.domain.call": (
        "Call",
        "ProposedCall",
    ),
    "kernel.domain.errors": (
        "GrantNotKept",
        "HarnessError",
        "ModelFailed",
        "ProviderUnavailable",
        "RecordFailed",
        "UsageError",
    ),
    "kernel.domain.message": (
        "Message",
        "ModelReply",
        "Role",
        "Text",
        "ToolResult",
        "Usage",
    ),
    "kernel.domain.news": (
        "CallEnded",
        "CallEvent",
        "CallRefused",
        "CallStarted",
        "FromChild",
        "ItemDecided",
        "MessageArrived",
        "News",
        "Notice",
        "PlanApplied",
        "PlanReady",
        "SessionEnded",
        "SessionStarted",
        "TextDelta",
    ),
    "kernel.domain.operation": (
        "Kind",
        "Operation",
        "Risk",
    ),
    "kernel.domain.outcome": (
        "ErrorCategory",
        "Failure",
        "Outcome",
        "Success",
    ),
    "kernel.domain.plan": (
        "Answer",
        "Lasting",
        "PlanItem",
        "Scope",
    ),
    "kernel.domain.profile": ("Profile",),
    "kernel.domain.session": (
        "SessionEnd",
        "SessionStatus",
    ),
    "kernel.first_party": ("first_party",),
    "kernel.kernel": (
        "Kernel",
        "opened",
    ),
    "kernel.plugins.spec": ("ProviderSpec",),
    "kernel.policy.rules": ("Rule",),
    "kernel.session.outside": ("OutsideCalls",),
    "kernel.session.session": ("Session",),
    "kernel.setup": ("Setup",),
    "kernel.turn.ports": (
        "Frontend",
        "Model",
    ),
    "library.answering": ("answering",),
    "library.models": (
        "model",
        "models",
        "script",
    ),
    "library.opening": ("project",),
    "library.records": (
        "Record",
        "record",
    ),
    "library.tools": (
        "Tool",
        "text_of",
        "tools",
    ),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Answer",
    "Bounds",
    "Call",
    "CallEnded",
    "CallEvent",
    "CallRefused",
    "CallStarted",
    "ErrorCategory",
    "Failure",
    "FromChild",
    "Frontend",
    "GrantNotKept",
    "HarnessError",
    "ItemDecided",
    "Kernel",
    "Kind",
    "Lasting",
    "Message",
    "MessageArrived",
    "Model",
    "ModelFailed",
    "ModelReply",
    "News",
    "Notice",
    "Operation",
    "Outcome",
    "OutsideCalls",
    "PlanApplied",
    "PlanItem",
    "PlanReady",
    "Profile",
    "ProposedCall",
    "ProviderSpec",
    "ProviderUnavailable",
    "Record",
    "RecordFailed",
    "Risk",
    "Role",
    "Rule",
    "Scope",
    "Session",
    "SessionEnd",
    "SessionEnded",
    "SessionStarted",
    "SessionStatus",
    "Setup",
    "Success",
    "Text",
    "TextDelta",
    "Tool",
    "ToolResult",
    "Usage",
    "UsageError",
    "answering",
    "first_party",
    "model",
    "models",
    "opened",
    "project",
    "record",
    "script",
    "text_of",
    "tools",
]


def __getattr__(name: str) -> object:
    """A public name, from its module."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # put off, as everything here: the command line comes through this file

    value: object = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, asked for or not."""
    return sorted({*globals(), *__all__})
