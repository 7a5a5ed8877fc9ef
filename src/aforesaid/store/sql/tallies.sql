-- name: session
SELECT
  (SELECT count(*) FROM prompts WHERE session_id = s.id) AS prompts,
  (SELECT count(*) FROM events WHERE session_id = s.id) AS events,
  (SELECT count(DISTINCT prompt_number) FROM jobs WHERE session_id = s.id) AS turns,
  (SELECT count(*) FROM jobs WHERE session_id = s.id AND kind = 'observe') AS parts,
  (SELECT count(*) FROM jobs WHERE session_id = s.id AND kind = 'summarize') AS summaries
FROM sessions AS s WHERE s.agent = :agent AND s.ref = :ref;

-- A job that was put off or failed was made in the past, and waits for its own reasons.
-- name: release_held_jobs
UPDATE jobs SET due_at = :now, created_at = :now
WHERE state = 'pending' AND created_at > :now
  AND session_id = (SELECT id FROM sessions WHERE agent = :agent AND ref = :ref);
