"""The `script` model: plays a written list of messages and calls (K36).

A script is YAML:

    prompt: Fix the failing test
    messages:
      - say: I will look at the code first.
        calls:
          - id: look
            tool: filesystem.read_file
            arguments: {path: app.py}
      - say: It has ${look.total_lines} lines.

    agents:
      tester:
        tools: [exec.bash]
        messages: [{say: All tests pass.}]

`agents` are the profiles that spawn_subagent may name; each plays its own messages from the
start.

`${id.field.0.field}` stands for what an earlier call gave back: alone in a value it keeps its
type, within text it is written out; `$${` is a literal `${`. The script knows only what the
model is shown: results come from the history, so a failed call has `${id.error.category}` and
`${id.error.message}` instead of its payload, and one that a person edited `${id.note}` as well.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import yaml

from pluggableharness.kernel.domain.call import ProposedCall
from pluggableharness.kernel.domain.errors import ModelFailed, UsageError
from pluggableharness.kernel.domain.message import (
    Block,
    Message,
    ModelReply,
    Role,
    Text,
    ToolResult,
)
from pluggableharness.kernel.domain.operation import Operation
from pluggableharness.kernel.domain.outcome import Success
from pluggableharness.kernel.domain.profile import Profile
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.models.script_place import mistake

_REFERENCE = re.compile(r"\$(\$\{|\{([A-Za-z0-9_\-]+)((?:\.[A-Za-z0-9_\-]+)*)\})")


class ScriptCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One call of a script; `id` is needed only where something refers to it."""

    tool: str
    arguments: dict[str, object] = {}
    id: str = ""


class ScriptMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One message of a script: text, calls, or both."""

    say: str = ""
    calls: tuple[ScriptCall, ...] = ()


class ScriptAgent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a child session of one profile plays; `tools` as in a profile, none by default."""

    messages: tuple[ScriptMessage, ...]
    tools: tuple[str, ...] = ()
    depth: int = 0
    max_concurrent_subagents: int = 4


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole script, with the agents that it may spawn, by the names of their profiles."""

    messages: tuple[ScriptMessage, ...]
    prompt: str = "Play the script."
    agents: dict[str, ScriptAgent] = {}


_FIELDS = {
    "script": Script.__struct_fields__,
    "agent": ScriptAgent.__struct_fields__,
    "message": ScriptMessage.__struct_fields__,
    "call": ScriptCall.__struct_fields__,
}


_LARGEST = 16 << 20
"""Bytes of a script."""


def read_script(path: Path) -> Script:
    """Read a script. Raises UsageError that names the file and the place."""
    try:
        # A pipe is welcome, as `<(...)` makes one, and what never ends is not.
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise UsageError(f"script {path}: is larger than 16 MiB; no script is")
        parsed = yaml.safe_load(data.decode())
    except OSError as error:
        raise UsageError(f"script {path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"script {path}: not YAML: {error}") from error
    script = _converted(path, parsed)
    _check_ids(path, script.messages)
    for agent in script.agents.values():
        _check_ids(path, agent.messages)
    return script


def _converted(path: Path, parsed: object) -> Script:
    # Agents one by one: msgspec's path does not say which of a mapping's values is wrong.
    agents = parsed.get("agents") if isinstance(parsed, dict) else None
    for name, agent in agents.items() if isinstance(agents, dict) else ():
        try:
            msgspec.convert(agent, ScriptAgent)
        except msgspec.ValidationError as error:
            told = mistake(str(error), _FIELDS, str(name))
            raise UsageError(f"script {path}: {told}") from error
    try:
        return msgspec.convert(parsed, Script)
    except msgspec.ValidationError as error:
        raise UsageError(f"script {path}: {mistake(str(error), _FIELDS)}") from error


def script_profiles(script: Script) -> tuple[Profile, ...]:
    """The profiles that a script's calls may spawn agents under."""
    return tuple(
        Profile(
            name,
            agent.tools,
            depth=agent.depth,
            max_concurrent_subagents=agent.max_concurrent_subagents,
        )
        for name, agent in script.agents.items()
    )


def agent_model(script: Script, profile: Profile) -> "ScriptModel":
    """The model that plays a profile's agent. Raises UsageError when none is written."""
    agent = script.agents.get(profile.name)
    if agent is None:
        raise UsageError(f"the script holds no agent {in_quotes(profile.name)} under `agents`")
    return ScriptModel(Script(agent.messages), f"script {profile.name}")


def _check_ids(path: Path, messages: Sequence[ScriptMessage]) -> None:
    seen: set[str] = set()
    for call in (call for message in messages for call in message.calls if call.id):
        if call.id in seen:
            raise UsageError(f"script {path}: the id {in_quotes(call.id)} is used twice")
        seen.add(call.id)


@dataclass(slots=True)
class ScriptModel:
    """Plays a script's messages in order, one for each time it is asked."""

    script: Script
    name: str = "script"

    async def reply(
        self,
        history: Sequence[Message],
        offered: Sequence[Operation],
        heard: Callable[[str], Awaitable[None]],
    ) -> ModelReply:
        """The next message; after the last one, silence. Raises ModelFailed on a bad reference."""
        said = (one for one in history if one.role is Role.ASSISTANT and not one.interrupted)
        number = len(tuple(said))
        if number >= len(self.script.messages):
            return ModelReply(Message(Role.ASSISTANT, ()))
        written = self.script.messages[number]
        known = _results(history)
        blocks: list[Block] = []
        if written.say:
            text = str(_filled(written.say, known, number))
            await heard(text)
            blocks.append(Text(text))
        for position, call in enumerate(written.calls, 1):
            arguments = {
                key: _filled(value, known, number) for key, value in call.arguments.items()
            }
            name = call.id or f"message-{number + 1}-call-{position}"
            blocks.append(ProposedCall(name, call.tool, arguments))
        return ModelReply(Message(Role.ASSISTANT, tuple(blocks)))


def _results(history: Sequence[Message]) -> dict[str, JsonObject]:
    return {
        block.tool_use_id: _as_seen(block)
        for message in history
        for block in message.blocks
        if isinstance(block, ToolResult)
    }


def _as_seen(result: ToolResult) -> JsonObject:
    note: JsonObject = {"note": result.note} if result.note else {}
    if isinstance(result.outcome, Success):
        return {**note, **result.outcome.payload}
    failure = result.outcome
    return {**note, "error": {"category": failure.category.value, "message": failure.message}}


def _filled(value: object, known: Mapping[str, JsonObject], number: int) -> Json:
    """The value with every reference in its texts replaced, at any depth."""
    if isinstance(value, str):
        return _filled_text(value, known, number)
    if isinstance(value, dict):
        return {str(key): _filled(item, known, number) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, known, number) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    raise ModelFailed(f"script message {number + 1}: {value!r} is not a JSON value; quote it")


def _filled_text(text: str, known: Mapping[str, JsonObject], number: int) -> Json:
    whole = _REFERENCE.fullmatch(text)
    if whole and whole[2]:
        return _looked_up(whole, known, number)

    def written_out(match: re.Match[str]) -> str:
        if not match[2]:
            return "${"
        found = _looked_up(match, known, number)
        return found if isinstance(found, str) else msgspec.json.encode(found).decode()

    return _REFERENCE.sub(written_out, text)


def _looked_up(match: re.Match[str], known: Mapping[str, JsonObject], number: int) -> Json:
    where = f"script message {number + 1}: {match[0]}"
    if match[2] not in known:
        there = ", ".join(sorted(known)) or "none yet"
        raise ModelFailed(f"{where}: no earlier call has this id; there are: {there}")
    found: Json = known[match[2]]
    for step in match[3].split(".")[1:]:
        found = _step(found, step, where)
    return found


def _step(value: Json, step: str, where: str) -> Json:
    found: Json
    if isinstance(value, Mapping) and step in value:
        found = value[step]
    elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
        found = value[int(step)]
    else:
        there = ", ".join(sorted(value)) if isinstance(value, Mapping) else type(value).__name__
        raise ModelFailed(f"{where}: there is no {in_quotes(step)}; there is: {there}")
    return found
