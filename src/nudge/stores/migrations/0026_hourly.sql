-- The chart of a week counts outcomes by hour, kind and result: in this index alone, without looking at the rows.
CREATE INDEX outcomes_by_kind ON outcomes (agent, kind, result, at);
