-- name: questions_put
INSERT INTO questions (id, agent, session, kind, text, asked_at, deadline, answer, answered_at)
VALUES (:id, :agent, :session, :kind, :text, :asked_at, :deadline, '', NULL)
ON CONFLICT (id) DO NOTHING

-- name: questions_get
SELECT * FROM questions WHERE id = :id

-- name: questions_open
SELECT * FROM questions WHERE answered_at IS NULL AND deadline > :now ORDER BY asked_at, id LIMIT 100

-- name: questions_of_session
SELECT * FROM questions WHERE agent = :agent AND session = :session ORDER BY asked_at DESC, id LIMIT 1

-- Only while it is open: of two answers the first counts.
-- name: questions_answer
UPDATE questions SET answer = :answer, answered_at = :now
WHERE id = :id AND answered_at IS NULL AND deadline > :now
