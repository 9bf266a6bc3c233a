-- A turn that has begun and not ended: there is one at most for each session, and its row goes with its end.
CREATE TABLE turns (
    workspace_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    begun_with TEXT NOT NULL, -- whatever whoever goes on with it has to know
    used TEXT NOT NULL, -- what its answers have cost so far
    said TEXT, -- of the answer that is just being given, as far as it had come at the last check-point
    resumed BIGINT NOT NULL DEFAULT 0, -- how often it was gone on with since anything came of it
    resumed_seq BIGINT NOT NULL DEFAULT 0, -- the newest event when it was gone on with last
    epoch BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, session_id),
    FOREIGN KEY (workspace_id, session_id) REFERENCES sessions (workspace_id, id)
);

CREATE INDEX approvals_by_session ON approvals (workspace_id, session_id, call_id);
