-- A letter that a program took comes back unless the program says that it is done with it.

ALTER TABLE letters ADD COLUMN taken_until BIGINT;
ALTER TABLE letters ADD COLUMN takes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE letters ADD COLUMN taken_count BIGINT NOT NULL DEFAULT 0;
