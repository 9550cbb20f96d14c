-- {serial} becomes each database's own way to number rows. Instants are microseconds since 1970 in UTC.

CREATE TABLE agents (
    name TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    removed_at BIGINT
);

CREATE TABLE timers (
    agent TEXT NOT NULL REFERENCES agents (name),
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    slot_at BIGINT NOT NULL,
    payload TEXT NOT NULL,
    lane TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    PRIMARY KEY (agent, key)
);

CREATE INDEX timers_by_due ON timers (due_at, lane);
CREATE INDEX timers_by_lane ON timers (lane, due_at, key);

CREATE TABLE lanes (
    lane TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    token TEXT NOT NULL,
    until BIGINT NOT NULL
);

CREATE TABLE outcomes (
    id {serial},
    agent TEXT NOT NULL REFERENCES agents (name),
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    slot_at BIGINT NOT NULL,
    at BIGINT NOT NULL,
    result TEXT NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    final INTEGER NOT NULL,
    revision BIGINT NOT NULL,
    UNIQUE (agent, key, slot_at)
);

CREATE INDEX outcomes_by_time ON outcomes (at);
CREATE INDEX outcomes_by_agent ON outcomes (agent, at);
CREATE INDEX outcomes_by_revision ON outcomes (revision);

CREATE TABLE feed (
    id {serial},
    at BIGINT NOT NULL,
    agent TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL
);

CREATE INDEX feed_by_time ON feed (at);

CREATE TABLE letters (
    id {serial},
    agent TEXT NOT NULL REFERENCES agents (name),
    sender TEXT NOT NULL,
    body TEXT NOT NULL,
    priority INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    topic TEXT NOT NULL,
    count BIGINT NOT NULL,
    read_at BIGINT,
    detail TEXT NOT NULL
);

CREATE INDEX letters_unread ON letters (agent, priority, id) WHERE read_at IS NULL;
CREATE UNIQUE INDEX letters_topic ON letters (agent, topic) WHERE read_at IS NULL AND topic <> '';

CREATE TABLE outbox (
    id {serial},
    agent TEXT NOT NULL REFERENCES agents (name),
    text TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    asked INTEGER NOT NULL,
    buttons TEXT NOT NULL,
    state TEXT NOT NULL,
    sent_at BIGINT,
    possibly_repeated INTEGER NOT NULL,
    attempts BIGINT NOT NULL,
    error TEXT NOT NULL,
    receipt TEXT NOT NULL,
    topic TEXT NOT NULL,
    key TEXT NOT NULL,
    slot_at BIGINT
);

CREATE INDEX outbox_open ON outbox (agent, id) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_by_time ON outbox (created_at);

CREATE TABLE receipts (
    agent TEXT NOT NULL,
    receipt TEXT NOT NULL,
    message_id BIGINT NOT NULL,
    PRIMARY KEY (agent, receipt)
);

CREATE TABLE notes (
    agent TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (agent, name)
);
