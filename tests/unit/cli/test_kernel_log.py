"""The log of the kernel beside what a terminal draws."""

import asyncio
import io
import logging
import os
import threading

import pytest
from unit.frontends.watching import BOUND_S, watched

from pluggableharness.cli.kernel_log import log_drawn_by, show_log

LOG = logging.getLogger("pluggableharness.provider.web")


@pytest.fixture
def stderr(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Standard error, after the log was shown on it; it and the output are of one terminal."""
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(os, "isatty", lambda descriptor: True)
    monkeypatch.setattr(logging.getLogger("pluggableharness"), "handlers", [])
    show_log()
    return stream


@pytest.mark.req("K28", "K32")
async def test_what_is_logged_while_something_is_typed_is_shown_after_it(
    stderr: io.StringIO,
) -> None:
    with watched() as terminal, log_drawn_by(terminal.frontend.say):
        with terminal.frontend.undisturbed():
            LOG.warning("slow\x1b[2K today")
            thread = threading.Thread(target=LOG.warning, args=["and tomorrow"])
            thread.start()
            async with asyncio.timeout(BOUND_S):
                await asyncio.to_thread(thread.join)
            await asyncio.sleep(0)
            assert terminal.screen == []
        assert terminal.screen == [
            r"harness: warning: provider.web: slow\x1b[2K today",
            "harness: warning: provider.web: and tomorrow",
        ]
    LOG.warning("when all is over")
    assert stderr.getvalue() == "harness: warning: provider.web: when all is over\n"


@pytest.mark.req("K28")
async def test_a_log_that_goes_elsewhere_than_the_screen_stays_there(
    stderr: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "isatty", lambda descriptor: descriptor == 1)
    with watched() as terminal, log_drawn_by(terminal.frontend.say):
        LOG.warning("slow today")
        assert terminal.screen == []
    assert "slow today" in stderr.getvalue()
