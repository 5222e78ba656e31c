"""Models: adapters that turn a history into the next message."""
