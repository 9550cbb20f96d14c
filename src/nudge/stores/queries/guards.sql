-- An empty row first, so that there is one to lock: of two that begin a session at once, the second waits.
-- name: guards_create
INSERT INTO guards (agent, session, state, updated_at) VALUES (:agent, :session, '', :updated_at)
ON CONFLICT (agent, session) DO NOTHING

-- name: guards_lock
SELECT * FROM guards WHERE agent = :agent AND session = :session {for_update}

-- name: guards_get
SELECT * FROM guards WHERE agent = :agent AND session = :session

-- name: guards_save
UPDATE guards SET state = :state, updated_at = :updated_at WHERE agent = :agent AND session = :session

-- name: guards_forget
DELETE FROM guards WHERE agent = :agent AND updated_at < :before
