-- name: add
INSERT INTO pauses (origin, scope, project_id, place, agent, ref, began_at, ends_at)
VALUES (:origin, :scope, :project_id, :place, :agent, :ref, :began_at, :ends_at)
RETURNING id;

-- name: one
SELECT * FROM pauses WHERE id = :id;

-- name: every
SELECT * FROM pauses ORDER BY id;

-- name: of_session
SELECT * FROM pauses WHERE agent = :agent AND ref = :ref ORDER BY id;

-- name: end
UPDATE pauses SET ends_at = :at WHERE id = :id AND (ends_at IS NULL OR ends_at > :at);

-- name: set_place
UPDATE pauses SET place = :place WHERE project_id = :project_id;

-- The last thing that is known of a session.
-- name: last_seen
SELECT last_event_at FROM sessions WHERE agent = :agent AND ref = :ref;
