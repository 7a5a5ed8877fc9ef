-- The observation first, then those that are folded into it.
-- name: with_folded
SELECT * FROM observations WHERE id = :id OR repeats = :id ORDER BY id <> :id, id;

-- name: followers
SELECT id FROM observations WHERE follows = :id AND repeats IS NOT :id ORDER BY id;

-- name: add
INSERT INTO forgotten (observation_id, session_id, project_id, at, record)
VALUES (:id, :session_id, :project_id, :at, :record);

-- name: remove
DELETE FROM observations WHERE id = :id;

-- Its session is found by the titles of what it holds.
-- name: index_session
INSERT OR IGNORE INTO unindexed VALUES ('session', :session_id);

-- name: one
SELECT * FROM forgotten WHERE observation_id = :id;

-- name: of_project
SELECT * FROM forgotten WHERE project_id = :project_id ORDER BY at DESC, observation_id DESC;

-- name: page
SELECT * FROM forgotten
WHERE project_id = :project_id AND (at, observation_id) < (:at, :id)
ORDER BY at DESC, observation_id DESC LIMIT :limit;

-- name: drop
DELETE FROM forgotten WHERE observation_id = :id;

-- What it hung on may be gone, and another may stand in its place.
-- name: put_back
INSERT INTO observations (id, session_id, project_id, job_id, ordinal, prompt_number, at, provider, model, type,
                          title, subtitle, narrative, subagent_type, pinned, edited, revision, repeats, follows)
SELECT :id, s.id, s.project_id, (SELECT id FROM jobs WHERE id = :job_id),
  CASE
    WHEN NOT EXISTS (SELECT 1 FROM observations WHERE job_id = :job_id AND ordinal = :ordinal) THEN :ordinal
    ELSE (SELECT max(ordinal) + 1 FROM observations WHERE job_id = :job_id)
  END,
  :prompt_number, :at, :provider, :model, :type, :title, :subtitle, :narrative, :subagent_type, :pinned,
  :edited, :revision,
  (SELECT id FROM observations WHERE id = :repeats), (SELECT id FROM observations WHERE id = :follows)
FROM sessions AS s WHERE s.id = :session_id
ON CONFLICT DO NOTHING
RETURNING id;

-- name: put_back_event
INSERT INTO observation_events (observation_id, event_id)
SELECT :observation_id, id FROM events WHERE id = :event_id
ON CONFLICT DO NOTHING;

-- name: follow_again
UPDATE observations SET follows = :follows WHERE id = :id AND follows IS NULL;
