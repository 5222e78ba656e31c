"""Programs that will not end: Python that forks and heeds no TERM, to be run by a command."""

from typing import Final

FOREST: Final = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(7):
    if os.fork() == 0:
        os.setsid()
time.sleep(600)
"""
"""128 processes, most in a session of their own."""

CHAINS: Final = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        break
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
"""
"""Four that fork and exit for ever; few live at once, for the sake of the machine."""
