-- name: pools_create
INSERT INTO pools (run, agent, owner, keeps_percent, gets_percent, lasts)
VALUES (:run, :agent, :owner, :keeps_percent, :gets_percent, :lasts)
ON CONFLICT (run) DO NOTHING

-- name: pools_get
SELECT * FROM pools WHERE run = :run

-- The pool's lock is held, so nobody else counts at the same time.
-- name: pools_add_member
INSERT INTO pool_members (run, name, parent, number, granted, expires_at, state)
SELECT :run, :name, CAST(:parent AS TEXT), COUNT(*), :granted, CAST(:expires_at AS BIGINT), :state
FROM pool_members WHERE run = :run

-- name: pools_put_member
UPDATE pool_members SET state = :state, expires_at = :expires_at WHERE run = :run AND name = :name

-- A call that nobody reported on is written down when it is given up: that is no sign of whoever made it.
-- name: pools_members
SELECT m.run, m.name, m.parent, m.granted, m.expires_at, m.state, a.money_limit, a.committed, a.held,
    CASE WHEN m.state = 'open' THEN (
        SELECT MAX(u.at) FROM usage_log u
        WHERE u.run = m.run || '/' || m.name AND u.run <> '' AND u.ended <> 'expired'
    ) END AS called_at
FROM pool_members m JOIN accounts a ON a.kind = 3 AND a.name = m.run || '/' || m.name
WHERE m.run = :run AND (m.state = 'open' OR m.parent IS NULL OR :closed = 1) ORDER BY m.number

-- name: pools_member
SELECT * FROM pool_members WHERE run = :run AND name = :name

-- name: pools_closed_use
SELECT m.parent, p.parent AS above, SUM(a.committed + a.held) AS used
FROM pool_members m JOIN accounts a ON a.kind = 3 AND a.name = m.run || '/' || m.name
JOIN pool_members p ON p.run = m.run AND p.name = m.parent
WHERE m.run = :run AND m.state <> 'open'
GROUP BY m.parent, p.parent
