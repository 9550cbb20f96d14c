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
  AND (CAST(:free_at AS BIGINT) IS NULL OR taken_until IS NULL OR taken_until <= :free_at)
ORDER BY priority, id LIMIT :limit

-- name: letters_count_unread
SELECT COUNT(*) AS n FROM letters WHERE agent = :agent AND read_at IS NULL

-- name: letters_mark_read
UPDATE letters SET read_at = :now, taken_until = NULL
WHERE id = :id AND read_at IS NULL AND (CAST(:count AS BIGINT) IS NULL OR count = :count)

-- name: letters_take
UPDATE letters SET taken_until = :until, takes = takes + 1, taken_count = count
WHERE id = :id AND read_at IS NULL AND (taken_until IS NULL OR taken_until <= :now)

-- name: letters_acknowledge
UPDATE letters SET read_at = CASE WHEN count = taken_count THEN :now ELSE NULL END, taken_until = NULL, taken_count = 0
WHERE id = :id AND takes = :takes AND taken_count > 0 AND read_at IS NULL

-- name: letters_give_back
UPDATE letters SET taken_until = :until, taken_count = 0
WHERE id = :id AND takes = :takes AND taken_count > 0 AND read_at IS NULL

-- name: letters_put_off
UPDATE letters SET taken_until = :until, takes = takes + 1, taken_count = 0 WHERE id = :id AND read_at IS NULL

-- name: letters_taken
SELECT * FROM letters WHERE agent = :agent AND read_at IS NULL AND taken_count > 0 ORDER BY taken_until DESC, id

-- name: letters_next_free
SELECT MIN(taken_until) AS at FROM letters WHERE agent = :agent AND read_at IS NULL AND taken_until > :now

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
