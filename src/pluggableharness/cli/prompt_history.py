"""What a person typed before, kept for the next conversation: private, and never much."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from pluggableharness.kernel.config.writing import replace_file
from pluggableharness.kernel.regular import opened
from pluggableharness.kernel.store.location import make_private, state_directory

MOST_ENTRIES = 500
_MOST_BYTES = 1024 * 1024
_LONGEST = 16 * 1024


def history_path(environ: Mapping[str, str]) -> Path:
    """`$XDG_STATE_HOME/pluggableharness/history`. Raises NoStateDirectory."""
    return state_directory(environ) / "history"


def read_history(path: Path) -> list[str]:
    """The prompts, the oldest first; none when there is no such file or it is no such thing."""
    try:
        with opened(path, os.O_NOFOLLOW) as file:
            data = file.read(_MOST_BYTES)
    except OSError:
        return []
    prompts = [_prompt(line) for line in data.split(b"\n")]
    return [prompt for prompt in prompts if prompt is not None][-MOST_ENTRIES:]


def remember(path: Path, prompt: str) -> None:
    """Add a prompt, unless it is the last one again or very long.

    The file is written whole, so that a reader never sees half of it; when it cannot be
    written the prompt is not remembered, and nothing else is wrong.
    """
    known = read_history(path)
    if len(prompt) > _LONGEST or known[-1:] == [prompt]:
        return
    lines = [json.dumps(one) for one in [*known, prompt][-MOST_ENTRIES:]]
    while sum(map(len, lines)) + len(lines) > _MOST_BYTES:
        del lines[0]
    try:
        make_private(path.parent)
        replace_file(path, "".join(f"{line}\n" for line in lines))
    except OSError:
        pass


def _prompt(line: bytes) -> str | None:
    try:
        prompt = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return prompt if isinstance(prompt, str) and prompt else None
