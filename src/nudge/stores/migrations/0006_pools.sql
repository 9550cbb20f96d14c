-- A run whose budget is shared among parallel subagents. Times are microseconds.
CREATE TABLE pools (
    run TEXT PRIMARY KEY,
    agent TEXT NOT NULL REFERENCES agents (name),
    owner TEXT NOT NULL,
    keeps_percent INTEGER NOT NULL,
    gets_percent INTEGER NOT NULL,
    lasts BIGINT NOT NULL
);

-- The members; the money of each is in the account (3, run/name). `number` puts parents before their children.
CREATE TABLE pool_members (
    run TEXT NOT NULL REFERENCES pools (run),
    name TEXT NOT NULL,
    parent TEXT,
    number BIGINT NOT NULL,
    granted BIGINT NOT NULL,
    expires_at BIGINT,
    state TEXT NOT NULL,
    PRIMARY KEY (run, name)
);

-- A call is a sign of life of the member that made it.
CREATE INDEX usage_by_run ON usage_log (run, at) WHERE run <> '';
