-- name: timers_set
INSERT INTO timers (agent, key, kind, due_at, slot_at, payload, lane, attempts)
VALUES (:agent, :key, :kind, :due_at, :slot_at, :payload, :lane, :attempts)
ON CONFLICT (agent, key) DO UPDATE SET
    kind = excluded.kind, due_at = excluded.due_at, slot_at = excluded.slot_at,
    payload = excluded.payload, lane = excluded.lane, attempts = excluded.attempts

-- Touching the row that is there locks it: whoever is about to remove it waits, and then sees what came with us.
-- name: timers_ensure
INSERT INTO timers (agent, key, kind, due_at, slot_at, payload, lane, attempts)
VALUES (:agent, :key, :kind, :due_at, :slot_at, :payload, :lane, :attempts)
ON CONFLICT (agent, key) DO UPDATE SET kind = timers.kind

-- name: timers_hasten
INSERT INTO timers (agent, key, kind, due_at, slot_at, payload, lane, attempts)
VALUES (:agent, :key, :kind, :due_at, :slot_at, :payload, :lane, :attempts)
ON CONFLICT (agent, key) DO UPDATE SET
    slot_at = CASE WHEN timers.due_at > excluded.due_at THEN excluded.slot_at ELSE timers.slot_at END,
    attempts = CASE WHEN timers.due_at > excluded.due_at THEN excluded.attempts ELSE timers.attempts END,
    due_at = CASE WHEN timers.due_at > excluded.due_at THEN excluded.due_at ELSE timers.due_at END

-- name: timers_get
SELECT * FROM timers WHERE agent = :agent AND key = :key

-- name: timers_of_agent
SELECT * FROM timers
WHERE agent = :agent AND key >= :prefix AND key < :beyond
ORDER BY due_at, key LIMIT :limit

-- name: timers_cancel
DELETE FROM timers WHERE agent = :agent AND key = :key

-- name: timers_hurry
UPDATE timers SET due_at = :latest WHERE attempts > 0 AND due_at > :latest

-- name: timers_hurry_of_agent
UPDATE timers SET due_at = :latest WHERE agent = :agent AND attempts > 0 AND due_at > :latest

-- name: timers_cancel_all
DELETE FROM timers WHERE agent = :agent

-- A lease that ends further away than any lease may last was written before the clock went back: it does not count.
-- The inner LIMIT bounds a look when very many are due, and makes SQLite walk the index by time: grouped directly, it
-- walks the index by lane, all timers of the future included.
-- name: timers_due_lanes
SELECT lane, MIN(due_at) AS due_at FROM (
    SELECT t.lane, t.due_at FROM timers t
    WHERE t.due_at > :after AND t.due_at <= :now
      AND NOT EXISTS (
          SELECT 1 FROM lanes l WHERE l.lane = t.lane AND l.until > :now AND l.until <= :horizon
      )
    ORDER BY t.due_at LIMIT :window
) due
GROUP BY lane ORDER BY 2, 1 LIMIT :limit

-- name: timers_due_lanes_of_agent
SELECT lane, MIN(due_at) AS due_at FROM timers t
WHERE t.agent = :agent AND t.due_at <= :now
  AND NOT EXISTS (SELECT 1 FROM lanes l WHERE l.lane = t.lane AND l.until > :now AND l.until <= :horizon)
GROUP BY lane ORDER BY 2, 1 LIMIT :limit

-- name: timers_next_due_of_agent
SELECT MIN(due_at) AS due_at FROM timers WHERE agent = :agent AND due_at > :after

-- name: timers_next_by_kind
SELECT kind, MIN(due_at) AS due_at FROM timers WHERE agent = :agent GROUP BY kind

-- name: timers_held_until
SELECT MIN(l.until) AS until FROM timers t JOIN lanes l ON l.lane = t.lane
WHERE t.agent = :agent AND t.due_at <= :now AND l.until > :now AND l.until <= :horizon

-- name: timers_due_in_lane
SELECT * FROM timers WHERE lane = :lane AND due_at <= :now ORDER BY due_at, key LIMIT :limit

-- name: timers_next_due
SELECT MIN(due_at) AS due_at FROM timers WHERE due_at > :after

-- "+ 0" keeps PostgreSQL from finding the row by its time, which a thousand others may share.
-- name: timers_take
DELETE FROM timers
WHERE agent = :agent AND key = :key AND due_at + 0 = :due_at AND slot_at = :slot_at AND attempts = :attempts

-- Locking the lane's row keeps others from taking the lane over before the transaction around this ends.
-- name: timers_take_held
DELETE FROM timers
WHERE agent = :agent AND key = :key AND due_at + 0 = :due_at AND slot_at = :slot_at AND attempts = :attempts
  AND EXISTS (SELECT 1 FROM lanes WHERE lanes.lane = :lane AND lanes.token = :token {for_update})

-- name: timers_count
SELECT COUNT(*) AS n FROM timers
