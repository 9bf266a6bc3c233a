-- Times are microseconds since 1970 in UTC; ids are UUIDs of version 7 as text, unless a client chose them; JSON is text.
-- A request that is repeated with the same key finds the row that the first one made, instead of making another.
-- Words are '' rather than NULL where there is none, so that the same comparison works for all.

CREATE TABLE users (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE, -- in lower case
    full_name TEXT NOT NULL,
    password_hash TEXT,
    disabled BOOLEAN NOT NULL DEFAULT FALSE,
    created_at BIGINT NOT NULL
);

CREATE TABLE workspaces (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    root TEXT NOT NULL,
    owner_id TEXT NOT NULL REFERENCES users (id),
    epoch BIGINT NOT NULL DEFAULT 0, -- how often the workspace has been taken; every acknowledged write reads it
    settings TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    deleted_at BIGINT
);

CREATE INDEX workspaces_by_root ON workspaces (root) WHERE deleted_at IS NULL;

CREATE TABLE mounts (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    name TEXT NOT NULL,
    root TEXT NOT NULL,
    mode TEXT NOT NULL,
    PRIMARY KEY (workspace_id, name)
);

CREATE TABLE members (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    user_id TEXT NOT NULL REFERENCES users (id),
    role TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
);

CREATE INDEX members_by_user ON members (user_id);

CREATE TABLE nodes (
    id TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    deadline BIGINT NOT NULL
);

CREATE TABLE leases (
    workspace_id TEXT PRIMARY KEY REFERENCES workspaces (id),
    node_id TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    taken_at BIGINT NOT NULL
);

CREATE INDEX leases_by_node ON leases (node_id);

CREATE TABLE files (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    mount TEXT NOT NULL,
    path TEXT COLLATE BINARY NOT NULL, -- counted from the mount's root, without a slash in front
    name TEXT COLLATE BINARY NOT NULL,
    display_name TEXT NOT NULL,
    file_type TEXT NOT NULL,
    is_virtual BOOLEAN NOT NULL DEFAULT FALSE,
    parent_id TEXT NOT NULL, -- the folder's row; '' at the mount's root
    epoch BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT
);

-- A path can be longer than an index entry of PostgreSQL, a name cannot: so the name within its folder is what is unique,
-- and a path is found by its beginning.
CREATE UNIQUE INDEX files_in_folder ON files (workspace_id, mount, parent_id, name) WHERE deleted_at IS NULL;

CREATE INDEX files_by_path ON files (workspace_id, mount, substr(path, 1, 500)) WHERE deleted_at IS NULL;

CREATE INDEX files_deleted ON files (workspace_id, deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE contents (
    hash TEXT PRIMARY KEY,
    size BIGINT NOT NULL,
    place TEXT NOT NULL, -- 'row': in data; 'file': in the data folder, by its hash; 'none': not stored
    encoding TEXT NOT NULL, -- of data: 'zlib' or 'raw'
    data BYTEA,
    created_at BIGINT NOT NULL
);

CREATE TABLE versions (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    file_id TEXT NOT NULL REFERENCES files (id),
    branch TEXT NOT NULL DEFAULT 'main',
    number BIGINT NOT NULL, -- 1, 2, 3 … for each file
    kind TEXT NOT NULL,
    state TEXT NOT NULL, -- pending, settled, aborted
    mount TEXT NOT NULL,
    path TEXT COLLATE BINARY NOT NULL, -- where the file is by this version, or was last
    before_path TEXT COLLATE BINARY, -- where it was before; NULL: nowhere
    content_kind TEXT NOT NULL, -- text, json, binary, link, none
    hash TEXT,
    size BIGINT,
    mode BIGINT,
    inode TEXT NOT NULL,
    author TEXT NOT NULL,
    session_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    key TEXT,
    epoch BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (file_id, branch, number)
);

CREATE UNIQUE INDEX versions_by_key ON versions (workspace_id, key) WHERE key IS NOT NULL;

CREATE INDEX versions_pending ON versions (workspace_id, mount, substr(path, 1, 500)) WHERE state = 'pending';

CREATE INDEX versions_by_session ON versions (workspace_id, session_id, id);

CREATE TABLE heads (
    file_id TEXT PRIMARY KEY REFERENCES files (id),
    version_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    content_kind TEXT NOT NULL,
    hash TEXT,
    size BIGINT
);

CREATE TABLE sessions (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    id TEXT NOT NULL, -- a client may choose it, so it is unique in its workspace alone
    title TEXT NOT NULL,
    mode TEXT NOT NULL,
    trust TEXT NOT NULL,
    profile TEXT NOT NULL,
    state TEXT NOT NULL,
    last_seq BIGINT NOT NULL DEFAULT 0,
    epoch BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT,
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX sessions_by_use ON sessions (workspace_id, updated_at) WHERE deleted_at IS NULL;

CREATE TABLE events (
    workspace_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    seq BIGINT NOT NULL, -- 1, 2, 3 … for each session
    type TEXT NOT NULL,
    payload TEXT NOT NULL,
    key TEXT,
    epoch BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, session_id, seq),
    FOREIGN KEY (workspace_id, session_id) REFERENCES sessions (workspace_id, id)
);

CREATE UNIQUE INDEX events_by_key ON events (workspace_id, session_id, key) WHERE key IS NOT NULL;

CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    session_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    input TEXT NOT NULL,
    args_hash TEXT NOT NULL,
    reason TEXT NOT NULL,
    state TEXT NOT NULL, -- pending, approved, denied, expired, kept, dropped
    effects TEXT,
    effects_hash TEXT,
    keep_call TEXT,
    drop_call TEXT,
    feedback TEXT NOT NULL DEFAULT '',
    decided_by TEXT NOT NULL DEFAULT '',
    key TEXT,
    epoch BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    decided_at BIGINT
);

CREATE INDEX approvals_by_workspace ON approvals (workspace_id, state, id);

CREATE UNIQUE INDEX approvals_by_key ON approvals (workspace_id, key) WHERE key IS NOT NULL;

CREATE TABLE questions (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    session_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    questions TEXT NOT NULL,
    state TEXT NOT NULL, -- pending, answered, expired
    answers TEXT,
    by_button BOOLEAN NOT NULL DEFAULT FALSE,
    answered_by TEXT NOT NULL DEFAULT '',
    key TEXT,
    epoch BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    answered_at BIGINT
);

CREATE INDEX questions_by_workspace ON questions (workspace_id, state, id);

CREATE INDEX questions_by_session ON questions (workspace_id, session_id, id);

CREATE UNIQUE INDEX questions_by_key ON questions (workspace_id, key) WHERE key IS NOT NULL;

CREATE TABLE audit (
    workspace_id TEXT NOT NULL,
    id TEXT NOT NULL,
    ts BIGINT NOT NULL,
    session_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    agent TEXT NOT NULL,
    user_id TEXT NOT NULL,
    outcome TEXT NOT NULL, -- started, done, refused, failed
    code TEXT NOT NULL,
    duration_ms DOUBLE PRECISION,
    input TEXT NOT NULL,
    output TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX audit_by_session ON audit (workspace_id, session_id, id);

CREATE INDEX audit_unfinished ON audit (workspace_id, epoch) WHERE outcome = 'started';
