-- A reminder's next time is not here: it is the timer 'reminder:ID' of its agent. Ended ones stay as history.

CREATE TABLE reminders (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL REFERENCES agents (name),
    name TEXT NOT NULL,
    message TEXT NOT NULL,
    description TEXT NOT NULL,
    priority INTEGER NOT NULL,
    to_person INTEGER NOT NULL,
    schedule TEXT NOT NULL,
    schedule_words TEXT NOT NULL,
    tz TEXT NOT NULL,
    condition TEXT NOT NULL,
    late TEXT NOT NULL,
    chain BIGINT,
    rhythm BIGINT,
    allow_ping INTEGER NOT NULL,
    reserve INTEGER NOT NULL,
    critical INTEGER NOT NULL,
    source TEXT NOT NULL,
    ref TEXT NOT NULL,
    spec TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    status TEXT NOT NULL,
    ended_reason TEXT NOT NULL,
    asked BIGINT NOT NULL,
    fire_count BIGINT NOT NULL,
    last_fired_at BIGINT,
    acknowledged_at BIGINT
);

-- Of the reminders that can still fire, each name of an agent is taken once.
CREATE UNIQUE INDEX reminders_names ON reminders (name, agent) WHERE name <> '' AND status IN ('active', 'paused');
CREATE INDEX reminders_seeded ON reminders (agent, source, name) WHERE source IN ('role', 'file');
CREATE INDEX reminders_reserved ON reminders (agent) WHERE reserve = 1 AND status = 'active';
CREATE INDEX reminders_by_firing ON reminders (agent, last_fired_at);
CREATE INDEX reminders_by_status ON reminders (status, agent, created_at);

-- What is next of one agent, in order, however many it has.
CREATE INDEX timers_of_reminders ON timers (agent, due_at, key) WHERE kind = 'reminder';
