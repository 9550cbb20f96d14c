-- name: notes_get
SELECT value FROM notes WHERE agent = :agent AND name = :name

-- name: notes_lock
SELECT value FROM notes WHERE agent = :agent AND name = :name {for_update}

-- name: notes_set
INSERT INTO notes (agent, name, value) VALUES (:agent, :name, :value)
ON CONFLICT (agent, name) DO UPDATE SET value = excluded.value

-- name: notes_ensure
INSERT INTO notes (agent, name, value) VALUES (:agent, :name, :value)
ON CONFLICT (agent, name) DO NOTHING

-- name: notes_delete
DELETE FROM notes WHERE agent = :agent AND name = :name

-- name: notes_all
SELECT name, value FROM notes WHERE agent = :agent AND name >= :prefix AND name < :beyond ORDER BY name
