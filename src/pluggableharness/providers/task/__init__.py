"""Tasks that a session keeps track of: created, updated, listed, surviving restarts (C19)."""
