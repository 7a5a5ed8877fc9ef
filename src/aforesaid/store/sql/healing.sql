-- What the store has of what a transcript tells.

-- name: by_key
SELECT id, at FROM events WHERE session_id = :session_id AND key = :key;

-- name: by_content
SELECT id, at FROM events
WHERE session_id = :session_id AND content_hash = :content_hash AND kind = :kind
  AND at BETWEEN :at - :window AND :at + :window
ORDER BY abs(at - :at) LIMIT 1;

-- What hooks delivered of the events that frame a turn.
-- name: framing
SELECT id, kind, at, prompt_id FROM events
WHERE session_id = :session_id AND kind <> 'tool' AND kind <> 'subagent_stop' AND NOT healed
  AND at BETWEEN :first AND :last;

-- An event that a hook delivers after the transcript has told of it.
-- name: told_already
SELECT 1 FROM events
WHERE session_id = :session_id AND kind = :kind AND healed AND at BETWEEN :at - :window AND :at + :window
  AND (prompt_id IS NULL OR :prompt_id IS NULL OR prompt_id = :prompt_id);

-- Prompt numbers. Room for one more: where a number is unique, in two steps.

-- name: shift_prompts
UPDATE prompts SET number = -number - 1 WHERE session_id = :session_id AND number >= :first;

-- name: settle_prompts
UPDATE prompts SET number = -number WHERE session_id = :session_id AND number < 0;

-- name: shift_summaries
UPDATE summaries SET prompt_number = -prompt_number - 1
WHERE session_id = :session_id AND prompt_number >= :first;

-- name: settle_summaries
UPDATE summaries SET prompt_number = -prompt_number WHERE session_id = :session_id AND prompt_number < 0;

-- name: shift_events
UPDATE events SET prompt_number = prompt_number + 1
WHERE session_id = :session_id AND prompt_number >= :first;

-- name: shift_observations
UPDATE observations SET prompt_number = prompt_number + 1
WHERE session_id = :session_id AND prompt_number >= :first;

-- name: shift_jobs
UPDATE jobs SET prompt_number = prompt_number + 1
WHERE session_id = :session_id AND prompt_number >= :first;

-- name: move_observations
UPDATE observations SET prompt_number = :new WHERE session_id = :session_id AND prompt_number = :old;

-- name: move_jobs
UPDATE jobs SET prompt_number = :new WHERE session_id = :session_id AND prompt_number = :old;

-- name: count_prompts
UPDATE sessions
SET prompts = (SELECT count(*) FROM prompts WHERE session_id = sessions.id)
WHERE id = :session_id;

-- name: number_by_time
SELECT max(number) FROM prompts WHERE session_id = :session_id AND at <= :at;

-- Events whose prompt was not known when they came. They were put down to the last prompt before them that
-- was, so they are found from there on. Of prompts of one id, the first has the events.
-- name: misplaced
SELECT e.id, e.job_id, e.kind, e.prompt_number, p.number
FROM events AS e CROSS JOIN prompts AS p ON p.session_id = e.session_id AND p.prompt_id = e.prompt_id
WHERE e.session_id = :session_id AND e.prompt_number >= :base AND e.prompt_number <> p.number
  AND NOT EXISTS (
    SELECT 1 FROM prompts AS earlier
    WHERE earlier.session_id = p.session_id AND earlier.prompt_id = p.prompt_id
      AND earlier.number < p.number
  )
  AND NOT EXISTS (
    SELECT 1 FROM prompts AS own
    WHERE e.kind = 'prompt' AND own.session_id = e.session_id AND own.number = e.prompt_number
      AND own.at = e.at
  )
-- Those whose prompt nobody knows by an id: to the last of the new prompts before them, if there is no other
-- prompt between.
UNION ALL
SELECT e.id, e.job_id, e.kind, e.prompt_number, max(p.number) AS number
FROM events AS e CROSS JOIN prompts AS p ON p.session_id = e.session_id
WHERE e.session_id = :session_id AND e.prompt_number >= :base
  AND p.number IN (SELECT value FROM json_each(:numbers)) AND p.number > e.prompt_number AND p.at < e.at
  AND NOT EXISTS (
    SELECT 1 FROM prompts AS other
    WHERE other.session_id = e.session_id AND other.number > e.prompt_number AND other.number < p.number
      AND other.number NOT IN (SELECT value FROM json_each(:numbers))
  )
  AND NOT EXISTS (
    SELECT 1 FROM prompts AS own WHERE own.session_id = e.session_id AND own.prompt_id = e.prompt_id
  )
GROUP BY e.id;

-- name: place_event
UPDATE events SET prompt_number = :number WHERE id = :id;

-- Turns, and the jobs they have.

-- name: turn
SELECT
  coalesce(max(kind = 'stop'), 0) AS stopped,
  max(at) FILTER (WHERE kind IN ('stop', 'compact', 'session_end')) AS closed_at,
  count(*) FILTER (WHERE kind IN ('tool', 'subagent_stop') AND NOT boring) AS worth,
  max(at) FILTER (WHERE kind = 'tool' AND NOT boring) AS last_tool
FROM events WHERE session_id = :session_id AND prompt_number = :prompt_number;

-- What there is to work up until the turn's end, and what of it waits.
-- name: worth
SELECT count(*) AS worth, count(*) FILTER (WHERE job_id IS NULL) AS waiting FROM events
WHERE session_id = :session_id AND prompt_number = :prompt_number
  AND kind IN ('tool', 'subagent_stop') AND NOT boring AND (:until IS NULL OR at <= :until);

-- name: claim
UPDATE events SET job_id = :job_id
WHERE id IN (
  SELECT id FROM events
  WHERE session_id = :session_id AND prompt_number = :prompt_number AND job_id IS NULL
    AND kind IN ('tool', 'subagent_stop') AND NOT boring AND (:until IS NULL OR at <= :until)
  ORDER BY at, id LIMIT :limit
);

-- Nobody has begun them and nothing has come of them: they can be made again, with more in them.
-- name: drop_untouched
DELETE FROM jobs
WHERE session_id = :session_id AND prompt_number = :prompt_number AND state = 'pending' AND tries = 0
  AND lease_until IS NULL AND written_by IS NULL
  AND NOT EXISTS (SELECT 1 FROM observations WHERE job_id = jobs.id)
  AND NOT EXISTS (SELECT 1 FROM requests WHERE job_id = jobs.id);

-- name: observed
SELECT 1 FROM jobs
WHERE session_id = :session_id AND prompt_number = :prompt_number AND kind = 'observe' LIMIT 1;

-- A part of the turn was worked up before it ended, and no summary stands behind it yet.
-- name: unsummarized
SELECT 1 FROM jobs AS job
WHERE session_id = :session_id AND prompt_number = :prompt_number AND kind = 'observe'
  AND NOT EXISTS (
    SELECT 1 FROM jobs AS later
    WHERE later.session_id = job.session_id AND later.prompt_number = job.prompt_number
      AND later.kind = 'summarize' AND later.id > job.id
  )
  AND (:until IS NULL OR EXISTS (SELECT 1 FROM events WHERE job_id = job.id AND at <= :until))
LIMIT 1;

-- A try that is under way was begun for a turn that is another one now: it must have no effect.
-- name: fence
UPDATE jobs SET lease_until = NULL, holder = NULL
WHERE session_id = :session_id AND state = 'pending' AND lease_until IS NOT NULL;

-- Where the events of a job are now.
-- name: numbers_of_job
SELECT count(*) FILTER (WHERE e.prompt_number = job.prompt_number) AS kept, min(e.prompt_number) AS first
FROM jobs AS job JOIN events AS e ON e.job_id = job.id WHERE job.id = :id;

-- name: move_job
UPDATE jobs SET prompt_number = :number WHERE id = :id;

-- name: move_observations_of_job
UPDATE observations SET prompt_number = :number WHERE job_id = :id;

-- name: release_events
UPDATE events SET job_id = NULL
WHERE job_id = :id AND prompt_number <> (SELECT prompt_number FROM jobs WHERE id = :id)
RETURNING prompt_number;

-- name: redo
UPDATE jobs SET state = 'pending', tries = 0, due_at = :now, created_at = :now, finished_at = NULL
WHERE id = :id AND state = 'done';

-- The note of the whole turn, if no model wrote it: it may name events that were moved to another turn.
-- name: redo_note
UPDATE jobs SET state = 'pending', tries = 0, due_at = :now, created_at = :now, finished_at = NULL
WHERE state = 'done' AND written_by IN ('rules', 'draft') AND id = (
  SELECT max(id) FROM jobs
  WHERE session_id = :session_id AND prompt_number = :prompt_number AND kind = 'observe'
);

-- name: last_framing
SELECT max(at) FROM (
  SELECT at FROM prompts WHERE session_id = :session_id
  UNION ALL
  SELECT at FROM events
  WHERE session_id = :session_id AND kind IN ('session_start', 'session_end')
    AND kind <> 'tool' AND kind <> 'subagent_stop'
);
