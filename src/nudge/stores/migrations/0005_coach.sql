-- What the coach remembers of its person. `said` is what was said, in either direction.

CREATE TABLE conversations (
    id {serial},
    agent TEXT NOT NULL REFERENCES agents (name),
    at BIGINT NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    kind TEXT NOT NULL,
    forwarded INTEGER NOT NULL
);

CREATE INDEX conversations_by_agent ON conversations (agent, id);

CREATE TABLE conversations_archive (
    id BIGINT PRIMARY KEY,
    agent TEXT NOT NULL,
    at BIGINT NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    kind TEXT NOT NULL,
    forwarded INTEGER NOT NULL
);

CREATE TABLE activity (
    id {serial},
    agent TEXT NOT NULL REFERENCES agents (name),
    at BIGINT NOT NULL
);

CREATE INDEX activity_by_agent ON activity (agent, at);

-- A briefing belongs to a period (a day, a night, a week, a month); the row says that its turn has been taken.
CREATE TABLE periods (
    agent TEXT NOT NULL REFERENCES agents (name),
    kind TEXT NOT NULL,
    period TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (agent, kind, period)
);
