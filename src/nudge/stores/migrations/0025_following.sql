-- Whether a reminder moves with the person to another zone. Those that were set in a chat by the wall clock do.
ALTER TABLE reminders ADD COLUMN follows INTEGER NOT NULL DEFAULT 0;
UPDATE reminders SET follows = 1 WHERE source IN ('chat', 'model') AND schedule LIKE '%"rrule"%';
