-- Why a call was refused or cut, in the words that its client was told. Calls are followed by when they ended.
ALTER TABLE gateway_calls ADD COLUMN reason TEXT NOT NULL DEFAULT '';

CREATE INDEX gateway_calls_by_time ON gateway_calls (at);
