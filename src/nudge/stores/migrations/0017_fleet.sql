-- The fleet: when each agent's workflow looks next, and who must be told that something is due before that.

CREATE TABLE fleet (
    id INTEGER PRIMARY KEY,
    task_queue TEXT NOT NULL,
    spread BIGINT NOT NULL,
    adopted_at BIGINT NOT NULL
);

CREATE TABLE fleet_agents (
    agent TEXT PRIMARY KEY REFERENCES agents (name),
    wakes_at BIGINT NOT NULL,
    visited_at BIGINT
);

CREATE INDEX fleet_by_wake ON fleet_agents (wakes_at);

CREATE TABLE fleet_pokes (
    id {serial},
    agent TEXT NOT NULL,
    kind TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    made_at BIGINT NOT NULL
);

-- Lock first, compare then: a visit that ends at this moment writes the time of its next look under the same lock.
-- only: postgresql
CREATE FUNCTION timers_poke() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN PERFORM 1 FROM fleet_agents WHERE agent = NEW.agent FOR SHARE; INSERT INTO fleet_pokes (agent, kind, due_at,
made_at) SELECT NEW.agent, NEW.kind, NEW.due_at, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)
WHERE NOT EXISTS (SELECT 1 FROM fleet_agents f WHERE f.agent = NEW.agent AND f.wakes_at <= NEW.due_at)
; IF FOUND THEN PERFORM pg_notify('nudge_pokes', ''); END IF; RETURN NULL; END $$;

-- only: postgresql
CREATE TRIGGER timers_poke AFTER INSERT OR UPDATE OF due_at ON timers FOR EACH ROW EXECUTE FUNCTION timers_poke();

-- Until a fleet takes the home over, timers cost nothing more.
-- only: postgresql
ALTER TABLE timers DISABLE TRIGGER timers_poke;
