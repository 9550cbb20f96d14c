-- name: outbox_put
INSERT INTO outbox (agent, text, kind, created_at, asked, buttons, state, sent_at, possibly_repeated, attempts, error,
    receipt, reminder_id, typed, topic, key, slot_at)
VALUES (:agent, :text, :kind, :created_at, :asked, :buttons, :state, NULL, :possibly_repeated, 0, '', '[]',
    :reminder_id, :typed, :topic, :key, :slot_at)
RETURNING id

-- name: outbox_pending
SELECT * FROM outbox WHERE agent = :agent AND state IN ('pending', 'sending', 'unsure') AND id > :after
ORDER BY id LIMIT :limit

-- name: outbox_mark
UPDATE outbox SET
    state = :state, sent_at = :sent_at, error = :error, receipt = COALESCE(CAST(:receipt AS TEXT), receipt),
    retry_at = :retry_at,
    attempts = attempts + CASE WHEN :state = 'sending' THEN 1 ELSE 0 END,
    possibly_repeated = CASE WHEN CAST(:possibly_repeated AS INTEGER) IS NULL
        THEN possibly_repeated ELSE CAST(:possibly_repeated AS INTEGER) END
WHERE id = :id

-- name: outbox_wait
UPDATE outbox SET ready_at = :until WHERE id = :id

-- name: outbox_arrived
UPDATE outbox SET receipt = :receipt WHERE id = :id

-- name: outbox_receipt
INSERT INTO receipts (agent, receipt, message_id)
SELECT agent, :receipt, id FROM outbox WHERE id = :id
ON CONFLICT (agent, receipt) DO UPDATE SET message_id = excluded.message_id

-- name: outbox_get
SELECT * FROM outbox WHERE id = :id

-- name: outbox_by_receipt
SELECT o.* FROM outbox o JOIN receipts r ON r.message_id = o.id WHERE r.agent = :agent AND r.receipt = :receipt

-- name: outbox_recent
SELECT * FROM outbox
WHERE (CAST(:agent AS TEXT) IS NULL OR agent = :agent) AND created_at >= :since
ORDER BY id DESC LIMIT :limit

-- name: outbox_after_id
SELECT * FROM outbox WHERE id > :last ORDER BY id LIMIT :limit

-- name: outbox_last_id
SELECT COALESCE(MAX(id), 0) AS id FROM outbox
