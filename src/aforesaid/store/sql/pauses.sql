-- name: add
INSERT INTO pauses (origin, scope, project_id, place, agent, ref, began_at, ends_at)
VALUES (:origin, :scope, :project_id, :place, :agent, :ref, :began_at, :ends_at)
RETURNING id;

-- name: one
SELECT * FROM pauses WHERE id = :id;

-- name: every
SELECT * FROM pauses ORDER BY id;

-- Of a session whose hooks report that it is not to be recorded.
-- name: seen_at
SELECT id FROM pauses WHERE agent = :agent AND ref = :ref AND origin = 'seen' AND began_at <= :at
  AND (ends_at IS NULL OR ends_at > :at);

-- name: seen_open
SELECT id FROM pauses WHERE agent = :agent AND ref = :ref AND origin = 'seen' AND began_at <= :at
  AND ends_at IS NULL;

-- name: end
UPDATE pauses SET ends_at = :at WHERE id = :id AND (ends_at IS NULL OR ends_at > :at);

-- name: set_place
UPDATE pauses SET place = :place WHERE project_id = :project_id;

-- The last thing that is known of a session.
-- name: last_seen
SELECT last_event_at FROM sessions WHERE agent = :agent AND ref = :ref;
