-- A person's statement that one observation says what another says, and taking it back.

-- name: one
SELECT id, observation_id, into_id, at FROM merges WHERE observation_id = :id;

-- name: all
SELECT id, observation_id, into_id, at FROM merges ORDER BY id;

-- name: add
INSERT INTO merges (observation_id, into_id, at) VALUES (:observation_id, :into_id, :at);

-- One that was edited or merged since keeps that.
-- name: put_back
INSERT INTO merges (id, observation_id, into_id, at)
SELECT :id, one.id, other.id, :at FROM observations AS one JOIN observations AS other ON other.id = :into_id
WHERE one.id = :observation_id AND NOT one.edited
ON CONFLICT DO NOTHING;

-- name: drop
DELETE FROM merges WHERE observation_id = :id;

-- name: existing
SELECT id FROM observations WHERE id = :id;

-- All that a merge may change or depends on, and these, with what they are folded into.
-- name: involved
WITH RECURSIVE named (id) AS (
  SELECT value FROM json_each(:ids) UNION SELECT observation_id FROM own_links
  UNION SELECT observation_id FROM merges UNION SELECT into_id FROM merges
), found (id) AS (
  SELECT id FROM named
  UNION SELECT o.id FROM named JOIN visible_observations AS o ON o.repeats = named.id
  UNION SELECT o.id FROM named JOIN visible_observations AS o ON o.follows = named.id
  UNION SELECT o.repeats FROM found JOIN visible_observations AS o ON o.id = found.id
  UNION SELECT l.repeats FROM found JOIN own_links AS l ON l.observation_id = found.id
)
SELECT id FROM found WHERE id IS NOT NULL;

-- Each as it is, and as it would be without merges. A story does not go on from a hidden observation.
-- name: states
SELECT *, (SELECT v.id FROM visible_observations AS v WHERE v.id = own_follows) AS visible_follows
FROM (
  SELECT o.id, o.at, o.repeats, o.follows, o.pinned, l.observation_id IS NOT NULL AS noted,
    CASE WHEN l.observation_id IS NULL THEN o.repeats ELSE l.repeats END AS own_repeats,
    CASE WHEN l.observation_id IS NULL THEN o.follows ELSE l.follows END AS own_follows,
    CASE WHEN l.observation_id IS NULL THEN o.pinned ELSE l.pinned END AS own_pinned
  FROM json_each(:ids) AS wanted JOIN visible_observations AS o ON o.id = wanted.value
  LEFT JOIN own_links AS l ON l.observation_id = o.id
);

-- name: set
UPDATE observations SET repeats = :repeats, follows = :follows, pinned = :pinned WHERE id = :id;

-- name: note_own
INSERT INTO own_links (observation_id, repeats, follows, pinned) VALUES (:id, :repeats, :follows, :pinned)
ON CONFLICT (observation_id) DO UPDATE
SET repeats = excluded.repeats, follows = excluded.follows, pinned = excluded.pinned;

-- name: drop_own
DELETE FROM own_links WHERE observation_id = :id;
