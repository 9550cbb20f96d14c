-- name: attention_get
SELECT * FROM attention WHERE agent = :agent

-- Nobody takes a ping between this and the end of the transaction around it.
-- name: attention_get_to_change
SELECT * FROM attention WHERE agent = :agent {for_update}

-- name: attention_create
INSERT INTO attention (agent, capacity, refill_minutes, level, last_refill, daily_used_reset, critical_reset_date)
VALUES (:agent, :capacity, :refill_minutes, :level, :now, :today, :today)
ON CONFLICT (agent) DO NOTHING

-- name: attention_set_requests
UPDATE attention SET quiet_until = :quiet_until, busy_until = :busy_until, left_alone = :left_alone,
    delayed_until = :delayed_until
WHERE agent = :agent

-- A clock that went back does not make the last conversation younger or older than it was.
-- name: attention_conversation
UPDATE attention SET last_conversation = :now WHERE agent = :agent

-- name: attention_activity
UPDATE attention SET last_activity = :now WHERE agent = :agent

-- name: attention_set_bucket
UPDATE attention SET capacity = :capacity, refill_minutes = :refill_minutes, level = :level, last_refill = :last_refill
WHERE agent = :agent

-- The debit: one statement that takes a ping or changes nothing. One micro-ping takes refill_minutes * 60 microseconds.
-- name: attention_take_ping
UPDATE attention SET
    level = CASE
        WHEN level + CASE WHEN :now > last_refill THEN (:now - last_refill) / (refill_minutes * 60) ELSE 0 END
            > capacity * 1000000
        THEN capacity * 1000000
        ELSE level + CASE WHEN :now > last_refill THEN (:now - last_refill) / (refill_minutes * 60) ELSE 0 END
        END - 1000000,
    last_refill = CASE
        WHEN :now <= last_refill THEN last_refill
        WHEN level + (:now - last_refill) / (refill_minutes * 60) >= capacity * 1000000 THEN :now
        ELSE last_refill + (:now - last_refill) / (refill_minutes * 60) * (refill_minutes * 60)
        END,
    daily_used = CASE WHEN daily_used_reset < :today THEN 1 ELSE daily_used + 1 END,
    daily_used_reset = CASE WHEN daily_used_reset < :today THEN :today ELSE daily_used_reset END
WHERE agent = :agent
  AND capacity * 1000000 >= :at_least
  AND level + CASE WHEN :now > last_refill THEN (:now - last_refill) / (refill_minutes * 60) ELSE 0 END >= :at_least

-- name: attention_take_critical
UPDATE attention SET
    daily_used = CASE WHEN daily_used_reset < :today THEN 1 ELSE daily_used + 1 END,
    daily_used_reset = CASE WHEN daily_used_reset < :today THEN :today ELSE daily_used_reset END,
    critical_used = CASE WHEN critical_reset_date < :today THEN 1 ELSE critical_used + 1 END,
    critical_reset_date = CASE WHEN critical_reset_date < :today THEN :today ELSE critical_reset_date END
WHERE agent = :agent
  AND (:most = 0 OR critical_reset_date < :today OR critical_used < :most)

-- name: attention_bedtime
UPDATE attention SET
    bedtime_sent = CASE WHEN bedtime_night < :night THEN 1 ELSE bedtime_sent + 1 END,
    bedtime_night = CASE WHEN bedtime_night < :night THEN :night ELSE bedtime_night END
WHERE agent = :agent

-- name: said_remember
INSERT INTO said (agent, topic, signature, at) VALUES (:agent, :topic, :signature, :at)
ON CONFLICT (agent, topic, signature) DO UPDATE SET at = excluded.at

-- name: said_of_topic
SELECT signature, at FROM said WHERE agent = :agent AND topic = :topic

-- name: said_forget
DELETE FROM said WHERE agent = :agent AND at < :before

-- From the last change before that time on, newest first.
-- name: bucket_levels_since
SELECT at, level, capacity, refill_minutes FROM bucket_levels
WHERE agent = :agent AND at >= COALESCE(
    (SELECT MAX(at) FROM bucket_levels WHERE agent = :agent AND at <= :since), CAST(:since AS BIGINT))
ORDER BY at DESC LIMIT :limit
