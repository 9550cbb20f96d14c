-- name: changes_after
SELECT kind, agent, key, revision FROM changes WHERE revision > :revision ORDER BY revision LIMIT :limit

-- name: changes_revision
SELECT COALESCE(MAX(revision), 0) AS revision FROM changes
