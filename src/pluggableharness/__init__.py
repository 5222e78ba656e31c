"""An agent harness kernel: a model proposes tool calls, the kernel decides, runs and records."""

__version__ = "0.1.0"
