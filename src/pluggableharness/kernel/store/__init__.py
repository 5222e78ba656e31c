"""The record of sessions: one SQLite file each, append-only and chained by hashes (K27, K29).

`log` writes, `reading` reads and verifies, `export` makes lines of JSON. It knows nothing of
what payloads mean; `docs/design/record.md` tells the format.
"""
