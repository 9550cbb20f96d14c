-- name: sessions_get
SELECT * FROM sessions WHERE agent = :agent AND id = :id

-- name: sessions_of_agent
SELECT * FROM sessions WHERE agent = :agent ORDER BY updated_at DESC, id LIMIT :limit

-- name: sessions_current
SELECT * FROM sessions
WHERE agent = :agent AND parent = '' AND status IN ('working', 'waiting') AND started_at > 0
ORDER BY started_at, id LIMIT 1

-- name: sessions_family
WITH RECURSIVE family (id) AS (
    SELECT CAST(:id AS TEXT)
    UNION SELECT sessions.id FROM sessions JOIN family ON sessions.parent = family.id WHERE sessions.agent = :agent
)
SELECT sessions.* FROM sessions JOIN family ON sessions.id = family.id WHERE sessions.agent = :agent ORDER BY sessions.id

-- name: sessions_recent
SELECT * FROM sessions ORDER BY updated_at DESC, id LIMIT :limit

-- name: sessions_find
SELECT * FROM sessions WHERE id >= :id AND id < :end ORDER BY updated_at DESC LIMIT 20

-- Only from the iteration that the writer knows: of two that go on with one session, one is told.
-- name: sessions_save
INSERT INTO sessions (
    agent, id, iteration, messages, said, sandbox_id, phase, retries, guard, last_task, updated_at,
    status, asked_by, letter, parent, snapshot, report, reason, started_at
) VALUES (
    :agent, :id, :iteration, :messages, :said, :sandbox_id, :phase, :retries, :guard, :last_task, :updated_at,
    :status, :asked_by, :letter, :parent, :snapshot, :report, :reason, :started_at
)
ON CONFLICT (agent, id) DO UPDATE SET
    iteration = excluded.iteration, messages = excluded.messages, said = excluded.said,
    sandbox_id = excluded.sandbox_id, phase = excluded.phase, retries = excluded.retries,
    guard = excluded.guard, last_task = excluded.last_task, updated_at = excluded.updated_at,
    status = excluded.status, asked_by = excluded.asked_by, letter = excluded.letter, parent = excluded.parent,
    snapshot = excluded.snapshot, report = excluded.report, reason = excluded.reason, started_at = excluded.started_at
WHERE sessions.iteration = :known

-- name: sessions_append
INSERT INTO session_messages (agent, session, number, at, message, phase)
VALUES (:agent, :session, :number, :at, :message, :phase)

-- name: sessions_messages
SELECT number, at, message FROM session_messages
WHERE agent = :agent AND session = :session AND number > :after ORDER BY number LIMIT :limit

-- Where a phase begins: only the messages whose phase is not that of the one before.
-- name: sessions_phases
SELECT at, phase FROM (
    SELECT number, at, phase, LAG(phase) OVER (ORDER BY number) AS earlier
    FROM session_messages WHERE agent = :agent AND session = :session
) AS said WHERE phase <> '' AND (earlier IS NULL OR phase <> earlier) ORDER BY number LIMIT :limit

-- name: sessions_last_task
SELECT last_task FROM sessions WHERE agent = :agent AND last_task <> '' ORDER BY updated_at DESC, id LIMIT 1
