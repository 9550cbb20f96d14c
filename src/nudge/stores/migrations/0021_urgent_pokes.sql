-- Workers send the most urgent poke first; a visit's end takes back those of its agent.

CREATE INDEX fleet_pokes_by_due ON fleet_pokes (due_at, id);

CREATE INDEX fleet_pokes_by_agent ON fleet_pokes (agent);
