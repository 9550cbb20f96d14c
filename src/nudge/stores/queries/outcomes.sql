-- A row keeps its id and gets the next revision with every change, for whoever follows.
-- name: outcomes_record
INSERT INTO outcomes (agent, key, kind, slot_at, at, result, reason, detail, final, revision)
VALUES (:agent, :key, :kind, :slot_at, :at, :result, :reason, :detail, :final,
    {next_revision})
ON CONFLICT (agent, key, slot_at) DO UPDATE SET
    at = excluded.at, result = excluded.result, reason = excluded.reason,
    detail = excluded.detail, final = excluded.final, revision = excluded.revision
WHERE outcomes.final = 0

-- name: outcomes_amend
UPDATE outcomes SET
    result = :result, reason = :reason, detail = COALESCE(CAST(:detail AS TEXT), detail),
    revision = {next_revision}
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

-- The same of one agent: without a way around the comparison, its index serves it.
-- name: outcomes_of_agent
SELECT * FROM outcomes
WHERE agent = :agent AND (CAST(:kind AS TEXT) IS NULL OR kind = :kind) AND at >= :since AND at <= :until
ORDER BY at DESC, id DESC LIMIT :limit

-- name: outcomes_of_key
SELECT * FROM outcomes
WHERE agent = :agent AND key = :key AND (CAST(:kind AS TEXT) IS NULL OR kind = :kind) AND at >= :since AND at <= :until
ORDER BY slot_at DESC LIMIT :limit

-- What ended then, and what was due then and ended later.
-- name: outcomes_around
SELECT * FROM outcomes
WHERE at >= :since AND (at <= :until OR slot_at BETWEEN :since AND :until)
  AND (CAST(:agent AS TEXT) IS NULL OR agent = :agent)
ORDER BY at DESC, id DESC LIMIT :limit

-- name: outcomes_changed_after
SELECT * FROM outcomes WHERE revision > :revision ORDER BY revision, id LIMIT :limit

-- name: outcomes_revision
SELECT COALESCE(MAX(revision), 0) AS revision FROM outcomes

-- name: outcomes_after_id
SELECT * FROM outcomes
WHERE id > :last AND (CAST(:agent AS TEXT) IS NULL OR agent = :agent)
ORDER BY id LIMIT :limit

-- name: outcomes_search
SELECT * FROM outcomes
WHERE (CAST(:agent AS TEXT) IS NULL OR agent = :agent)
  AND (CAST(:result AS TEXT) IS NULL OR result = :result)
  AND at >= :since AND at < :until
  AND (LOWER(reason) LIKE :words ESCAPE '!' OR LOWER(key) LIKE :words ESCAPE '!' OR LOWER(detail) LIKE :words ESCAPE '!')
ORDER BY at DESC, id DESC LIMIT :limit

-- Where a slice of so many rows begins: a long search is done in slices, and others have their turn in between.
-- name: outcomes_slice
SELECT at FROM outcomes WHERE at >= :since AND at < :until ORDER BY at DESC LIMIT 1 OFFSET :size

-- How many of an agent ended how in each hour. Kinds and results are found by leaps over the index, and each hour of each
-- pair is counted in the index alone: a grouped query would read every row of the time. The reason is that of the last one.
-- name: outcomes_hourly
WITH RECURSIVE kinds (kind) AS (
    SELECT MIN(kind) FROM outcomes WHERE agent = :agent
    UNION ALL
    SELECT (SELECT MIN(outcomes.kind) FROM outcomes WHERE agent = :agent AND outcomes.kind > kinds.kind)
    FROM kinds WHERE kinds.kind IS NOT NULL
),
pairs (kind, result) AS (
    SELECT kinds.kind, (SELECT MIN(result) FROM outcomes WHERE agent = :agent AND outcomes.kind = kinds.kind)
    FROM kinds WHERE kinds.kind IS NOT NULL
    UNION ALL
    SELECT pairs.kind, (
        SELECT MIN(outcomes.result) FROM outcomes
        WHERE agent = :agent AND outcomes.kind = pairs.kind AND outcomes.result > pairs.result
    )
    FROM pairs WHERE pairs.result IS NOT NULL
),
hours (since) AS (
    SELECT CAST(:since AS BIGINT)
    UNION ALL
    SELECT since + 3600000000 FROM hours WHERE since + 3600000000 < :until
),
cells AS MATERIALIZED (
    SELECT hours.since, pairs.kind, pairs.result, (
        SELECT COUNT(*) FROM outcomes
        WHERE agent = :agent AND outcomes.kind = pairs.kind AND outcomes.result = pairs.result
          AND at >= hours.since AND at < hours.since + 3600000000
    ) AS count
    FROM hours CROSS JOIN pairs WHERE pairs.result IS NOT NULL
)
SELECT since, result, kind, count,
    CASE WHEN result IN ('suppressed', 'deferred', 'missed', 'failed') THEN (
        SELECT reason FROM outcomes
        WHERE agent = :agent AND outcomes.kind = cells.kind AND outcomes.result = cells.result
          AND at >= cells.since AND at < cells.since + 3600000000
        ORDER BY at DESC LIMIT 1
    ) ELSE '' END AS reason
FROM cells WHERE count > 0 ORDER BY since, result, kind
