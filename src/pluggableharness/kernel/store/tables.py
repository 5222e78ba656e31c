"""The tables of a log, and the statements that write to them (K27)."""

APPLICATION_ID = 0x50484C47
"""`PHLG`, in the header of every log, so that `file` and we know one."""

FORMAT = 1
"""The `user_version` of logs that this code writes; a higher one is not opened."""

CREATE = f"""
BEGIN IMMEDIATE;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT};
CREATE TABLE producers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    source TEXT NOT NULL,
    category TEXT NOT NULL,
    protocol_version INTEGER NOT NULL
);
CREATE TABLE events (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    time INTEGER NOT NULL, -- microseconds since 1970, UTC
    kind TEXT NOT NULL,
    producer INTEGER NOT NULL REFERENCES producers (id),
    schema_version TEXT NOT NULL,
    payload BLOB NOT NULL,
    hash BLOB NOT NULL
);
CREATE TABLE session_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE plan_items (
    id TEXT PRIMARY KEY,
    turn_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    kind TEXT NOT NULL,
    risk TEXT NOT NULL,
    description TEXT NOT NULL,
    arguments TEXT NOT NULL, -- JSON
    preview BLOB, -- render.v1.RenderTree
    decision TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    reason TEXT NOT NULL,
    downgraded_from TEXT,
    applied TEXT
) WITHOUT ROWID;
CREATE TABLE cost_ledger (
    entry INTEGER PRIMARY KEY,
    sequence INTEGER NOT NULL, -- of the event that cost it, or came before
    account TEXT NOT NULL, -- session, review, or the id of a child session
    model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL
);
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_never_removed BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
COMMIT;
"""

ADD_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
ADD_PRODUCER = "INSERT INTO producers VALUES (?, ?, ?, ?, ?, ?)"
PUT_META = "INSERT OR REPLACE INTO session_meta VALUES (?, ?)"
PUT_PLAN_ITEM = "INSERT OR REPLACE INTO plan_items VALUES (?" + ", ?" * 14 + ")"
ADD_COST = "INSERT INTO cost_ledger VALUES (NULL, ?, ?, ?, ?, ?, ?)"

EVENTS_AFTER = "SELECT * FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?"
PRODUCERS = "SELECT * FROM producers"
LAST_SEQUENCE = "SELECT coalesce(max(sequence), 0) FROM events"
META = "SELECT key, value FROM session_meta"
SPENT = (
    "SELECT coalesce(sum(cost_usd), 0), coalesce(sum(input_tokens), 0),"
    " coalesce(sum(output_tokens), 0) FROM cost_ledger WHERE account != 'review'"
)
EXTENT = (
    "SELECT coalesce((SELECT time FROM events WHERE sequence = 1), 0),"
    " coalesce((SELECT time FROM events ORDER BY sequence DESC LIMIT 1), 0),"
    " coalesce((SELECT max(sequence) FROM events), 0)"
)
COST = "SELECT coalesce(sum(cost_usd), 0) FROM cost_ledger"
