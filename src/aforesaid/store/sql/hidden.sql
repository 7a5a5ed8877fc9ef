-- Soft-deleted observations. `hidden_with`: the one that somebody hid; the others were folded into it.

-- name: hide
UPDATE observations SET hidden_at = :at, hidden_with = :id
WHERE id IN (SELECT value FROM json_each(:ids)) AND hidden_at IS NULL;

-- name: restore
UPDATE observations SET hidden_at = NULL, hidden_with = NULL WHERE hidden_with = :id RETURNING id;

-- What is folded into one of these, or was before somebody merged that one. What was merged goes with what it was
-- merged into.
-- name: folded_into
SELECT id FROM observations WHERE repeats IN (SELECT value FROM json_each(:ids))
UNION SELECT observation_id FROM merges WHERE into_id IN (SELECT value FROM json_each(:ids))
UNION SELECT l.observation_id FROM own_links AS l
WHERE l.repeats IN (SELECT value FROM json_each(:ids))
  AND NOT EXISTS (SELECT 1 FROM merges AS m WHERE m.observation_id = l.observation_id)
  AND EXISTS (SELECT 1 FROM observations AS o WHERE o.id = l.observation_id AND o.repeats IS NOT NULL);

-- name: one
SELECT id AS observation_id, hidden_at AS at, title, project_id, session_id FROM observations
WHERE id = :id AND hidden_with = id;

-- name: of_project
SELECT id AS observation_id, hidden_at AS at, title, project_id, session_id FROM observations
WHERE hidden_with = id AND hidden_at IS NOT NULL AND project_id = :project_id ORDER BY hidden_at DESC, id DESC;

-- name: page
SELECT id AS observation_id, hidden_at AS at, title, project_id, session_id FROM observations
WHERE hidden_with = id AND (hidden_at, id) < (:at, :id)
  AND project_id IN (SELECT value FROM json_each(:project_ids))
ORDER BY hidden_at DESC, id DESC LIMIT :limit;
