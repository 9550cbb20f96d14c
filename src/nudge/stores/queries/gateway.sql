-- name: gateway_calls_add
INSERT INTO gateway_calls (id, agent, run, at, protocol, client, model, asked, granted, held, waited, lasted, status,
    result, reason)
VALUES (:id, :agent, :run, :at, :protocol, :client, :model, :asked, :granted, :held, :waited, :lasted, :status, :result,
    :reason)
ON CONFLICT (id) DO NOTHING

-- name: gateway_calls_recent
SELECT gateway_calls.*, usage_log.input, usage_log.output, usage_log.cache_read, usage_log.cache_write, usage_log.cost
FROM gateway_calls LEFT JOIN usage_log ON usage_log.attempt_id = gateway_calls.id
WHERE (CAST(:agent AS TEXT) IS NULL OR gateway_calls.agent = :agent)
  AND (CAST(:run AS TEXT) IS NULL OR gateway_calls.run = :run OR gateway_calls.run LIKE :below ESCAPE '!')
ORDER BY gateway_calls.at DESC, gateway_calls.id DESC LIMIT :limit

-- name: gateway_calls_ended
SELECT gateway_calls.*, usage_log.input, usage_log.output, usage_log.cache_read, usage_log.cache_write, usage_log.cost
FROM gateway_calls LEFT JOIN usage_log ON usage_log.attempt_id = gateway_calls.id
WHERE gateway_calls.at >= :begun AND gateway_calls.at + gateway_calls.lasted >= :since
ORDER BY gateway_calls.at, gateway_calls.id LIMIT :limit

-- name: gateway_calls_total
SELECT COUNT(*) AS calls, COALESCE(SUM(CASE WHEN gateway_calls.result = 'refused' THEN 1 ELSE 0 END), 0) AS refused,
    COALESCE(SUM(usage_log.input), 0) AS input, COALESCE(SUM(usage_log.output), 0) AS output,
    COALESCE(SUM(usage_log.cache_read), 0) AS cache_read, COALESCE(SUM(usage_log.cache_write), 0) AS cache_write,
    COALESCE(SUM(usage_log.cost), 0) AS cost
FROM gateway_calls LEFT JOIN usage_log ON usage_log.attempt_id = gateway_calls.id
WHERE gateway_calls.agent = :agent AND (gateway_calls.run = :run OR gateway_calls.run LIKE :below ESCAPE '!')

-- Asked once for every new run of a process: a run that money was held for has begun.
-- name: gateway_run_known
SELECT 1 AS known FROM holds WHERE agent = :agent AND (run = :run OR run LIKE :below ESCAPE '!') LIMIT 1
