"""The record of sessions: one SQLite file each, append-only and chained by hashes (K27, K29).

`session_record` files in the session's words, `log` writes, `reading` reads and verifies,
`export` makes lines of JSON. `docs/design/record.md` tells the format and its guarantees.
"""
