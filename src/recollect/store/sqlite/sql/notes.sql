-- name: notes_session
SELECT * FROM sessions WHERE agent = :agent AND project_id = :project_id ORDER BY id LIMIT 1;

-- Nobody works in it, so it is over from the start.
-- name: add_notes_session
INSERT INTO sessions (agent, ref, project_id, project_dir, status, started_at, last_event_at, ended_at, title)
VALUES (:agent, :ref, :project_id, :project_dir, 'completed', :at, :at, :at, 'Notes')
RETURNING *;

-- name: touch_notes_session
UPDATE sessions SET last_event_at = max(last_event_at, :at), ended_at = max(ended_at, :at)
WHERE id = :session_id AND agent = :agent;

-- name: same_note
SELECT id FROM observations
WHERE project_id = :project_id AND provider IN ('user', 'agent') AND narrative = :narrative AND type = :type
ORDER BY id LIMIT 1;

-- name: said_by_user
UPDATE observations SET provider = 'user' WHERE id = :id AND provider = 'agent';

-- name: remembered
SELECT * FROM observations
WHERE project_id = :project_id AND (pinned OR provider IN ('user', 'agent'))
ORDER BY at DESC, id DESC LIMIT :limit;
