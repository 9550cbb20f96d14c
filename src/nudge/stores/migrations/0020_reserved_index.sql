-- With one column SQLite preferred the index by status, and read all of an agent's reminders at every look at the gate.
DROP INDEX reminders_reserved;

CREATE INDEX reminders_reserved ON reminders (agent, status, reserve) WHERE reserve = 1 AND status = 'active';
