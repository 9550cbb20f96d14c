-- name: conversations_add
INSERT INTO conversations (agent, at, role, content, kind, forwarded)
VALUES (:agent, :at, :role, :content, :kind, :forwarded)
RETURNING id

-- name: conversations_recent
SELECT * FROM conversations WHERE agent = :agent ORDER BY id DESC LIMIT :limit

-- name: conversations_delete
DELETE FROM conversations WHERE id = :id

-- name: conversations_archive_delete
DELETE FROM conversations_archive WHERE id = :id

-- name: conversations_with_archive
SELECT * FROM conversations WHERE agent = :agent
UNION ALL
SELECT * FROM conversations_archive WHERE agent = :agent
ORDER BY id DESC LIMIT :limit

-- name: conversations_copy_to_archive
INSERT INTO conversations_archive (id, agent, at, role, content, kind, forwarded)
SELECT id, agent, at, role, content, kind, forwarded FROM conversations WHERE agent = :agent AND at < :before
ON CONFLICT (id) DO NOTHING

-- name: conversations_delete_old
DELETE FROM conversations WHERE agent = :agent AND at < :before

-- name: activity_add
INSERT INTO activity (agent, at) VALUES (:agent, :at)

-- name: activity_prune
DELETE FROM activity WHERE agent = :agent AND at < :before

-- name: activity_since
SELECT at FROM activity WHERE agent = :agent AND at >= :since ORDER BY at

-- name: periods_claim
INSERT INTO periods (agent, kind, period, at) VALUES (:agent, :kind, :period, :at)
ON CONFLICT (agent, kind, period) DO NOTHING

-- name: periods_get
SELECT at FROM periods WHERE agent = :agent AND kind = :kind AND period = :period
