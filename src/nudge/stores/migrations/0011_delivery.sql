-- A message that may have arrived waits as `unsure`. `ready_at` is when a rule of restraint let it go: its lateness
-- counts from there. `retry_at` is set on one that stands aside, so that it does not hold up the others.
ALTER TABLE outbox ADD COLUMN ready_at BIGINT;
ALTER TABLE outbox ADD COLUMN retry_at BIGINT;

DROP INDEX outbox_open;
CREATE INDEX outbox_open ON outbox (agent, id) WHERE state IN ('pending', 'sending', 'unsure');
