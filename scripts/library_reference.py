"""The page docs/reference/library.md, from the docstrings of the public names."""

import ast
import importlib
import inspect
import itertools

import pluggableharness

_HEAD = """\
# The library's names

Everything below comes from `pluggableharness` itself: `from pluggableharness import opened`.
Whatever else a module holds may change without notice. How they play together is in
[embed-the-kernel.md](../how-to/embed-the-kernel.md). Written by `scripts/references.py`.
"""

_GROUPS = {
    "Starting": (
        "project", "Setup", "ProviderSpec", "first_party", "Profile", "Bounds", "Rule", "opened",
        "Kernel",
    ),
    "Sessions": (
        "Session", "SessionEnd", "SessionStatus", "Model", "ModelReply", "model", "models",
        "script",
    ),
    "Calls from outside": ("OutsideCalls", "tools", "Tool", "text_of"),
    "Answering": ("answering", "Frontend", "PlanItem", "Answer", "Lasting", "Scope"),
    "Operations and calls": (
        "Operation", "Kind", "Risk", "ProposedCall", "Call", "Outcome", "Success", "Failure",
        "ErrorCategory",
    ),
    "Messages": ("Message", "Role", "Text", "ToolResult", "Usage"),
    "News": (
        "News", "SessionStarted", "TextDelta", "MessageArrived", "CallRefused", "PlanReady",
        "ItemDecided", "CallStarted", "CallEvent", "CallEnded", "PlanApplied", "Notice",
        "FromChild", "SessionEnded",
    ),
    "Records": ("record", "Record"),
    "Errors": (
        "HarnessError", "UsageError", "ProviderUnavailable", "ModelFailed", "GrantNotKept",
        "RecordFailed",
    ),
}  # fmt: skip


def page() -> str:
    """The page. Raises ValueError when a public name is in no group, or one that is not public."""
    strays = set(pluggableharness.__all__) ^ {name for names in _GROUPS.values() for name in names}
    if strays:
        raise ValueError(f"in __all__ or in a group, not in both: {', '.join(sorted(strays))}")
    return "\n".join([_HEAD, *(_group(title, names) for title, names in _GROUPS.items())])


def _group(title: str, names: tuple[str, ...]) -> str:
    rows = [f"| `{_called(name)}` | {_described(name)} |" for name in names]
    return "\n".join([f"## {title}", "", "| name | what it is |", "| --- | --- |", *rows, ""])


def _called(name: str) -> str:
    """The name, for a function with the names of its parameters."""
    value = getattr(pluggableharness, name)
    if not inspect.isfunction(value):
        return name
    return f"{name}({', '.join(inspect.signature(value).parameters)})"


def _described(name: str) -> str:
    """The first paragraph of a name's docstring; that of an alias stands below it."""
    value = getattr(pluggableharness, name)
    plain = isinstance(value, type) or inspect.isfunction(value)
    text = inspect.getdoc(value) if plain else _below(name)
    assert text, name
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|")


def _below(name: str) -> str:
    """The text that stands below an assignment in the module of a name."""
    home = importlib.import_module(f"pluggableharness.{pluggableharness._HOMES[name]}")
    for node, after in itertools.pairwise(ast.parse(inspect.getsource(home)).body):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            text = after.value if isinstance(after, ast.Expr) else None
            if node.targets[0].id == name and isinstance(text, ast.Constant):
                return str(text.value)
    raise ValueError(f"{name} has no docstring")
