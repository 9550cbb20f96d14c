-- Until when a window of the agent's plan is used up: it sleeps that long, whatever money it has.
ALTER TABLE spending ADD COLUMN plan_resets_at BIGINT;
