"""A session: turns, one after another, from a prompt to an end."""
