-- name: drop
DELETE FROM summaries WHERE session_id = :session_id AND prompt_number = :prompt_number;

-- name: add
INSERT INTO summaries (session_id, project_id, prompt_number, at, provider, model, request, investigated,
                       learned, completed, next_steps, notes, origins)
SELECT id, project_id, :prompt_number, :at, :provider, :model, :request, :investigated,
       :learned, :completed, :next_steps, :notes, :origins FROM sessions WHERE id = :session_id
ON CONFLICT DO NOTHING
RETURNING id;

-- name: add_files
INSERT INTO summary_files (summary_id, path, role)
SELECT :owner, json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:items) WHERE true
ON CONFLICT DO NOTHING;

-- name: add_doubts
INSERT INTO summary_doubts (summary_id, ordinal, part, reason)
SELECT :owner, key, json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:items);

-- name: parts
SELECT files_read, files_edited, doubts FROM summary_parts WHERE id = :id;

-- name: of_session
SELECT * FROM summaries WHERE session_id = :session_id ORDER BY prompt_number;

-- name: last
SELECT * FROM summaries WHERE session_id = :session_id ORDER BY prompt_number DESC LIMIT :limit;
