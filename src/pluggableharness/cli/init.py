"""`harness init`: a first agent.hcl for the project that is here (F12)."""

import argparse
import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pluggableharness.cli.complaining import complain
from pluggableharness.cli.exits import DONE, USAGE
from pluggableharness.cli.working_directory import working_directory
from pluggableharness.kernel.config.finding import FILE_NAME
from pluggableharness.kernel.config.load import read_source
from pluggableharness.kernel.config.writing import written_value
from pluggableharness.kernel.domain.errors import UsageError

_EPILOG = """\
examples:
  harness init
  harness init --cwd ~/project

Writes agent.hcl, with comments, as it fits the project; one that exists is left as it is.
"""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of project: what it is called, and the commands that only test or check it.

    `guess` is one that nothing in the project speaks of: it is offered in a comment.
    """

    name: str
    commands: tuple[str, ...]
    guess: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.epilog = _EPILOG
    parser.add_argument("--cwd", metavar="DIR", default=".", help="the project's directory")


def main(options: argparse.Namespace) -> int:
    """Write the file; 2 when there is one, or it cannot be written."""
    try:
        directory = working_directory(options.cwd)
        kinds = tuple(project_kinds(directory))
        _write_new(directory / FILE_NAME, text_for(kinds, instructions_file(directory)))
    except UsageError as error:
        complain(error)
        return USAGE
    found = " and ".join(kind.name for kind in kinds) or "a project of no known kind"
    print(f"wrote {FILE_NAME} for {found}; next: harness config check")
    return DONE


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path.name} is there already, and is left as it is") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def project_kinds(directory: Path) -> Iterator[Kind]:
    """What kinds of project a directory holds, by the files that their tools need."""
    if any((directory / name).is_file() for name in ("pyproject.toml", "setup.py", "setup.cfg")):
        yield Kind("Python", _python_commands(directory), "python3 -m unittest")
    if (directory / "package.json").is_file():
        yield Kind("Node", _node_commands(directory))
    if (directory / "go.mod").is_file():
        yield Kind("Go", ("go test ./...", "go vet ./..."))
    if (directory / "Cargo.toml").is_file():
        yield Kind("Rust", ("cargo test", "cargo check"))
    makefile = directory / "Makefile"
    if makefile.is_file() and any(line.startswith("test:") for line in _text(makefile).split("\n")):
        yield Kind("make", ("make test",))


def _python_commands(directory: Path) -> tuple[str, ...]:
    try:
        project = tomllib.loads(_text(directory / "pyproject.toml"))
    except tomllib.TOMLDecodeError:
        project = {}
    tools = project.get("tool", {})
    named = "pytest" in str(project) or "pytest" in _text(directory / "setup.cfg")
    tests = named or any((directory / name).is_file() for name in _FILES_OF_PYTEST)
    checks = (name for name in ("mypy", "ruff") if isinstance(tools, dict) and name in tools)
    return (
        *(["python -m pytest"] if tests else []),
        *({"mypy": "mypy", "ruff": "ruff check"}[name] for name in checks),
    )


_FILES_OF_PYTEST = ("pytest.ini", "conftest.py", "tests/conftest.py")


def _node_commands(directory: Path) -> tuple[str, ...]:
    try:
        package = json.loads(_text(directory / "package.json"))
    except ValueError:
        package = {}
    scripts = package.get("scripts") if isinstance(package, dict) else None
    names = [name for name in ("test", "lint") if isinstance(scripts, dict) and name in scripts]
    return tuple("npm test" if name == "test" else f"npm run {name}" for name in names)


def _text(path: Path) -> str:
    try:
        return read_source(path, path.name).text
    except UsageError:
        return ""


_INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md")
"""Files that projects keep for agents, the first that is there counts."""


def instructions_file(directory: Path) -> str | None:
    """The file of a project that says how agents should work in it."""
    root = directory.resolve()
    there = (name for name in _INSTRUCTIONS if (root / name).is_file())
    return next((name for name in there if (root / name).resolve().is_relative_to(root)), None)


def text_for(kinds: tuple[Kind, ...], instructions: str | None = None) -> str:
    """The whole file."""
    commands = [command for kind in kinds for command in kind.commands]
    told = f'instructions_file = "{instructions or _INSTRUCTIONS[0]}"'
    guess = next((kind.guess for kind in kinds if kind.guess), "make test")
    text = _TEMPLATE.replace("@COMMANDS@", _command_rule(commands, guess))
    return text.replace("@INSTRUCTIONS@", told if instructions else f"# {told}")


def _command_rule(commands: list[str], guess: str) -> str:
    """The rule for a project's own checks, each command allowed exactly as it stands there.

    Without any it is a comment.
    """
    if not commands:
        return _NO_COMMANDS.replace("@GUESS@", guess)
    return _COMMANDS.replace("@LIST@", written_value(f"arguments.command in {_cel(commands)}"))


def _cel(texts: list[str]) -> str:
    return "[" + ", ".join(f"'{text}'" for text in texts) + "]"


_COMMANDS = """\
# The project's tests and checks, exactly as written here. Whoever may edit the project decides
# what these do: take the rule out if that is not only you.
policy "checks" {
  match  = { provider = "exec", tool_name = "bash" }
  when   = @LIST@
  action = "allow"
}
"""

_NO_COMMANDS = """\
# Your project's tests could be allowed so:
#
# policy "checks" {
#   match  = { provider = "exec", tool_name = "bash" }
#   when   = "arguments.command in ['@GUESS@']"
#   action = "allow"
# }
"""

_TEMPLATE = """\
# What agents may do in this project. `harness config check` says whether this file is right,
# `harness config show` what it comes to.

# Every provider that is loaded. Another one: NAME = { source = "./path/to/executable" }.
required_providers {
  filesystem = { source = "builtin" }
  search     = { source = "builtin" }
  exec       = { source = "builtin" }
  web        = { source = "builtin" }
  task       = { source = "builtin" }
  user       = { source = "builtin" }
  agent      = { source = "builtin" }
}

provider "filesystem" {
  # Folders that files may be in; without this, the working directory.
  # allowed_roots = [path.root]

  # An existing file must have been read before it is replaced.
  require_read = true
}

provider "exec" {
  # Variables that commands get beside PATH, HOME and the like: NAME = "value", or of your own
  # environment NAME = env("NAME").
  env = {}

  timeout {
    bash = "10m"
  }
}

# Rules: the most specific one decides. Without one, whatever changes something asks.

# Reading and searching change nothing.
policy "reads" {
  match  = { kind = "data_source" }
  action = "allow"
}

# The agent's own list of tasks is seen by nobody else.
policy "tasks" {
  match  = { provider = "task" }
  action = "allow"
}

@COMMANDS@
# What a session may use and how far it may go.
agent_profile "default" {
  tools     = ["filesystem.*", "search.*", "exec.*", "web.*", "task.*", "user.*", "agent.*"]
  max_turns = 100

  # What the model is told beside your prompts; instructions = "…" says it here.
  @INSTRUCTIONS@

  # model {
  #   primary {
  #     provider = "VENDOR"
  #     id       = "MODEL"
  #   }
  # }
}

settings {
  log_level = "warning"
}
"""
