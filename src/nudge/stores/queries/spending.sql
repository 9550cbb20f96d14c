-- name: spending_get
SELECT * FROM spending WHERE agent = :agent

-- The first lock of every transaction that moves an agent's money.
-- name: spending_lock
SELECT * FROM spending WHERE agent = :agent {for_update}

-- name: spending_all
SELECT * FROM spending ORDER BY agent

-- name: spending_create
INSERT INTO spending (agent, budget, topped_up, window_start, renews, day, state, refresh_at, state_limit, badge,
    configured, refused_calls, refused_least, plan_resets_at)
SELECT name, :budget, :topped_up, :window_start, :renews, :day, :state, :refresh_at, :state_limit, :badge, :configured,
    :refused_calls, :refused_least, :plan_resets_at
FROM agents WHERE name = :agent
ON CONFLICT (agent) DO NOTHING

-- name: spending_put
UPDATE spending SET
    budget = :budget, topped_up = :topped_up, window_start = :window_start, renews = :renews, day = :day,
    state = :state, refresh_at = :refresh_at, state_limit = :state_limit, badge = :badge, configured = :configured,
    refused_calls = :refused_calls, refused_least = :refused_least, plan_resets_at = :plan_resets_at
WHERE agent = :agent

-- What waits for money looks again: its handler finds out what it still has to wait for. A retry keeps its time.
-- name: spending_pull
UPDATE timers SET due_at = :now, slot_at = CASE WHEN slot_at > :now THEN :now ELSE slot_at END
WHERE agent = :agent AND key = :key AND due_at > :now AND attempts = 0

-- name: accounts_open
INSERT INTO accounts (kind, name, agent, day, money_limit, committed, held, overrun, used_up_at)
VALUES (:kind, :name, :agent, :day, :money_limit, 0, 0, 0, NULL)
ON CONFLICT (kind, name) DO NOTHING

-- name: accounts_get
SELECT * FROM accounts WHERE kind = :kind AND name = :name

-- name: accounts_lock
SELECT * FROM accounts WHERE kind = :kind AND name = :name {for_update}

-- Another limit is other money: what the old one could not pay for may fit now.
-- name: accounts_set_limit
UPDATE accounts SET money_limit = :money_limit, used_up_at = NULL WHERE kind = :kind AND name = :name

-- name: accounts_use_up
UPDATE accounts SET used_up_at = committed WHERE kind = :kind AND name = :name

-- name: accounts_change
UPDATE accounts SET committed = committed + :committed, held = held + :held, overrun = overrun + :overrun
WHERE kind = :kind AND name = :name

-- name: accounts_days
SELECT day, SUM(money_limit) AS money_limit, SUM(committed) AS committed, SUM(held) AS held, SUM(overrun) AS overrun
FROM accounts WHERE agent = :agent AND kind = 1 AND day >= :since
GROUP BY day ORDER BY day

-- name: holds_get
SELECT * FROM holds WHERE attempt_id = :attempt_id

-- name: holds_lock
SELECT * FROM holds WHERE attempt_id = :attempt_id {for_update}

-- name: holds_put
INSERT INTO holds (attempt_id, agent, chain, amount, input_cost, max_tokens, expires_at, state, charged, model,
    purpose, run, made_at, owner)
VALUES (:attempt_id, :agent, :chain, :amount, :input_cost, :max_tokens, :expires_at, :state, :charged, :model,
    :purpose, :run, :made_at, :owner)
ON CONFLICT (attempt_id) DO NOTHING

-- name: holds_change
UPDATE holds SET state = :state, charged = :charged WHERE attempt_id = :attempt_id

-- name: holds_expired
SELECT * FROM holds WHERE agent = :agent AND state = 'held' AND expires_at <= :now ORDER BY expires_at, attempt_id
LIMIT :limit

-- name: holds_of_owner
SELECT * FROM holds WHERE agent = :agent AND state = 'held' AND owner = :owner ORDER BY attempt_id

-- name: holds_next_expiry
SELECT MIN(expires_at) AS expires_at FROM holds WHERE agent = :agent AND state = 'held'

-- name: holds_forget
DELETE FROM holds WHERE agent = :agent AND made_at < :before AND state <> 'held'

-- A later truth about the same call takes the place of what was assumed; the call keeps its time.
-- name: usage_put
INSERT INTO usage_log (attempt_id, agent, run, at, purpose, model, input, output, cache_read, cache_write, cost, overrun,
    known_price, ended)
VALUES (:attempt_id, :agent, :run, :at, :purpose, :model, :input, :output, :cache_read, :cache_write, :cost, :overrun,
    :known_price, :ended)
ON CONFLICT (attempt_id) DO UPDATE SET
    model = excluded.model, input = excluded.input, output = excluded.output, cache_read = excluded.cache_read,
    cache_write = excluded.cache_write, cost = excluded.cost, overrun = excluded.overrun,
    known_price = excluded.known_price, ended = excluded.ended

-- name: usage_recent
SELECT * FROM usage_log
WHERE (CAST(:agent AS TEXT) IS NULL OR agent = :agent) AND at >= :since
ORDER BY at DESC, attempt_id DESC LIMIT :limit

-- name: usage_of_run
SELECT * FROM usage_log WHERE agent = :agent AND at >= :since AND at <= :until AND run = :run
ORDER BY at DESC, attempt_id DESC LIMIT :limit

-- name: usage_spent
SELECT COALESCE(SUM(cost), 0) AS spent FROM usage_log WHERE agent = :agent AND at >= :since

-- name: usage_totals
SELECT purpose, model, COUNT(*) AS calls, SUM(input) AS input, SUM(output) AS output, SUM(cache_read) AS cache_read,
    SUM(cache_write) AS cache_write, SUM(cost) AS cost, SUM(overrun) AS overrun, MIN(known_price) AS known_price,
    SUM(CASE WHEN ended = 'expired' THEN 1 ELSE 0 END) AS assumed
FROM usage_log WHERE agent = :agent AND at >= :since AND at < :until
GROUP BY purpose, model ORDER BY 8 DESC, 1, 2

-- name: holds_recent
SELECT attempt_id, agent, state, purpose FROM holds WHERE CAST(:agent AS TEXT) IS NULL OR agent = :agent
ORDER BY made_at DESC, attempt_id LIMIT :limit
