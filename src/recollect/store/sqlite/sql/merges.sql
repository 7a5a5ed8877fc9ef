-- A person's word that one observation says what another says, and taking it back.

-- name: one
SELECT observation_id, into_id, at, changes FROM merges WHERE observation_id = :id;

-- name: of_observations
SELECT observation_id, into_id, at, changes FROM merges
WHERE observation_id IN (SELECT value FROM json_each(:ids)) OR into_id IN (SELECT value FROM json_each(:ids));

-- name: add
INSERT INTO merges (observation_id, into_id, at, changes)
SELECT :observation_id, id, :at, :changes FROM observations
WHERE id = :into_id AND EXISTS (SELECT 1 FROM observations WHERE id = :observation_id)
ON CONFLICT (observation_id) DO NOTHING;

-- name: drop
DELETE FROM merges WHERE observation_id = :id;

-- name: folded
SELECT id FROM observations WHERE repeats = :id AND id <> :into ORDER BY id;

-- Who carries on what the one said, after the other one: nobody's story may lead back to itself.
-- name: followers
SELECT id FROM observations
WHERE follows = :id AND id <> :into AND (at, id) > (:at, :into) ORDER BY id;

-- name: set_repeats
UPDATE observations SET repeats = :value WHERE id = :id;

-- name: set_follows
UPDATE observations SET follows = :value WHERE id = :id;

-- name: set_pinned
UPDATE observations SET pinned = :value WHERE id = :id;

-- What was changed again since stays as it is; who was folded since stands for what it was folded into.
-- name: back_repeats
UPDATE observations SET repeats = (
  SELECT coalesce(said.repeats, said.id) FROM observations AS said
  WHERE said.id = :before AND coalesce(said.repeats, said.id) <> :id
)
WHERE id = :id AND repeats IS :after;

-- name: back_follows
UPDATE observations SET follows = (SELECT id FROM observations WHERE id = :before)
WHERE id = :id AND follows IS :after;

-- name: back_pinned
UPDATE observations SET pinned = :before WHERE id = :id AND pinned = :after;
