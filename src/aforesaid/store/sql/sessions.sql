-- name: by_ref
SELECT * FROM sessions WHERE agent = :agent AND ref = :ref;

-- name: add
INSERT INTO sessions (agent, ref, project_id, project_dir, transcript, status, started_at, last_event_at)
VALUES (:agent, :ref, :project_id, :project_dir, :transcript, 'active', :at, :at)
RETURNING *;

-- name: touch
UPDATE sessions
SET last_event_at = max(last_event_at, :at),
    started_at = min(started_at, :at),
    transcript = coalesce(:transcript, transcript)
WHERE id = :id;

-- name: reopen
UPDATE sessions SET status = 'active', ended_at = NULL WHERE id = :id AND status <> 'active';

-- name: end
UPDATE sessions SET status = 'completed', ended_at = :at WHERE id = :id;

-- name: interrupt
-- A session whose last turn has ended was left, not interrupted.
UPDATE sessions
SET status = CASE (
      SELECT kind FROM events WHERE session_id = :id AND kind IN ('prompt', 'tool', 'stop')
      ORDER BY at DESC, id DESC LIMIT 1
    ) WHEN 'stop' THEN 'completed' ELSE 'interrupted' END,
    ended_at = last_event_at
WHERE id = :id;

-- name: how_many_since
SELECT count(*) FROM sessions AS s
WHERE s.project_id = :project_id AND s.last_event_at > :at
  AND EXISTS (SELECT 1 FROM prompts AS p WHERE p.session_id = s.id);

-- name: stale
SELECT * FROM sessions WHERE status = 'active' AND last_event_at < :before;

-- name: entitle
UPDATE sessions SET title = coalesce(title, :title), subtitle = coalesce(:subtitle, subtitle)
WHERE id = :id;

-- name: one
SELECT * FROM sessions WHERE id = :id;

-- name: summarized
SELECT * FROM sessions WHERE project_id = :project_id
  AND EXISTS (SELECT 1 FROM summaries WHERE session_id = sessions.id)
ORDER BY last_event_at DESC, id DESC LIMIT :limit;

-- name: by_prefix
SELECT * FROM sessions WHERE ref LIKE :prefix || '%' ESCAPE '\' ORDER BY last_event_at DESC LIMIT 3;

-- name: add_prompt
INSERT INTO prompts (session_id, number, prompt_id, at, text)
VALUES (:session_id, :number, :prompt_id, :at, :text);

-- name: count_prompt
UPDATE sessions SET prompts = prompts + 1 WHERE id = :id RETURNING prompts;

-- name: prompt_number
SELECT number FROM prompts WHERE session_id = :session_id AND prompt_id = :prompt_id
ORDER BY number LIMIT 1;

-- name: prompts
SELECT * FROM prompts WHERE session_id = :session_id ORDER BY number;

-- name: prompt
SELECT * FROM prompts
WHERE session_id = :session_id AND number = :number;
