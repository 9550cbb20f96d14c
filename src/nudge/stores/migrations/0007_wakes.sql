-- Daemons that share a PostgreSQL tell each other of a timer that is due before the others look again by themselves.
-- In the trigger and not in the statement: a notification makes commits wait for each other, so it is for these alone.

-- only: postgresql
CREATE FUNCTION timers_wake() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN PERFORM pg_notify('nudge_timers', ''); RETURN NULL; END $$;

-- only: postgresql
CREATE TRIGGER timers_wake AFTER INSERT OR UPDATE OF due_at ON timers FOR EACH ROW
WHEN (NEW.due_at < extract(epoch FROM clock_timestamp()) * 1000000 + 5000000)
EXECUTE FUNCTION timers_wake();
