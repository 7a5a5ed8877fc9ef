-- What a model will write about when it has time, and nobody has written about yet. The turn is over.
-- name: undrafted
SELECT id, kind, session_id, prompt_number, tries, coalesce(holder, '') AS holder, written_by FROM jobs AS job
WHERE state = 'pending' AND written_by IS NULL AND due_at <= :now AND EXISTS (
  SELECT 1 FROM jobs AS last
  WHERE last.session_id = job.session_id AND last.prompt_number = job.prompt_number
    AND last.kind = 'summarize' AND last.id >= job.id
)
ORDER BY id LIMIT :limit;

-- name: draft
UPDATE jobs SET written_by = :draft WHERE id = :id AND state = 'pending' AND written_by IS NULL;

-- name: keep
UPDATE jobs SET state = 'done', lease_until = NULL, last_error = :why, finished_at = :now,
                written_by = :author
WHERE id = :id AND holder = :holder AND tries = :tries AND state = 'pending' AND written_by = :draft;

-- name: later_part
SELECT 1 FROM jobs
WHERE session_id = :session_id AND prompt_number = :prompt_number AND kind = 'observe' AND id > :id LIMIT 1;

-- name: summary_after
SELECT 1 FROM jobs
WHERE session_id = :session_id AND prompt_number = :prompt_number AND kind = 'summarize' AND id > :id LIMIT 1;

-- name: add_job
INSERT INTO jobs (kind, session_id, prompt_number, due_at, created_at)
VALUES (:kind, :session_id, :prompt_number, :now, :now)
RETURNING id;

-- name: drop_waiting_summary
DELETE FROM jobs
WHERE session_id = :session_id AND prompt_number = :prompt_number AND kind = 'summarize'
  AND state = 'pending' AND lease_until IS NULL;

-- A part of the turn was worked up early, and no summary stands behind it yet.
-- name: unsummarized
SELECT 1 FROM jobs AS job
WHERE session_id = :session_id AND prompt_number = :prompt_number AND kind = 'observe' AND NOT EXISTS (
  SELECT 1 FROM jobs AS later
  WHERE later.session_id = job.session_id AND later.prompt_number = job.prompt_number
    AND later.kind = 'summarize' AND later.id > job.id
)
LIMIT 1;

-- One job at a time per session, oldest first; an expired lease is up for grabs again. Sessions that
-- something happened in lately come before those of the past, however much of that was imported.
-- name: claim
UPDATE jobs SET tries = tries + 1, holder = :holder, lease_until = :lease_until
WHERE id = coalesce(
  (
    SELECT min(first.id) FROM sessions AS s CROSS JOIN jobs AS first
    WHERE s.last_event_at >= :lately AND first.session_id = s.id AND first.state = 'pending'
      AND first.due_at <= :now AND (first.lease_until IS NULL OR first.lease_until <= :now)
      AND NOT EXISTS (
        SELECT 1 FROM jobs AS earlier
        WHERE earlier.session_id = s.id AND earlier.state = 'pending' AND earlier.id < first.id
      )
  ),
  (
    SELECT id FROM jobs AS job
    WHERE state = 'pending' AND due_at <= :now AND (lease_until IS NULL OR lease_until <= :now)
      AND NOT EXISTS (
        SELECT 1 FROM jobs AS earlier
        WHERE earlier.session_id = job.session_id AND earlier.state = 'pending' AND earlier.id < job.id
      )
    ORDER BY id LIMIT 1
  )
)
RETURNING id, kind, session_id, prompt_number, tries, holder, written_by;

-- name: release
UPDATE jobs SET lease_until = NULL WHERE state = 'pending' AND lease_until IS NOT NULL;

-- A job behind another one of its session is not due before that one is.
-- name: next_due
SELECT min(max(due_at, coalesce(lease_until, 0))) FROM jobs AS job
WHERE state = 'pending' AND NOT EXISTS (
  SELECT 1 FROM jobs AS earlier
  WHERE earlier.session_id = job.session_id AND earlier.state = 'pending' AND earlier.id < job.id
);

-- The fault was not the job's: the try does not count.
-- name: give_back
UPDATE jobs SET lease_until = NULL, tries = tries - 1
WHERE id = :id AND holder = :holder AND tries = :tries AND state = 'pending';

-- Nobody was there to do it: the try does not count, and the job waits until `due_at`.
-- name: postpone
UPDATE jobs SET lease_until = NULL, tries = tries - 1, due_at = :due_at, last_error = :why
WHERE id = :id AND holder = :holder AND tries = :tries AND state = 'pending';

-- name: finish
UPDATE jobs SET state = 'done', lease_until = NULL, last_error = NULL, finished_at = :now,
                written_by = :author
WHERE id = :id AND holder = :holder AND tries = :tries AND state = 'pending';

-- name: retry
UPDATE jobs SET lease_until = NULL, due_at = :due_at, last_error = :why
WHERE id = :id AND holder = :holder AND tries = :tries AND state = 'pending';

-- name: skip
UPDATE jobs SET state = 'skipped', lease_until = NULL, last_error = :why, finished_at = :now
WHERE id = :id AND holder = :holder AND tries = :tries AND state = 'pending';

-- name: requeue
UPDATE jobs SET state = 'pending', tries = 0, due_at = :now, lease_until = NULL, finished_at = NULL
WHERE state = 'skipped' AND (:id IS NULL OR id = :id);

-- Whatever it was waiting for is to be tried now.
-- name: make_due
UPDATE jobs SET due_at = :now WHERE state = 'pending' AND lease_until IS NULL AND due_at > :now;

-- Finished work of anybody else. A turn is as old as its last event. The doctor's own sessions are no work.
-- name: again
SELECT job.id FROM jobs AS job JOIN sessions AS session ON session.id = job.session_id
WHERE job.state = 'done' AND job.written_by IS NOT :author AND session.ref NOT LIKE 'doctor-%'
  AND (:session_id IS NULL OR job.session_id = :session_id)
  AND (:project_id IS NULL OR session.project_id = :project_id)
  AND (
    :since IS NULL OR :since <= coalesce(
      (
        SELECT max(at) FROM events
        WHERE session_id = job.session_id AND prompt_number = job.prompt_number
      ),
      session.last_event_at
    )
  )
ORDER BY job.id;

-- It has been waiting since now, not since it was first done.
-- name: do_again
UPDATE jobs SET state = 'pending', tries = 0, due_at = :now, created_at = :now, lease_until = NULL,
                finished_at = NULL
WHERE id = :id;

-- name: skipped
SELECT id, kind, session_id, prompt_number, state, tries, due_at, last_error FROM jobs
WHERE state = 'skipped' ORDER BY id DESC LIMIT :limit;

-- In the order in which they may be done.
-- name: pending_of_session
SELECT count(*) FROM jobs WHERE session_id = :session_id AND state = 'pending';

-- name: pending
SELECT id, kind, session_id, prompt_number, state, tries, due_at, last_error FROM jobs
WHERE state = 'pending' ORDER BY due_at, id LIMIT :limit;

-- name: counts
SELECT
  (SELECT count(*) FROM jobs WHERE state = 'pending') AS pending,
  (SELECT count(*) FROM jobs WHERE state = 'skipped') AS skipped,
  (SELECT min(created_at) FROM jobs WHERE state = 'pending') AS oldest_pending,
  (SELECT max(finished_at) FROM jobs WHERE state = 'done') AS last_done,
  (SELECT count(*) FROM quarantine) AS quarantined,
  (SELECT count(*) FROM sessions WHERE status = 'active') AS active_sessions,
  (SELECT count(*) FROM sessions) AS sessions,
  (SELECT count(*) FROM events) AS events,
  (SELECT count(*) FROM events WHERE healed) AS from_transcripts,
  (SELECT count(*) FROM visible_observations) AS observations,
  (SELECT count(*) FROM summaries) AS summaries,
  (SELECT count(*) FROM projects) AS projects;

-- name: unfinished
SELECT id, kind, session_id, prompt_number, tries, '' AS holder FROM jobs
WHERE state = 'pending' ORDER BY id;
