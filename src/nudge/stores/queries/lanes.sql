-- One statement decides: of two that claim a free lane at once, one changes the row and the other changes nothing.
-- name: lanes_claim
INSERT INTO lanes (lane, owner, token, until) VALUES (:lane, :owner, :token, :until)
ON CONFLICT (lane) DO UPDATE SET owner = excluded.owner, token = excluded.token, until = excluded.until
WHERE lanes.until <= :now OR lanes.until > :horizon

-- name: lanes_renew
UPDATE lanes SET until = :until WHERE lane = :lane AND token = :token

-- name: lanes_release
DELETE FROM lanes WHERE lane = :lane AND token = :token

-- name: lanes_release_owner
DELETE FROM lanes WHERE owner = :owner

-- Touching the row locks it, so that nobody can take the lane over before the transaction around this ends.
-- name: lanes_assert_held
UPDATE lanes SET token = token WHERE lane = :lane AND token = :token

-- name: lanes_held
SELECT * FROM lanes WHERE until > :now ORDER BY lane
