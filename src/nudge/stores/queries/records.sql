-- name: records_get
SELECT value FROM records WHERE agent = :agent AND name = :name

-- name: records_lock
SELECT value FROM records WHERE agent = :agent AND name = :name {for_update}

-- name: records_set
INSERT INTO records (agent, name, value) VALUES (:agent, :name, :value)
ON CONFLICT (agent, name) DO UPDATE SET value = excluded.value

-- name: records_add
INSERT INTO records (agent, name, value) VALUES (:agent, :name, :value)
ON CONFLICT (agent, name) DO NOTHING

-- name: records_delete
DELETE FROM records WHERE agent = :agent AND name = :name
