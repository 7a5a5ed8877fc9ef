-- name: drop_of_job
DELETE FROM observations WHERE job_id = :job_id;

-- name: add
INSERT INTO observations (session_id, project_id, job_id, ordinal, prompt_number, at, provider, type,
                          title, subtitle, narrative, subagent_type)
VALUES (:session_id, :project_id, :job_id, :ordinal, :prompt_number, :at, :provider, :type,
        :title, :subtitle, :narrative, :subagent_type)
RETURNING id;

-- name: add_fact
INSERT INTO observation_facts (observation_id, ordinal, text) VALUES (:observation_id, :ordinal, :text);

-- name: add_concept
INSERT INTO observation_concepts (observation_id, concept) VALUES (:observation_id, :concept)
ON CONFLICT DO NOTHING;

-- name: add_file
INSERT INTO observation_files (observation_id, path, name, role)
VALUES (:observation_id, :path, :name, :role)
ON CONFLICT DO NOTHING;

-- name: one
SELECT * FROM observations WHERE id = :id;

-- name: facts
SELECT text FROM observation_facts WHERE observation_id = :id ORDER BY ordinal;

-- name: concepts
SELECT concept FROM observation_concepts WHERE observation_id = :id ORDER BY concept;

-- name: files
SELECT path, role FROM observation_files WHERE observation_id = :id ORDER BY path;

-- name: of_session
SELECT * FROM observations WHERE session_id = :session_id ORDER BY at, id;

-- name: recent
SELECT * FROM observations WHERE project_id = :project_id ORDER BY at DESC, id DESC LIMIT :limit;

-- name: pinned
SELECT * FROM observations WHERE project_id = :project_id AND pinned ORDER BY at DESC, id DESC;

-- name: pin
UPDATE observations SET pinned = :pinned WHERE id = :id;

-- name: titles_of_session
SELECT title FROM observations WHERE session_id = :session_id AND title IS NOT NULL ORDER BY at, id;

-- name: titles_of_prompt
SELECT type, title FROM observations
WHERE session_id = :session_id AND prompt_number = :prompt_number
  AND (job_id IS NULL OR job_id <> :job_id);

-- name: about_file
SELECT o.* FROM observations AS o JOIN observation_files AS f ON f.observation_id = o.id
WHERE f.name = :name AND f.role = 'modified' AND o.project_id = :project_id
  AND (f.path = :path OR f.path LIKE '%/' || :escaped ESCAPE '\')
  AND o.session_id <> :session_id
  AND NOT EXISTS (
    SELECT 1 FROM injections AS i WHERE i.session_id = :session_id AND i.observation_id = o.id
  )
GROUP BY o.id ORDER BY o.at DESC LIMIT :limit;

-- name: add_injection
INSERT INTO injections (session_id, observation_id, hook, reason, at)
VALUES (:session_id, :observation_id, :hook, :reason, :at)
ON CONFLICT DO NOTHING;

-- name: drop_summary
DELETE FROM summaries WHERE session_id = :session_id AND prompt_number = :prompt_number;

-- name: add_summary
INSERT INTO summaries (session_id, project_id, prompt_number, at, provider, request, investigated,
                       learned, completed, next_steps, notes)
VALUES (:session_id, :project_id, :prompt_number, :at, :provider, :request, :investigated,
        :learned, :completed, :next_steps, :notes)
RETURNING id;

-- name: add_summary_file
INSERT INTO summary_files (summary_id, path, role) VALUES (:summary_id, :path, :role)
ON CONFLICT DO NOTHING;

-- name: summary_files
SELECT path, role FROM summary_files WHERE summary_id = :id ORDER BY path;

-- name: summaries_of_session
SELECT * FROM summaries WHERE session_id = :session_id ORDER BY prompt_number;

-- name: last_summaries
SELECT * FROM summaries WHERE session_id = :session_id ORDER BY prompt_number DESC LIMIT :limit;

-- name: session
SELECT * FROM sessions WHERE id = :id;

-- name: sessions
SELECT * FROM sessions WHERE :project_id IS NULL OR project_id = :project_id
ORDER BY last_event_at DESC, id DESC LIMIT :limit;

-- name: summarized_sessions
SELECT * FROM sessions WHERE project_id = :project_id
  AND EXISTS (SELECT 1 FROM summaries WHERE session_id = sessions.id)
ORDER BY last_event_at DESC, id DESC LIMIT :limit;

-- name: sessions_by_prefix
SELECT * FROM sessions WHERE ref LIKE :prefix || '%' ESCAPE '\' ORDER BY last_event_at DESC LIMIT 3;

-- name: prompts_of_session
SELECT session_id, number, at, text FROM prompts WHERE session_id = :session_id ORDER BY number;

-- name: prompt
SELECT session_id, number, at, text FROM prompts
WHERE session_id = :session_id AND number = :number;
