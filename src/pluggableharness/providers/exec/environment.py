"""What a command finds in its environment (C13). Reads the provider's own; knows no setting."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

_PASSED_ON: Final = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR")

_NOBODY_IS_THERE: Final = {
    "TERM": "dumb",
    # A pager or an editor waits for a person who does not come; `true` ends at once and leaves
    # the text as it was.
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GH_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "AWS_PAGER": "",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    # Questions that would go to a terminal fail instead.
    "GIT_TERMINAL_PROMPT": "0",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
}


def command_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command: the allowlist, nobody there, then `extra`."""
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {"PATH": os.defpath, **passed_on, **_NOBODY_IS_THERE, **extra}
