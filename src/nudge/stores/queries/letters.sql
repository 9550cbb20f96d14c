-- name: letters_put
INSERT INTO letters (agent, sender, body, priority, created_at, topic, count, read_at, detail)
VALUES (:agent, :sender, :body, :priority, :created_at, :topic, :count, NULL, :detail)
ON CONFLICT (agent, topic) WHERE read_at IS NULL AND topic <> '' DO UPDATE SET
    sender = excluded.sender, body = excluded.body, detail = excluded.detail,
    priority = CASE WHEN excluded.priority < letters.priority THEN excluded.priority ELSE letters.priority END,
    count = letters.count + 1
RETURNING id

-- name: letters_unread
SELECT * FROM letters
WHERE agent = :agent AND read_at IS NULL AND priority <= :up_to
ORDER BY priority, id LIMIT :limit

-- name: letters_count_unread
SELECT COUNT(*) AS n FROM letters WHERE agent = :agent AND read_at IS NULL

-- name: letters_mark_read
UPDATE letters SET read_at = :now WHERE id = :id AND read_at IS NULL

-- name: letters_put_back
UPDATE letters SET read_at = NULL
WHERE id = :id AND NOT EXISTS (
    SELECT 1 FROM letters newer
    WHERE newer.agent = letters.agent AND newer.topic = letters.topic AND newer.topic <> ''
      AND newer.read_at IS NULL AND newer.id <> letters.id
)

-- name: letters_get
SELECT * FROM letters WHERE id = :id

-- name: letters_delete_topic
DELETE FROM letters WHERE agent = :agent AND topic = :topic AND topic <> ''

-- name: letters_recent
SELECT * FROM letters WHERE CAST(:agent AS TEXT) IS NULL OR agent = :agent ORDER BY id DESC LIMIT :limit
