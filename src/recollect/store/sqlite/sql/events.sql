-- name: session_by_ref
SELECT * FROM sessions WHERE agent = :agent AND ref = :ref;

-- name: add_session
INSERT INTO sessions (agent, ref, project_id, project_dir, transcript, status, started_at, last_event_at)
VALUES (:agent, :ref, :project_id, :project_dir, :transcript, 'active', :at, :at)
RETURNING *;

-- name: touch_session
UPDATE sessions
SET last_event_at = max(last_event_at, :at),
    started_at = min(started_at, :at),
    transcript = coalesce(:transcript, transcript)
WHERE id = :id;

-- name: reopen_session
UPDATE sessions SET status = 'active', ended_at = NULL WHERE id = :id AND status <> 'active';

-- name: end_session
UPDATE sessions SET status = 'completed', ended_at = :at WHERE id = :id;

-- name: interrupt_session
UPDATE sessions SET status = 'interrupted', ended_at = last_event_at WHERE id = :id;

-- name: stale_sessions
SELECT id, prompts FROM sessions WHERE status = 'active' AND last_event_at < :before;

-- name: title_session
UPDATE sessions SET title = coalesce(title, :title), subtitle = coalesce(:subtitle, subtitle)
WHERE id = :id;

-- name: same_content
SELECT 1 FROM events
WHERE session_id = :session_id AND content_hash = :content_hash AND kind = :kind
  AND at BETWEEN :at - :window AND :at + :window;

-- name: add_event
INSERT INTO events (session_id, key, kind, tool, hook, capture_id, at, prompt_number, subagent_type,
                    boring, content_hash, size, body)
VALUES (:session_id, :key, :kind, :tool, :hook, :capture_id, :at, :prompt_number, :subagent_type,
        :boring, :content_hash, :size, :body)
ON CONFLICT (session_id, key) DO NOTHING
RETURNING id;

-- name: add_prompt
INSERT INTO prompts (session_id, number, prompt_id, at, text)
VALUES (:session_id, :number, :prompt_id, :at, :text);

-- name: count_prompt
UPDATE sessions SET prompts = prompts + 1 WHERE id = :id RETURNING prompts;

-- name: prompt_number
SELECT number FROM prompts WHERE session_id = :session_id AND prompt_id = :prompt_id;

-- name: unclaimed
SELECT count(*) FROM events
WHERE session_id = :session_id AND job_id IS NULL AND kind IN ('tool', 'subagent_stop') AND NOT boring;

-- name: claim_events
UPDATE events SET job_id = :job_id
WHERE session_id = :session_id AND job_id IS NULL AND kind IN ('tool', 'subagent_stop') AND NOT boring;

-- name: events_of_job
SELECT * FROM events WHERE job_id = :job_id ORDER BY at, id;

-- name: events_of_prompt
SELECT * FROM events WHERE session_id = :session_id AND prompt_number = :prompt_number
ORDER BY at, id;

-- name: events_before
SELECT * FROM events
WHERE session_id = :session_id AND kind = 'tool' AND NOT boring AND (at, id) < (:at, :id)
ORDER BY at DESC, id DESC LIMIT :limit;

-- name: events_of_session
SELECT * FROM events WHERE session_id = :session_id ORDER BY at, id;

-- name: quarantine
INSERT INTO quarantine (name, why, size, at) VALUES (:name, :why, :size, :at)
ON CONFLICT (name) DO NOTHING;
