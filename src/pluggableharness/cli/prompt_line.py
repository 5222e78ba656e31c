"""The line that a person types a prompt on: edited, remembered, with commands completed.

Where the terminal has a cursor prompt-toolkit does it; elsewhere the terminal's own editing of
a line is what there is.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Protocol

from pluggableharness.kernel.frontends.keys import Keys


class Interrupted(Exception):
    """The interrupt key was pressed while nothing was typed."""


class PromptLine(Protocol):
    """Where prompts come from."""

    async def read(self, label: str) -> str | None:
        """The next prompt, of one line or several; None when the person leaves.

        Raises Interrupted.
        """
        ...


class PlainLine:
    """A prompt line of a terminal without a cursor: one line, edited by the terminal itself."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    async def read(self, label: str) -> str | None:
        """The next line."""

        def ask() -> None:
            sys.stdout.write(label)
            sys.stdout.flush()

        ask()
        return await self._keys.line(ask)


class EditedLine:
    """A prompt line with history, completion and pasting of several lines.

    `commands` are completed, each with what it does; `history` is offered by the arrow keys,
    the latest last.
    """

    def __init__(
        self, commands: Mapping[str, str], history: Sequence[str], *, colour: bool
    ) -> None:
        # It takes 80 ms to import, which only a conversation has to spend.
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter
        from prompt_toolkit.filters import Condition
        from prompt_toolkit.history import InMemoryHistory
        from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
        from prompt_toolkit.keys import Keys as ToolkitKeys
        from prompt_toolkit.output import ColorDepth
        from prompt_toolkit.output.vt100 import Vt100_Output

        keys = KeyBindings()

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.document.text_before_cursor.endswith("\\"):
                buffer.delete_before_cursor()
                buffer.insert_text("\n")
            else:
                buffer.validate_and_handle()

        @keys.add("escape", "enter")
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add("c-c")
        def _(event: KeyPressEvent) -> None:
            if event.current_buffer.text:
                event.current_buffer.reset()
            else:
                event.app.exit(exception=Interrupted())

        # Neither a mouse nor a place of the cursor is ever asked for: what looks like a report of
        # one was pasted, and prompt-toolkit raises at most of it.
        @keys.add(ToolkitKeys.Vt100MouseEvent)
        @keys.add(ToolkitKeys.CPRResponse)
        def _(event: KeyPressEvent) -> None:
            pass

        # A question about the cursor's place would be answered into what is typed next where
        # nobody asks for the answer any more.
        output = Vt100_Output.from_pty(sys.stdout, term=os.environ.get("TERM"))
        output.enable_cpr = False
        self._session: PromptSession[str] = PromptSession(
            completer=WordCompleter(list(commands), meta_dict=dict(commands), sentence=True),
            # Where nothing can be completed no room is kept for what could be.
            complete_while_typing=Condition(lambda: self._typed.startswith("/")),
            history=InMemoryHistory(list(history)),
            key_bindings=keys,
            multiline=True,
            prompt_continuation="  ",
            reserve_space_for_menu=len(commands),
            color_depth=None if colour else ColorDepth.DEPTH_1_BIT,
            output=output,
        )

    @property
    def _typed(self) -> str:
        return self._session.default_buffer.text

    async def read(self, label: str) -> str | None:
        """The next prompt."""
        try:
            return await self._session.prompt_async(label, handle_sigint=False)
        except EOFError:
            return None
