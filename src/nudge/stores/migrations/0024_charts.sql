-- How the ping budget went: one row for each change of a bucket, kept for 31 days. Between two of them it refills at its
-- rate. A trigger writes it, so that no writer can forget to.
CREATE TABLE bucket_levels (
    agent TEXT NOT NULL,
    at BIGINT NOT NULL,
    level BIGINT NOT NULL,
    capacity BIGINT NOT NULL,
    refill_minutes BIGINT NOT NULL,
    PRIMARY KEY (agent, at)
);

INSERT INTO bucket_levels SELECT agent, last_refill, level, capacity, refill_minutes FROM attention;

-- only: sqlite
CREATE TRIGGER bucket_levels_new AFTER INSERT ON attention
BEGIN INSERT INTO bucket_levels VALUES (NEW.agent, NEW.last_refill, NEW.level, NEW.capacity, NEW.refill_minutes) ON CONFLICT (agent, at) DO UPDATE SET level = excluded.level, capacity = excluded.capacity, refill_minutes = excluded.refill_minutes; END;

-- only: sqlite
CREATE TRIGGER bucket_levels_changed AFTER UPDATE ON attention
WHEN NEW.level <> OLD.level OR NEW.last_refill <> OLD.last_refill OR NEW.capacity <> OLD.capacity OR NEW.refill_minutes <> OLD.refill_minutes
BEGIN INSERT INTO bucket_levels VALUES (NEW.agent, NEW.last_refill, NEW.level, NEW.capacity, NEW.refill_minutes) ON CONFLICT (agent, at) DO UPDATE SET level = excluded.level, capacity = excluded.capacity, refill_minutes = excluded.refill_minutes; DELETE FROM bucket_levels WHERE agent = NEW.agent AND at < NEW.last_refill - 2678400000000; END;

-- A ping that is taken from a bucket that was full again leaves the level as it was after the one before: only the time
-- tells them apart.
-- only: sqlite
DROP TRIGGER changes_attention;

-- only: sqlite
CREATE TRIGGER changes_attention AFTER UPDATE ON attention
WHEN NEW.level <> OLD.level OR NEW.last_refill <> OLD.last_refill OR NEW.capacity <> OLD.capacity
    OR NEW.quiet_until IS NOT OLD.quiet_until OR NEW.busy_until IS NOT OLD.busy_until OR NEW.left_alone <> OLD.left_alone
BEGIN INSERT INTO changes VALUES ('attention', NEW.agent, '', (SELECT COALESCE(MAX(revision), 0) + 1 FROM changes)) ON CONFLICT (kind, agent, key) DO UPDATE SET revision = excluded.revision; END;

-- only: postgresql
DROP TRIGGER changes_attention ON attention;

-- only: postgresql
CREATE TRIGGER changes_attention AFTER UPDATE ON attention FOR EACH ROW
WHEN (NEW.level <> OLD.level OR NEW.last_refill <> OLD.last_refill OR NEW.capacity <> OLD.capacity
    OR NEW.quiet_until IS DISTINCT FROM OLD.quiet_until OR NEW.busy_until IS DISTINCT FROM OLD.busy_until
    OR NEW.left_alone <> OLD.left_alone)
EXECUTE FUNCTION note_change('attention', '');

-- only: postgresql
CREATE FUNCTION note_level() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO bucket_levels VALUES (NEW.agent, NEW.last_refill, NEW.level, NEW.capacity, NEW.refill_minutes) ON CONFLICT (agent, at) DO UPDATE SET level = excluded.level, capacity = excluded.capacity, refill_minutes = excluded.refill_minutes; DELETE FROM bucket_levels WHERE agent = NEW.agent AND at < NEW.last_refill - 2678400000000; RETURN NULL; END $$;

-- only: postgresql
CREATE TRIGGER bucket_levels_new AFTER INSERT ON attention FOR EACH ROW EXECUTE FUNCTION note_level();

-- only: postgresql
CREATE TRIGGER bucket_levels_changed AFTER UPDATE ON attention FOR EACH ROW
WHEN (NEW.level <> OLD.level OR NEW.last_refill <> OLD.last_refill OR NEW.capacity <> OLD.capacity
    OR NEW.refill_minutes <> OLD.refill_minutes)
EXECUTE FUNCTION note_level();

-- The phase that a session was in when something was said. Unknown for what was said before.
ALTER TABLE session_messages ADD COLUMN phase TEXT NOT NULL DEFAULT '';
