-- How pings were taken. A ping waits until somebody knows; then it is counted in the cell of its topic and hour.

CREATE TABLE pings_waiting (
    agent TEXT NOT NULL REFERENCES agents (name),
    sent_at BIGINT NOT NULL,
    topic TEXT NOT NULL,
    hour INTEGER NOT NULL,
    weekend INTEGER NOT NULL,
    PRIMARY KEY (agent, sent_at, topic)
);

CREATE TABLE welcomes (
    agent TEXT NOT NULL REFERENCES agents (name),
    topic TEXT NOT NULL,
    hour INTEGER NOT NULL,
    weekend INTEGER NOT NULL,
    welcome BIGINT NOT NULL DEFAULT 0,
    unwelcome BIGINT NOT NULL DEFAULT 0,
    at BIGINT NOT NULL,
    PRIMARY KEY (agent, topic, hour, weekend)
);
