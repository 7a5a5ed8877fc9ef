-- What waits for its other end to come back.

-- name: add
INSERT INTO parted (observation_id, link, target) VALUES (:id, :link, :target)
ON CONFLICT (observation_id, link) DO UPDATE SET target = excluded.target;

-- What stands in a person's words is folded into nothing before they are taken back.
-- name: joinable
SELECT p.observation_id, p.link, p.target FROM parted AS p
JOIN observations AS o ON o.id = p.observation_id JOIN observations AS t ON t.id = p.target
WHERE NOT (p.link = 'repeats' AND o.edited)
ORDER BY p.observation_id, p.link;

-- name: drop
DELETE FROM parted WHERE observation_id = :id AND link = :link;

-- Whoever was put into a person's words since, or merged into another, keeps that.
-- name: put_back_merge
INSERT INTO merges (id, observation_id, into_id, at)
SELECT :id, one.id, other.id, :at FROM observations AS one JOIN observations AS other ON other.id = :into_id
WHERE one.id = :observation_id AND NOT one.edited
ON CONFLICT DO NOTHING;

-- With what was forgotten, or forgotten with it.
-- name: leave_merge
UPDATE forgotten
SET record = json_set(record, '$.merges',
                      json_insert(coalesce(json_extract(record, '$.merges'), '[]'), '$[#]', json(:merge)))
WHERE observation_id = :missing OR EXISTS (
  SELECT 1 FROM json_each(record, '$.folded') AS folded
  WHERE json_extract(folded.value, '$.row.id') = :missing
);
