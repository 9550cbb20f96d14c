-- What a working session has beside its checkpoint: how it stands, who asked, and where its workspace is kept.

ALTER TABLE sessions ADD COLUMN status TEXT NOT NULL DEFAULT 'working';
ALTER TABLE sessions ADD COLUMN asked_by TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN letter BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN parent TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN snapshot TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN report TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN started_at BIGINT NOT NULL DEFAULT 0;

CREATE INDEX sessions_open ON sessions (agent, started_at) WHERE status IN ('working', 'waiting');
CREATE INDEX sessions_by_parent ON sessions (agent, parent) WHERE parent <> '';

-- Questions to the person that something waits for: more budget, or a worker's own. The first answer counts.
CREATE TABLE questions (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL REFERENCES agents (name),
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    asked_at BIGINT NOT NULL,
    deadline BIGINT NOT NULL,
    answer TEXT NOT NULL,
    answered_at BIGINT
);

CREATE INDEX questions_open ON questions (deadline) WHERE answered_at IS NULL;
