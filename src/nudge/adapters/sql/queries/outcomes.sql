-- name: outcomes_record
INSERT INTO outcomes (agent, key, kind, slot_at, at, result, reason, detail, final)
VALUES (:agent, :key, :kind, :slot_at, :at, :result, :reason, :detail, :final)
ON CONFLICT (agent, key, slot_at) DO UPDATE SET
    at = excluded.at, result = excluded.result, reason = excluded.reason,
    detail = excluded.detail, final = excluded.final
WHERE outcomes.final = 0

-- name: outcomes_amend
UPDATE outcomes SET result = :result, reason = :reason
WHERE agent = :agent AND key = :key AND slot_at = :slot_at

-- name: outcomes_get
SELECT * FROM outcomes WHERE agent = :agent AND key = :key AND slot_at = :slot_at

-- name: outcomes_by_id
SELECT * FROM outcomes WHERE id = :id

-- name: outcomes_recent
SELECT * FROM outcomes
WHERE (CAST(:agent AS TEXT) IS NULL OR agent = :agent)
  AND (CAST(:key AS TEXT) IS NULL OR key = :key)
  AND (CAST(:kind AS TEXT) IS NULL OR kind = :kind)
  AND at >= :since AND at <= :until
ORDER BY at DESC, id DESC LIMIT :limit

-- name: outcomes_after_id
SELECT * FROM outcomes
WHERE id > :last AND (CAST(:agent AS TEXT) IS NULL OR agent = :agent)
ORDER BY id LIMIT :limit
