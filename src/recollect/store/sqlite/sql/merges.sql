-- A person's word that one observation says what another says, and taking it back.

-- name: one
SELECT id, observation_id, into_id, at FROM merges WHERE observation_id = :id;

-- name: all
SELECT id, observation_id, into_id, at FROM merges ORDER BY id;

-- name: of_observations
SELECT id, observation_id, into_id, at FROM merges
WHERE observation_id IN (SELECT value FROM json_each(:ids)) ORDER BY id;

-- name: add
INSERT INTO merges (observation_id, into_id, at) VALUES (:observation_id, :into_id, :at);

-- name: drop
DELETE FROM merges WHERE observation_id = :id;

-- name: changed
SELECT observation_id AS id FROM unmerged;

-- Those that hang on some, now or without the merges.
-- name: hanging
SELECT o.id FROM observations AS o WHERE o.repeats IN (SELECT value FROM json_each(:ids))
UNION SELECT o.id FROM observations AS o WHERE o.follows IN (SELECT value FROM json_each(:ids));

-- Each as it is, and as it would be without the merges.
-- name: states
SELECT o.id, o.at, o.repeats, o.follows, o.pinned, u.observation_id IS NOT NULL AS noted,
  CASE WHEN u.observation_id IS NULL THEN o.repeats ELSE u.repeats END AS own_repeats,
  CASE WHEN u.observation_id IS NULL THEN o.follows ELSE u.follows END AS own_follows,
  CASE WHEN u.observation_id IS NULL THEN o.pinned ELSE u.pinned END AS own_pinned
FROM json_each(:ids) AS wanted JOIN observations AS o ON o.id = wanted.value
LEFT JOIN unmerged AS u ON u.observation_id = o.id;

-- name: set
UPDATE observations SET repeats = :repeats, follows = :follows, pinned = :pinned WHERE id = :id;

-- name: note
INSERT INTO unmerged (observation_id, repeats, follows, pinned) VALUES (:id, :repeats, :follows, :pinned)
ON CONFLICT (observation_id) DO UPDATE
SET repeats = excluded.repeats, follows = excluded.follows, pinned = excluded.pinned;

-- name: unnote
DELETE FROM unmerged WHERE observation_id = :id;
