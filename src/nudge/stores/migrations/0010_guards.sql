-- The guard of a run that lives in the store: one row per session of a client, locked while it is changed.
CREATE TABLE guards (
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    state TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (agent, session)
);

CREATE INDEX guards_by_time ON guards (agent, updated_at);

-- A worker's checkpoint carries the state of its whole guard, not only that of its run budget.
ALTER TABLE sessions RENAME COLUMN run_budget TO guard;
