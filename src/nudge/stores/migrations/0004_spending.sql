-- Money is whole micro-dollars. One row per agent: its window, the day it is on and its spending state.
CREATE TABLE spending (
    agent TEXT PRIMARY KEY REFERENCES agents (name),
    budget BIGINT NOT NULL,
    topped_up BIGINT NOT NULL,
    window_start BIGINT NOT NULL,
    renews BIGINT,
    day TEXT NOT NULL,
    state TEXT NOT NULL,
    refresh_at BIGINT,
    state_limit BIGINT NOT NULL,
    badge BIGINT NOT NULL,
    configured TEXT NOT NULL
);

-- The tree window -> day -> run -> pool child. (kind, name) is also the order in which rows are locked.
CREATE TABLE accounts (
    kind INTEGER NOT NULL,
    name TEXT NOT NULL,
    agent TEXT NOT NULL,
    day TEXT NOT NULL,
    money_limit BIGINT NOT NULL,
    committed BIGINT NOT NULL,
    held BIGINT NOT NULL,
    overrun BIGINT NOT NULL,
    used_up_at BIGINT,
    PRIMARY KEY (kind, name)
);

CREATE INDEX accounts_by_day ON accounts (agent, day) WHERE kind = 1;

CREATE TABLE holds (
    attempt_id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    chain TEXT NOT NULL,
    amount BIGINT NOT NULL,
    input_cost BIGINT NOT NULL,
    max_tokens BIGINT NOT NULL,
    expires_at BIGINT,
    state TEXT NOT NULL,
    charged BIGINT NOT NULL,
    model TEXT NOT NULL,
    purpose TEXT NOT NULL,
    run TEXT NOT NULL,
    made_at BIGINT NOT NULL
);

CREATE INDEX holds_open ON holds (agent, expires_at) WHERE state = 'held';

-- What every call used. A call that was cancelled or never reported on has its cost and no tokens.
CREATE TABLE usage_log (
    attempt_id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    run TEXT NOT NULL,
    at BIGINT NOT NULL,
    purpose TEXT NOT NULL,
    model TEXT NOT NULL,
    input BIGINT NOT NULL,
    output BIGINT NOT NULL,
    cache_read BIGINT NOT NULL,
    cache_write BIGINT NOT NULL,
    cost BIGINT NOT NULL,
    overrun BIGINT NOT NULL,
    known_price INTEGER NOT NULL,
    ended TEXT NOT NULL
);

CREATE INDEX usage_by_agent ON usage_log (agent, at);

-- One row per session, written as a whole after every iteration. `messages` is what the model is sent again; all that
-- was ever said is in session_messages.
CREATE TABLE sessions (
    agent TEXT NOT NULL REFERENCES agents (name),
    id TEXT NOT NULL,
    iteration BIGINT NOT NULL,
    messages TEXT NOT NULL,
    said BIGINT NOT NULL,
    sandbox_id TEXT NOT NULL,
    phase TEXT NOT NULL,
    retries TEXT NOT NULL,
    run_budget TEXT NOT NULL,
    last_task TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (agent, id)
);

CREATE INDEX sessions_by_time ON sessions (agent, updated_at);

CREATE TABLE session_messages (
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (agent, session, number)
);
