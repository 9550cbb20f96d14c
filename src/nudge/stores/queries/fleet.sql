-- name: fleet_get
SELECT task_queue, spread, adopted_at, calls_per_minute, webhook FROM fleet WHERE id = 1

-- name: fleet_set
INSERT INTO fleet (id, task_queue, spread, adopted_at, calls_per_minute)
VALUES (1, :task_queue, :spread, :now, :calls_per_minute)
ON CONFLICT (id) DO UPDATE SET task_queue = excluded.task_queue, spread = excluded.spread,
    calls_per_minute = excluded.calls_per_minute

-- name: fleet_webhook
UPDATE fleet SET webhook = :webhook

-- The next free moment for a call, taken.
-- name: fleet_next_call
INSERT INTO model_pace (provider, next_at) VALUES (:provider, :now + :interval)
ON CONFLICT (provider) DO UPDATE SET next_at =
    CASE WHEN model_pace.next_at > :now THEN model_pace.next_at ELSE :now END + :interval
RETURNING next_at - :interval AS at

-- name: fleet_delete
DELETE FROM fleet

-- Waits for every transaction that sets a timer now, so that each is either seen by the first visit or pokes.
-- name: fleet_pokes_on
ALTER TABLE timers ENABLE TRIGGER timers_poke

-- name: fleet_pokes_off
ALTER TABLE timers DISABLE TRIGGER timers_poke

-- name: fleet_join
INSERT INTO fleet_agents (agent, wakes_at, visited_at) VALUES (:agent, :wakes_at, NULL)
ON CONFLICT (agent) DO NOTHING

-- name: fleet_joining
SELECT COUNT(*) AS n FROM agents WHERE removed_at IS NULL

-- A page of agents, each with the first due time of every kind; one without timers has a line too.
-- name: fleet_first_due
SELECT a.name AS agent, t.kind, MIN(t.due_at) AS due_at FROM (
    SELECT name FROM agents WHERE removed_at IS NULL AND name > :after ORDER BY name LIMIT :limit
) a LEFT JOIN timers t ON t.agent = a.name
GROUP BY a.name, t.kind ORDER BY a.name

-- name: fleet_pokes_put
INSERT INTO fleet_pokes (agent, kind, due_at, made_at)
VALUES (:agent, 'adopted', :due_at, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT))

-- name: fleet_leave
DELETE FROM fleet_agents WHERE agent = :agent

-- name: fleet_leave_all
DELETE FROM fleet_agents

-- name: fleet_awake
UPDATE fleet_agents SET wakes_at = :now WHERE agent = :agent AND wakes_at > :now

-- name: fleet_lock
SELECT wakes_at, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT) AS seen
FROM fleet_agents WHERE agent = :agent {for_update}

-- name: fleet_plan
UPDATE fleet_agents SET wakes_at = :wakes_at, visited_at = :now WHERE agent = :agent

-- name: fleet_pokes_done
DELETE FROM fleet_pokes WHERE agent = :agent

-- The most urgent first: a thousand timers for tomorrow do not delay one that is due now.
-- name: fleet_pokes_take
DELETE FROM fleet_pokes WHERE id IN (SELECT id FROM fleet_pokes ORDER BY due_at, id LIMIT :limit {skip_locked})
RETURNING agent, kind, due_at, made_at

-- name: fleet_pokes_count
SELECT COUNT(*) AS n, MIN(made_at) AS oldest FROM fleet_pokes

-- New agents that no workflow looks after yet.
-- name: fleet_strangers
SELECT a.name AS agent FROM agents a
WHERE a.removed_at IS NULL AND NOT EXISTS (SELECT 1 FROM fleet_agents f WHERE f.agent = a.name)
ORDER BY a.name LIMIT :limit

-- Agents whose workflow may not have begun: it waits for its first wake, and hears no signal until then.
-- name: fleet_unvisited
SELECT agent FROM fleet_agents WHERE visited_at IS NULL

-- name: fleet_removed
SELECT f.agent FROM fleet_agents f JOIN agents a ON a.name = f.agent
WHERE a.removed_at IS NOT NULL ORDER BY f.agent LIMIT :limit

-- name: fleet_late
SELECT agent, wakes_at FROM fleet_agents WHERE wakes_at < :before ORDER BY wakes_at LIMIT :limit

-- What is due long since although its agent's workflow means to sleep on.
-- name: fleet_overslept
SELECT f.agent, MIN(t.due_at) AS due_at FROM timers t JOIN fleet_agents f ON f.agent = t.agent
WHERE t.due_at < :before AND t.kind <> :patient AND f.wakes_at > :now
GROUP BY f.agent ORDER BY 2 LIMIT :limit

-- name: fleet_counts
SELECT COUNT(*) AS agents, COUNT(*) FILTER (WHERE wakes_at <= :now) AS due,
    COUNT(*) FILTER (WHERE wakes_at < :late) AS late, COUNT(*) FILTER (WHERE visited_at IS NULL) AS fresh,
    MIN(wakes_at) AS first
FROM fleet_agents

-- name: fleet_page
SELECT a.name AS agent, a.role, f.wakes_at, f.visited_at FROM agents a LEFT JOIN fleet_agents f ON f.agent = a.name
WHERE a.removed_at IS NULL AND a.name > :after AND (:search = '' OR POSITION(:search IN a.name) > 0)
ORDER BY a.name LIMIT :limit

-- name: fleet_agent
SELECT wakes_at, visited_at FROM fleet_agents WHERE agent = :agent

-- name: fleet_recent_results
SELECT result, COUNT(*) AS n FROM outcomes WHERE at > :since GROUP BY result ORDER BY result

-- name: fleet_spending_states
SELECT state, COUNT(*) AS n FROM spending GROUP BY state

-- name: fleet_holds_open
SELECT COUNT(*) AS n FROM holds WHERE state = 'held' AND expires_at > :now
