-- name: traces_since
SELECT 'outbox' AS place, id, text AS words, '{}' AS detail FROM outbox WHERE agent = :agent AND created_at >= :since
UNION ALL
SELECT 'feed' AS place, id, text AS words, '{}' AS detail FROM feed WHERE agent = :agent AND at >= :since
UNION ALL
SELECT 'outcomes' AS place, id, reason AS words, detail FROM outcomes WHERE agent = :agent AND at >= :since
UNION ALL
SELECT 'letters' AS place, id, body AS words, detail FROM letters WHERE agent = :agent AND created_at >= :since

-- name: traces_rewrite_outbox
UPDATE outbox SET text = :words WHERE id = :id

-- name: traces_rewrite_feed
UPDATE feed SET text = :words WHERE id = :id

-- name: traces_rewrite_outcomes
UPDATE outcomes SET reason = :words, detail = :detail WHERE id = :id

-- name: traces_rewrite_letters
UPDATE letters SET body = :words, detail = :detail WHERE id = :id
