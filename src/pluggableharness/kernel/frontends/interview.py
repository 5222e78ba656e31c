"""Puts an interactive call to a person and shapes the answer like its output (C21). Uses rich."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from rich.text import Text

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.operation import Schema, SchemaType
from pluggableharness.kernel.domain.values import Json, JsonObject
from pluggableharness.kernel.frontends.child_lines import place
from pluggableharness.kernel.frontends.dialogue import Dialogue
from pluggableharness.kernel.frontends.drawing import Drawing
from pluggableharness.kernel.frontends.lines import boxed
from pluggableharness.kernel.frontends.reply import chosen
from pluggableharness.kernel.frontends.text import shown

_MOST_UNCLEAR = 3


@dataclass(slots=True)
class Interview:
    """Asks for each required field of the call's output.

    What the arguments may say about the asking: `options` (texts to choose from, by number or
    letter), `multiple`, and `default`, which stands for an empty answer. With options, an
    optional list of texts in the output, the first one, gets what was selected.
    """

    dialogue: Dialogue
    call: Call

    async def ask(self) -> JsonObject | None:
        """The answer; None when the input ends or three answers in a row are of no use."""
        self._show()
        output = self.call.operation.output_schema
        answer: dict[str, Json] = {}
        for name in output.required:
            value = await self._field(
                name, output.properties[name], alone=len(output.required) == 1
            )
            if value is None:
                return None
            answer[name] = value[0]
            if value[1] is not None and (listed := _list_of_texts(output)):
                answer[listed] = value[1]
        return answer

    def _show(self) -> None:
        looks = self.dialogue.screen.looks
        drawing = Drawing(looks, self.dialogue.screen.width - 2, whole=True)
        rest = {
            name: value
            for name, value in self.call.arguments.items()
            if not (name == "options" and self._options)
        }
        body = drawing.arguments(rest)
        for number, option in enumerate(self._options, 1):
            body += drawing.numbered(number, option)
        title = Text(shown(self.call.operation.full_name, looks.encoding), "bold")
        if asker := place(self.call.context.path, looks):
            title.append(f" {looks.glyphs.dot} {asker}", "not bold")
        for line in boxed(title, body + drawing.notes(), looks):
            self.dialogue.say(line)

    async def _field(
        self, name: str, schema: Schema, *, alone: bool
    ) -> tuple[Json, list[str] | None] | None:
        """A field's value, and the options that it stands for; None when there is no answer."""
        for _ in range(_MOST_UNCLEAR):
            asked = "" if alone else f"{shown(name)} "
            line = await self.dialogue.line(asked, (self._hint(), "faint"), "> ", fresh=True)
            if line is None:
                return None
            try:
                return self._value(line.strip(), schema)
            except ValueError as error:
                self.dialogue.say(f"  {error}", "warning")
        return None

    def _value(self, line: str, schema: Schema) -> tuple[Json, list[str] | None]:
        default = self.call.arguments.get("default")
        confirms = not line and isinstance(default, str)
        if confirms:
            line = str(default)
        if not line:
            raise ValueError("an answer is needed")
        if schema.type is SchemaType.STRING and self._options:
            several = self.call.arguments.get("multiple") is True
            picked = chosen(line, self._options, several=several, letters=True)
            if picked is None and confirms:
                return line, None  # whoever asked meant it, as one of the options or beside them
            if picked is None:
                count = len(self._options)
                raise ValueError(
                    f"choose by number or letter, 1 to {count}"
                    + (", or several: 1,2" if several else "")
                )
            return ", ".join(picked), picked
        return _parsed(line, schema), None

    def _hint(self) -> str:
        """What may be typed, where that is not just anything."""
        several = self.call.arguments.get("multiple") is True
        count = len(self._options)
        hint = f"1-{count}{', several: 1,2' if several else ''} " if count > 1 else ""
        default = self.call.arguments.get("default")
        return hint + ("(Return for the default) " if isinstance(default, str) else "")

    @property
    def _options(self) -> list[str]:
        options = self.call.arguments.get("options")
        if isinstance(options, Sequence) and not isinstance(options, str):
            return [option for option in options if isinstance(option, str)]
        return []


def _list_of_texts(output: Schema) -> str | None:
    """The name of the first optional list of texts."""
    for name, schema in output.properties.items():
        is_texts = schema.items is not None and schema.items.type is SchemaType.STRING
        if name not in output.required and is_texts:
            return name
    return None


def _parsed(line: str, schema: Schema) -> Json:
    """A typed line as a value. Raises ValueError that says what is expected."""
    match schema.type:
        case SchemaType.STRING:
            if schema.enum_values and line not in schema.enum_values:
                raise ValueError(f"one of {', '.join(map(shown, schema.enum_values))}")
            return line
        case SchemaType.BOOLEAN:
            known = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}
            if line.lower() not in known:
                raise ValueError("yes or no")
            return known[line.lower()]
        case SchemaType.NUMBER:
            return _parsed_number(line)
        case SchemaType.ARRAY | SchemaType.OBJECT:
            return _parsed_json(line, schema.type)
        case _:
            assert_never(schema.type)


def _parsed_number(line: str) -> Json:
    try:
        number = float(line)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError("a number is needed")
    return int(number) if number.is_integer() else number


def _parsed_json(line: str, expected: SchemaType) -> Json:
    try:
        value: Json = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if expected is SchemaType.ARRAY and isinstance(value, list):
        return value
    if expected is SchemaType.OBJECT and isinstance(value, Mapping):
        return value
    raise ValueError(f"JSON is needed: one {expected.value} on one line")
