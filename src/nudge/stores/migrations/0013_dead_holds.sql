-- Who made a hold: the home whose daemon did. A daemon that starts knows that what its home held before is dead.
ALTER TABLE holds ADD COLUMN owner TEXT NOT NULL DEFAULT '';

-- How many calls of the agent were refused in a row because the rest of the day is too small, and the least of them.
ALTER TABLE spending ADD COLUMN refused_calls BIGINT NOT NULL DEFAULT 0;
ALTER TABLE spending ADD COLUMN refused_least BIGINT NOT NULL DEFAULT 0;
