-- name: drop
DELETE FROM summaries WHERE session_id = :session_id AND prompt_number = :prompt_number;

-- name: add
INSERT INTO summaries (session_id, project_id, prompt_number, at, provider, model, request, investigated,
                       learned, completed, next_steps, notes, origins)
SELECT id, project_id, :prompt_number, :at, :provider, :model, :request, :investigated,
       :learned, :completed, :next_steps, :notes, :origins FROM sessions WHERE id = :session_id
RETURNING id;

-- name: add_file
INSERT INTO summary_files (summary_id, path, role) VALUES (:summary_id, :path, :role)
ON CONFLICT DO NOTHING;

-- name: add_doubt
INSERT INTO summary_doubts (summary_id, ordinal, part, reason)
VALUES (:summary_id, :ordinal, :part, :reason);

-- name: files
SELECT path, role FROM summary_files WHERE summary_id = :id ORDER BY path;

-- name: doubts
SELECT part, reason FROM summary_doubts WHERE summary_id = :id ORDER BY ordinal;

-- name: of_session
SELECT * FROM summaries WHERE session_id = :session_id ORDER BY prompt_number;

-- name: last
SELECT * FROM summaries WHERE session_id = :session_id ORDER BY prompt_number DESC LIMIT :limit;
