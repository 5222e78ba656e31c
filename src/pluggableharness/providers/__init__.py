"""The first-party providers, each a process of its own."""
