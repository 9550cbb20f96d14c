-- What pages and followers look at and what has no log of its own: sessions, questions, meters, buckets, reminders. One
-- row for each, with the number of its last change. Triggers write it, so that no writer can forget to.
CREATE TABLE changes (
    kind TEXT NOT NULL,
    agent TEXT NOT NULL,
    key TEXT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (kind, agent, key)
);

CREATE INDEX changes_by_revision ON changes (revision);

-- only: sqlite
CREATE TRIGGER changes_sessions_new AFTER INSERT ON sessions
BEGIN INSERT INTO changes VALUES ('session', NEW.agent, NEW.id, (SELECT COALESCE(MAX(revision), 0) + 1 FROM changes)) ON CONFLICT (kind, agent, key) DO UPDATE SET revision = excluded.revision; END;

-- only: sqlite
CREATE TRIGGER changes_sessions AFTER UPDATE ON sessions
BEGIN INSERT INTO changes VALUES ('session', NEW.agent, NEW.id, (SELECT COALESCE(MAX(revision), 0) + 1 FROM changes)) ON CONFLICT (kind, agent, key) DO UPDATE SET revision = excluded.revision; END;

-- only: sqlite
CREATE TRIGGER changes_questions_new AFTER INSERT ON questions
BEGIN INSERT INTO changes VALUES ('question', NEW.agent, NEW.id, (SELECT COALESCE(MAX(revision), 0) + 1 FROM changes)) ON CONFLICT (kind, agent, key) DO UPDATE SET revision = excluded.revision; END;

-- only: sqlite
CREATE TRIGGER changes_questions AFTER UPDATE ON questions
BEGIN INSERT INTO changes VALUES ('question', NEW.agent, NEW.id, (SELECT COALESCE(MAX(revision), 0) + 1 FROM changes)) ON CONFLICT (kind, agent, key) DO UPDATE SET revision = excluded.revision; END;

-- only: sqlite
CREATE TRIGGER changes_accounts AFTER UPDATE ON accounts WHEN NEW.kind = 1
BEGIN INSERT INTO changes VALUES ('meter', NEW.agent, '', (SELECT COALESCE(MAX(revision), 0) + 1 FROM changes)) ON CONFLICT (kind, agent, key) DO UPDATE SET revision = excluded.revision; END;

-- only: sqlite
CREATE TRIGGER changes_spending AFTER UPDATE ON spending
BEGIN INSERT INTO changes VALUES ('meter', NEW.agent, '', (SELECT COALESCE(MAX(revision), 0) + 1 FROM changes)) ON CONFLICT (kind, agent, key) DO UPDATE SET revision = excluded.revision; END;

-- only: sqlite
CREATE TRIGGER changes_attention AFTER UPDATE ON attention
WHEN NEW.level <> OLD.level OR NEW.capacity <> OLD.capacity OR NEW.quiet_until IS NOT OLD.quiet_until
    OR NEW.busy_until IS NOT OLD.busy_until OR NEW.left_alone <> OLD.left_alone
BEGIN INSERT INTO changes VALUES ('attention', NEW.agent, '', (SELECT COALESCE(MAX(revision), 0) + 1 FROM changes)) ON CONFLICT (kind, agent, key) DO UPDATE SET revision = excluded.revision; END;

-- only: sqlite
CREATE TRIGGER changes_reminders_new AFTER INSERT ON reminders
BEGIN INSERT INTO changes VALUES ('reminder', NEW.agent, NEW.id, (SELECT COALESCE(MAX(revision), 0) + 1 FROM changes)) ON CONFLICT (kind, agent, key) DO UPDATE SET revision = excluded.revision; END;

-- only: sqlite
CREATE TRIGGER changes_reminders AFTER UPDATE ON reminders
WHEN NEW.status <> OLD.status OR NEW.schedule <> OLD.schedule OR NEW.message <> OLD.message OR NEW.name <> OLD.name
BEGIN INSERT INTO changes VALUES ('reminder', NEW.agent, NEW.id, (SELECT COALESCE(MAX(revision), 0) + 1 FROM changes)) ON CONFLICT (kind, agent, key) DO UPDATE SET revision = excluded.revision; END;

-- On a server many write at once: a sequence gives each change a number of its own, and a follower sees the gaps.
-- only: postgresql
CREATE SEQUENCE change_revisions;

-- only: postgresql
CREATE SEQUENCE outcome_revisions;

-- only: postgresql
SELECT setval('outcome_revisions', (SELECT COALESCE(MAX(revision), 0) + 1 FROM outcomes), false);

-- only: postgresql
CREATE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql AS
$$ DECLARE found text := ''; BEGIN IF TG_ARGV[1] <> '' THEN EXECUTE format('SELECT ($1).%I', TG_ARGV[1]) USING NEW INTO found; END IF; INSERT INTO changes VALUES (TG_ARGV[0], NEW.agent, found, nextval('change_revisions')) ON CONFLICT (kind, agent, key) DO UPDATE SET revision = excluded.revision; RETURN NULL; END $$;

-- only: postgresql
CREATE TRIGGER changes_sessions AFTER INSERT OR UPDATE ON sessions FOR EACH ROW EXECUTE FUNCTION note_change('session', 'id');

-- only: postgresql
CREATE TRIGGER changes_questions AFTER INSERT OR UPDATE ON questions FOR EACH ROW EXECUTE FUNCTION note_change('question', 'id');

-- only: postgresql
CREATE TRIGGER changes_accounts AFTER UPDATE ON accounts FOR EACH ROW WHEN (NEW.kind = 1)
EXECUTE FUNCTION note_change('meter', '');

-- only: postgresql
CREATE TRIGGER changes_spending AFTER UPDATE ON spending FOR EACH ROW EXECUTE FUNCTION note_change('meter', '');

-- only: postgresql
CREATE TRIGGER changes_attention AFTER UPDATE ON attention FOR EACH ROW
WHEN (NEW.level <> OLD.level OR NEW.capacity <> OLD.capacity OR NEW.quiet_until IS DISTINCT FROM OLD.quiet_until
    OR NEW.busy_until IS DISTINCT FROM OLD.busy_until OR NEW.left_alone <> OLD.left_alone)
EXECUTE FUNCTION note_change('attention', '');

-- only: postgresql
CREATE TRIGGER changes_reminders_new AFTER INSERT ON reminders FOR EACH ROW EXECUTE FUNCTION note_change('reminder', 'id');

-- only: postgresql
CREATE TRIGGER changes_reminders AFTER UPDATE ON reminders FOR EACH ROW
WHEN (NEW.status <> OLD.status OR NEW.schedule <> OLD.schedule OR NEW.message <> OLD.message OR NEW.name <> OLD.name)
EXECUTE FUNCTION note_change('reminder', 'id');
