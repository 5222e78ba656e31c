"""What there is to tell of a command at any time: the result's fields so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pluggableharness.providers.exec.kept import KeptOutput
from pluggableharness.sdk.processes import Chunk, Ending


class Record:
    """One command from its start to its end. Close it when nothing more comes."""

    def __init__(
        self, working_directory: Path, note: str | None, explain: Callable[[str], str | None]
    ) -> None:
        """Begin; `explain` says what the complaints in an output about the sandbox mean."""
        self._began = time.monotonic()
        self._notes = [note] if note else []
        self._explain = explain
        self._output = KeptOutput(working_directory)
        self._ending: Ending | None = None

    async def add(self, event: Chunk | Ending) -> None:
        """Take an event of the running command."""
        match event:
            case Chunk():
                await self._output.add(event)
            case Ending():
                self._ending = event

    def tell(self, note: str) -> None:
        """Take what a reader of the result has to know."""
        self._notes.append(note)

    async def fields(self) -> dict[str, Any]:
        """Return the fields of the result that are known, without those that say nothing."""
        shown = await self._output.shown()
        said = (*self._notes, shown.note, self._explain(shown.text))
        notes = [note for note in said if note]
        fields = {
            "exit_code": self._ending and self._ending.exit_code,
            "signal": self._ending and self._ending.signal,
            "output": shown.text,
            "truncated": shown.truncated,
            "total_bytes": shown.total_bytes,
            "output_file": shown.file,
            "duration_ms": round((time.monotonic() - self._began) * 1000),
            "note": "; ".join(notes) or None,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def close(self) -> None:
        """Let go of the output's file."""
        self._output.close()
