-- name: feed_add
INSERT INTO feed (at, agent, kind, text) VALUES (:at, :agent, :kind, :text)

-- name: feed_recent
SELECT * FROM feed
WHERE (CAST(:agent AS TEXT) IS NULL OR agent = :agent) AND at >= :since
ORDER BY at DESC, id DESC LIMIT :limit

-- name: feed_last_id
SELECT COALESCE(MAX(id), 0) AS id FROM feed

-- name: feed_after_id
SELECT * FROM feed
WHERE id > :last AND (CAST(:agent AS TEXT) IS NULL OR agent = :agent)
ORDER BY id LIMIT :limit
