-- A person's statement that one observation says what another says, and taking it back. `was`: what the observation was
-- folded into by itself.

-- name: one
SELECT observation_id AS id, into_id AS "into", at, was FROM merges WHERE observation_id = :id;

-- What stands for an observation: itself, if it is not folded.
-- name: root
WITH RECURSIVE above (id, repeats) AS (
  SELECT id, repeats FROM visible_observations WHERE id = :id
  UNION SELECT o.id, o.repeats FROM above JOIN visible_observations AS o ON o.id = above.repeats
)
SELECT id FROM above WHERE repeats IS NULL;

-- name: add
INSERT INTO merges (observation_id, into_id, at, was)
SELECT id, :into, :at, repeats FROM observations WHERE id = :id
ON CONFLICT (observation_id) DO UPDATE SET into_id = excluded.into_id, at = excluded.at;

-- name: fold
UPDATE observations SET repeats = :into WHERE id = :id;

-- name: drop
DELETE FROM merges WHERE observation_id = :id;
