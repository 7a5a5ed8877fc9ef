-- name: named
SELECT * FROM observations WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id;

-- Who is folded into one of these, or was before somebody merged that one. Who was merged goes with what it was
-- merged into.
-- name: folded_into
SELECT id FROM observations WHERE repeats IN (SELECT value FROM json_each(:ids))
UNION SELECT observation_id FROM merges WHERE into_id IN (SELECT value FROM json_each(:ids))
UNION SELECT u.observation_id FROM unmerged AS u
WHERE u.repeats IN (SELECT value FROM json_each(:ids))
  AND NOT EXISTS (SELECT 1 FROM merges AS m WHERE m.observation_id = u.observation_id)
  AND EXISTS (SELECT 1 FROM observations AS o WHERE o.id = u.observation_id AND o.repeats IS NOT NULL);

-- By themselves, whatever a merge has made of it.
-- name: followers
SELECT o.id FROM observations AS o
WHERE o.follows = :id AND NOT EXISTS (SELECT 1 FROM unmerged AS u WHERE u.observation_id = o.id)
UNION SELECT observation_id FROM unmerged WHERE follows = :id ORDER BY 1;

-- Who would be folded into it, and stands or is folded into another because of a merge.
-- name: repeaters
SELECT observation_id AS id FROM unmerged WHERE repeats = :id ORDER BY 1;

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
                          title, subtitle, narrative, subagent_type, pinned, edited, revision, repeats, follows,
                          confirmed, origins, sources)
SELECT :id, s.id, s.project_id, (SELECT id FROM jobs WHERE id = :job_id),
  CASE
    WHEN NOT EXISTS (SELECT 1 FROM observations WHERE job_id = :job_id AND ordinal = :ordinal) THEN :ordinal
    ELSE (SELECT max(ordinal) + 1 FROM observations WHERE job_id = :job_id)
  END,
  :prompt_number, :at, :provider, :model, :type, :title, :subtitle, :narrative, :subagent_type, :pinned,
  :edited, :revision, NULL, NULL, :confirmed, :origins, :sources
FROM sessions AS s WHERE s.id = :session_id
ON CONFLICT DO NOTHING
RETURNING id;

-- name: put_back_event
INSERT INTO observation_events (observation_id, event_id)
SELECT :observation_id, id FROM events WHERE id = :event_id
ON CONFLICT DO NOTHING;
