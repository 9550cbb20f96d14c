-- name: reminders_add
INSERT INTO reminders (id, agent, name, message, description, priority, to_person, schedule, schedule_words, tz,
    follows, condition, late, chain, rhythm, allow_ping, reserve, critical, source, ref, spec, created_at, status, ended_reason,
    asked, fire_count, last_fired_at, acknowledged_at)
VALUES (:id, :agent, :name, :message, :description, :priority, :to_person, :schedule, :schedule_words, :tz,
    :follows, :condition, :late, :chain, :rhythm, :allow_ping, :reserve, :critical, :source, :ref, :spec, :created_at, :status,
    :ended_reason, :asked, :fire_count, :last_fired_at, :acknowledged_at)
ON CONFLICT (id) DO NOTHING

-- name: reminders_get
SELECT * FROM reminders WHERE id = :id

-- Touching the row locks it.
-- name: reminders_lock
UPDATE reminders SET status = status WHERE id = :id

-- name: reminders_save
UPDATE reminders SET name = :name, message = :message, description = :description, priority = :priority,
    to_person = :to_person, schedule = :schedule, schedule_words = :schedule_words, tz = :tz, follows = :follows, condition = :condition,
    late = :late, chain = :chain, rhythm = :rhythm, allow_ping = :allow_ping, reserve = :reserve, critical = :critical,
    ref = :ref, spec = :spec, status = :status, ended_reason = :ended_reason, asked = :asked,
    fire_count = :fire_count, last_fired_at = :last_fired_at, acknowledged_at = :acknowledged_at
WHERE id = :id

-- name: reminders_save_state
UPDATE reminders SET status = :status, ended_reason = :ended_reason, asked = :asked, fire_count = :fire_count,
    last_fired_at = :last_fired_at, acknowledged_at = :acknowledged_at
WHERE id = :id

-- name: reminders_named
SELECT * FROM reminders WHERE name = :name AND name <> '' AND status IN ('active', 'paused') ORDER BY agent

-- name: reminders_named_of
SELECT * FROM reminders
WHERE name = :name AND agent = :agent AND name <> '' AND status IN ('active', 'paused')

-- name: reminders_named_ended
SELECT * FROM reminders WHERE name = :name AND name <> '' AND status IN ('completed', 'cancelled')
ORDER BY created_at DESC, id LIMIT 5

-- A timer's key is 'reminder:' and the id.
-- name: reminders_listed
SELECT r.id, r.agent, r.name, r.message, r.schedule_words, r.status, r.ended_reason, r.to_person, r.source, r.tz,
    r.created_at, r.last_fired_at, r.fire_count, t.due_at AS next_at
FROM timers t JOIN reminders r ON r.id = substr(t.key, 10)
WHERE t.kind = 'reminder' ORDER BY t.due_at, t.key LIMIT :limit

-- name: reminders_listed_of
SELECT r.id, r.agent, r.name, r.message, r.schedule_words, r.status, r.ended_reason, r.to_person, r.source, r.tz,
    r.created_at, r.last_fired_at, r.fire_count, t.due_at AS next_at
FROM timers t JOIN reminders r ON r.id = substr(t.key, 10)
WHERE t.kind = 'reminder' AND t.agent = :agent ORDER BY t.due_at, t.key LIMIT :limit

-- name: reminders_resting
SELECT id, agent, name, message, schedule_words, status, ended_reason, to_person, source, tz,
    created_at, last_fired_at, fire_count, CAST(NULL AS BIGINT) AS next_at
FROM reminders WHERE status = :status ORDER BY created_at DESC, id LIMIT :limit

-- name: reminders_resting_of
SELECT id, agent, name, message, schedule_words, status, ended_reason, to_person, source, tz,
    created_at, last_fired_at, fire_count, CAST(NULL AS BIGINT) AS next_at
FROM reminders WHERE status = :status AND agent = :agent ORDER BY created_at DESC, id LIMIT :limit

-- name: reminders_everything
SELECT * FROM reminders WHERE (CAST(:agent AS TEXT) IS NULL OR agent = :agent) ORDER BY agent, created_at, id

-- name: reminders_seeded
SELECT * FROM reminders WHERE agent = :agent AND source = :source AND source IN ('role', 'file')
ORDER BY created_at DESC, id

-- name: reminders_coming
SELECT r.*, t.due_at AS due_at, t.slot_at AS slot_at
FROM timers t JOIN reminders r ON r.id = substr(t.key, 10)
WHERE t.kind = 'reminder' AND t.agent = :agent AND t.due_at <= :until ORDER BY t.due_at, t.key LIMIT :limit

-- name: reminders_following
SELECT * FROM reminders
WHERE agent = :agent AND follows = 1 AND tz = :tz AND status IN ('active', 'paused') ORDER BY id

-- name: reminders_reserved
SELECT r.*, t.due_at AS due_at, t.slot_at AS slot_at
FROM reminders r JOIN timers t ON t.agent = r.agent AND t.key = 'reminder:' || r.id
WHERE r.agent = :agent AND r.reserve = 1 AND r.status = 'active' ORDER BY t.due_at, r.id

-- name: reminders_fired_since
SELECT * FROM reminders WHERE agent = :agent AND last_fired_at >= :since ORDER BY last_fired_at DESC, id LIMIT :limit

-- name: reminders_by_model
SELECT COALESCE(SUM(CASE WHEN status IN ('active', 'paused') THEN 1 ELSE 0 END), 0) AS active,
    COALESCE(SUM(CASE WHEN created_at >= :since THEN 1 ELSE 0 END), 0) AS made
FROM reminders WHERE agent = :agent AND source = 'model'

-- name: reminders_cancel_all
UPDATE reminders SET status = 'cancelled', ended_reason = :reason, spec = ''
WHERE agent = :agent AND status IN ('active', 'paused')

-- name: reminders_active_ids
SELECT r.id, r.agent, t.key FROM reminders r
LEFT JOIN timers t ON t.agent = r.agent AND t.key = 'reminder:' || r.id
WHERE r.status = 'active' ORDER BY r.id

-- name: reminders_end
UPDATE reminders SET status = 'completed', ended_reason = :reason WHERE id = :id

-- name: reminders_from_chat_since
SELECT * FROM reminders WHERE agent = :agent AND source IN ('chat', 'model') AND created_at >= :since ORDER BY created_at, id

-- name: reminders_delete
DELETE FROM reminders WHERE id = :id
