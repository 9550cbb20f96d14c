-- name: welcomes_of_agent
SELECT topic, hour, weekend, welcome, unwelcome, at FROM welcomes WHERE agent = :agent ORDER BY topic, weekend, hour

-- name: welcomes_add
INSERT INTO welcomes (agent, topic, hour, weekend, at) VALUES (:agent, :topic, :hour, :weekend, :at)
ON CONFLICT (agent, topic, hour, weekend) DO NOTHING

-- name: welcomes_get_to_change
SELECT topic, hour, weekend, welcome, unwelcome, at FROM welcomes
WHERE agent = :agent AND topic = :topic AND hour = :hour AND weekend = :weekend {for_update}

-- name: welcomes_set
UPDATE welcomes SET welcome = :welcome, unwelcome = :unwelcome, at = :at
WHERE agent = :agent AND topic = :topic AND hour = :hour AND weekend = :weekend

-- name: welcomes_forget
DELETE FROM welcomes WHERE agent = :agent AND at < :before

-- name: welcomes_reset
DELETE FROM welcomes WHERE agent = :agent AND (:topic = '' OR topic = :topic)

-- name: pings_waiting_of_agent
SELECT sent_at, topic, hour, weekend,
    EXISTS (
        SELECT 1 FROM outbox
        WHERE outbox.created_at = pings_waiting.sent_at AND outbox.agent = pings_waiting.agent AND outbox.state = 'sent'
    ) AS arrived
FROM pings_waiting WHERE agent = :agent ORDER BY sent_at DESC, topic

-- name: pings_waiting_add
INSERT INTO pings_waiting (agent, sent_at, topic, hour, weekend) VALUES (:agent, :sent_at, :topic, :hour, :weekend)
ON CONFLICT (agent, sent_at, topic) DO NOTHING

-- Whoever takes the row counts the ping; nobody else does.
-- name: pings_waiting_take
DELETE FROM pings_waiting WHERE agent = :agent AND sent_at = :sent_at AND topic = :topic

-- name: pings_waiting_reset
DELETE FROM pings_waiting WHERE agent = :agent AND (:topic = '' OR topic = :topic)
