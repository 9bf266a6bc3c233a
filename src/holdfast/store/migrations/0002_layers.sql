-- A layer is what a command changed before that is real; an undo has a row here too, though no folder.
CREATE TABLE layers (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    session_id TEXT NOT NULL,
    call_id TEXT NOT NULL, -- of the command
    kept_by TEXT NOT NULL DEFAULT '', -- the call that made it real
    undoes TEXT NOT NULL DEFAULT '', -- the call that it takes back
    state TEXT NOT NULL, -- running, pending, keeping, committed, settled, dropped
    started TEXT NOT NULL, -- for each mount, nanoseconds on its own file system
    effects_hash TEXT NOT NULL DEFAULT '',
    effects BYTEA, -- lines of JSON, compressed
    record BYTEA, -- what was kept and what was there before, likewise
    key TEXT,
    epoch BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE INDEX layers_by_state ON layers (workspace_id, state, id);

CREATE INDEX layers_by_call ON layers (workspace_id, call_id);

CREATE INDEX layers_by_keeper ON layers (workspace_id, kept_by);

CREATE UNIQUE INDEX layers_by_key ON layers (workspace_id, key) WHERE key IS NOT NULL;

CREATE INDEX versions_by_call ON versions (workspace_id, call_id, id);

ALTER TABLE versions ADD COLUMN folders_made BIGINT NOT NULL DEFAULT 0; -- how many folders above it came into being with it
