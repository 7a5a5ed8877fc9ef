-- Soft-deleted observations. `hidden_with`: the one that somebody hid; the others were folded into it.

-- name: hide
UPDATE observations SET hidden_at = :at, hidden_with = :id
WHERE id IN (SELECT value FROM json_each(:ids)) AND hidden_at IS NULL;

-- What is restored is not folded into what stays hidden.
-- name: unmerge
DELETE FROM merges
WHERE observation_id IN (SELECT id FROM observations WHERE hidden_with = :id)
  AND EXISTS (SELECT 1 FROM observations AS o WHERE o.id = into_id AND o.hidden_with <> :id);

-- name: unfold
UPDATE observations SET repeats = NULL
WHERE hidden_with = :id
  AND EXISTS (SELECT 1 FROM observations AS o WHERE o.id = observations.repeats AND o.hidden_with <> :id);

-- name: restore
UPDATE observations SET hidden_at = NULL, hidden_with = NULL WHERE hidden_with = :id;

-- Them, and what is folded into them; hidden ones, too.
-- name: with_folded
WITH RECURSIVE found (id) AS (
  SELECT value FROM json_each(:ids)
  UNION SELECT o.id FROM found JOIN observations AS o ON o.repeats = found.id
)
SELECT id FROM found;

-- What was hidden: the observation itself, or the one that it was hidden with.
-- name: one
SELECT id AS observation_id, hidden_at AS at, title, project_id, session_id FROM observations
WHERE id = (SELECT hidden_with FROM observations WHERE id = :id);

-- name: page
SELECT id AS observation_id, hidden_at AS at, title, project_id, session_id FROM observations
WHERE hidden_with = id AND (hidden_at, id) < (:at, :id)
  AND project_id IN (SELECT value FROM json_each(:project_ids))
ORDER BY hidden_at DESC, id DESC LIMIT :limit;
