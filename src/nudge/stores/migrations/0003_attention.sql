-- One row per agent: what its person wants now, and the bucket of pings. Levels are micro-pings; days are ISO dates.

CREATE TABLE attention (
    agent TEXT PRIMARY KEY REFERENCES agents (name),
    quiet_until BIGINT,
    left_alone INTEGER NOT NULL DEFAULT 0,
    busy_until BIGINT,
    last_conversation BIGINT,
    last_activity BIGINT,
    bedtime_night TEXT NOT NULL DEFAULT '',
    bedtime_sent BIGINT NOT NULL DEFAULT 0,
    capacity BIGINT NOT NULL,
    refill_minutes BIGINT NOT NULL,
    level BIGINT NOT NULL,
    last_refill BIGINT NOT NULL,
    daily_used BIGINT NOT NULL DEFAULT 0,
    daily_used_reset TEXT NOT NULL,
    critical_used BIGINT NOT NULL DEFAULT 0,
    critical_reset_date TEXT NOT NULL
);

CREATE TABLE said (
    agent TEXT NOT NULL REFERENCES agents (name),
    topic TEXT NOT NULL,
    signature TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (agent, topic, signature)
);
