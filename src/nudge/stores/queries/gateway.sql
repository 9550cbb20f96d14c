-- name: gateway_calls_add
INSERT INTO gateway_calls (id, agent, run, at, protocol, client, model, asked, granted, held, waited, lasted, status,
    result)
VALUES (:id, :agent, :run, :at, :protocol, :client, :model, :asked, :granted, :held, :waited, :lasted, :status, :result)
ON CONFLICT (id) DO NOTHING

-- name: gateway_calls_recent
SELECT gateway_calls.*, usage_log.input, usage_log.output, usage_log.cache_read, usage_log.cache_write, usage_log.cost
FROM gateway_calls LEFT JOIN usage_log ON usage_log.attempt_id = gateway_calls.id
WHERE (CAST(:agent AS TEXT) IS NULL OR gateway_calls.agent = :agent)
  AND (CAST(:run AS TEXT) IS NULL OR gateway_calls.run = :run OR gateway_calls.run LIKE :below ESCAPE '!')
ORDER BY gateway_calls.at DESC, gateway_calls.id DESC LIMIT :limit

-- Asked once for every new run of a process: a run that money was held for has begun.
-- name: gateway_run_known
SELECT 1 AS known FROM holds WHERE agent = :agent AND (run = :run OR run LIKE :below ESCAPE '!') LIMIT 1
