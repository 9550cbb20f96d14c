-- A removed agent's name may be taken again: its history stays and the role is the new one.
-- name: agents_add
INSERT INTO agents (name, role, created_at, removed_at) VALUES (:name, :role, :created_at, NULL)
ON CONFLICT (name) DO UPDATE SET role = excluded.role, removed_at = NULL
WHERE agents.removed_at IS NOT NULL

-- name: agents_ensure
INSERT INTO agents (name, role, created_at, removed_at) VALUES (:name, :role, :created_at, NULL)
ON CONFLICT (name) DO NOTHING

-- name: agents_known
SELECT name FROM agents WHERE name = :name

-- name: agents_get
SELECT * FROM agents WHERE name = :name AND removed_at IS NULL

-- name: agents_all
SELECT * FROM agents WHERE removed_at IS NULL ORDER BY name

-- name: agents_page
SELECT a.name, a.role, s.state, (SELECT MIN(t.due_at) FROM timers t WHERE t.agent = a.name) AS next_at
FROM agents a LEFT JOIN spending s ON s.agent = a.name
WHERE a.removed_at IS NULL AND a.name > :after AND (:pattern = '' OR LOWER(a.name) LIKE :pattern ESCAPE '!')
ORDER BY a.name LIMIT :limit

-- name: agents_count
SELECT COUNT(*) AS n FROM agents a
WHERE a.removed_at IS NULL AND (:pattern = '' OR LOWER(a.name) LIKE :pattern ESCAPE '!')

-- name: agents_remove
UPDATE agents SET removed_at = :now WHERE name = :name AND removed_at IS NULL
