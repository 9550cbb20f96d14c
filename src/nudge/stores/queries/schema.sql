-- name: schema_create
CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL)

-- name: schema_version
SELECT COALESCE(MAX(version), 0) AS version FROM schema_migrations

-- name: schema_record
INSERT INTO schema_migrations (version, name) VALUES (:version, :name)
