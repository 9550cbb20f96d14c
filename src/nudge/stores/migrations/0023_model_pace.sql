-- How many calls of the model the agents of a fleet may make together, and when the next one is free.

ALTER TABLE fleet ADD COLUMN calls_per_minute INTEGER NOT NULL DEFAULT 0;

ALTER TABLE fleet ADD COLUMN webhook TEXT NOT NULL DEFAULT '';

CREATE TABLE model_pace (
    provider TEXT PRIMARY KEY,
    next_at BIGINT NOT NULL
);
