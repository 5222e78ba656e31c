"""Sub-agents as an ordinary operation: it asks the kernel to run a session (C20)."""
