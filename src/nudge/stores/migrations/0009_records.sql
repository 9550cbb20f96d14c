-- Notes become records, each declared once with its type. One fact has one name.
ALTER TABLE notes RENAME TO records;

UPDATE records SET name = 'agent.idle_since', value = replace(replace(value, '{"at": ', ''), '}', '') WHERE name = 'activity';
UPDATE records SET name = 'documents.pending' WHERE name = 'pages.pending';
UPDATE records SET name = 'problems.role' WHERE name = 'problems:role';
UPDATE records SET name = 'problems.file' WHERE name = 'problems:file';
UPDATE records SET name = 'signal.asked' WHERE name = 'activity.asked';
UPDATE records SET value = replace(value, '"wishes": ', '"requests": ') WHERE name = 'undo';
UPDATE timers SET key = 'document-writes', kind = 'document-writes' WHERE key = 'pages';

-- The offset becomes a cursor: of a bot that is not known yet, and with nothing known of what was handled before.
UPDATE records SET name = 'channel.position.telegram', value = '{"cursor": "0:' || value || ':0", "recent": []}'
WHERE name = 'telegram.offset';

-- An outage that is still going on is noticed again at the next call.
DELETE FROM records WHERE name IN ('model.down_since', 'model.rest_until', 'model.in_vain');

-- "30 more minutes" belongs to the person's other requests.
ALTER TABLE attention ADD COLUMN delayed_until BIGINT;
UPDATE attention SET delayed_until = (
    SELECT CAST(value AS BIGINT) FROM records WHERE records.agent = attention.agent AND name = 'delayed_until'
);
DELETE FROM records WHERE name = 'delayed_until';

-- The topic of a message was three things: the reminder it delivers, a mark for answers to a terminal, and its topic.
ALTER TABLE outbox ADD COLUMN reminder_id TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN typed INTEGER NOT NULL DEFAULT 0;
UPDATE outbox SET reminder_id = topic, topic = '' WHERE kind = 'reminder';
UPDATE outbox SET typed = 1, topic = '' WHERE kind = 'reply' AND topic = 'typed';
