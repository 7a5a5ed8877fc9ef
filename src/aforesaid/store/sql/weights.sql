-- name: confirm
UPDATE observations SET confirmed = :confirmed
WHERE id = (SELECT coalesce(repeats, id) FROM visible_observations WHERE id = :id)
RETURNING id;
