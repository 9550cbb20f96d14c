-- One row per call that came through the gateway. What it used is in usage_log, under the same id.
CREATE TABLE gateway_calls (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    run TEXT NOT NULL,
    at BIGINT NOT NULL,
    protocol TEXT NOT NULL,
    client TEXT NOT NULL,
    model TEXT NOT NULL,
    asked BIGINT NOT NULL,
    granted BIGINT NOT NULL,
    held BIGINT NOT NULL,
    waited BIGINT NOT NULL,
    lasted BIGINT NOT NULL,
    status INTEGER NOT NULL,
    result TEXT NOT NULL
);

CREATE INDEX gateway_calls_by_agent ON gateway_calls (agent, at);

CREATE INDEX holds_by_run ON holds (agent, run);
