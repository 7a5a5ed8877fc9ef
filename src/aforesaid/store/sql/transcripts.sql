-- name: mark
SELECT mark FROM transcript_marks WHERE agent = :agent AND ref = :ref;

-- name: set_mark
INSERT INTO transcript_marks (agent, ref, mark, at) VALUES (:agent, :ref, :mark, :now)
ON CONFLICT (agent, ref) DO UPDATE SET mark = excluded.mark, at = excluded.at;

-- name: forget_marks
DELETE FROM transcript_marks WHERE ref <> '';

-- Without a session: when all transcripts were looked at last.
-- name: look_again
UPDATE transcript_marks SET mark = CAST(min(CAST(mark AS INTEGER), :since) AS TEXT) WHERE ref = '';

-- name: look_from
UPDATE transcript_marks SET mark = CAST(:until AS TEXT) WHERE ref = '';

-- name: path
SELECT transcript FROM sessions WHERE agent = :agent AND ref = :ref;

-- name: known_since
SELECT created_at FROM projects WHERE id = :id;
