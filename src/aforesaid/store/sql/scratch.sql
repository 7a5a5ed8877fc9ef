-- What a scratch store takes from the real one, which is attached as `live` and of the same schema.

-- name: attach
ATTACH :path AS live;

-- name: projects
INSERT INTO projects SELECT * FROM live.projects;

-- name: identities
INSERT INTO project_identities SELECT * FROM live.project_identities;

-- name: dirs
INSERT INTO project_dirs SELECT * FROM live.project_dirs;

-- name: marks
INSERT INTO transcript_marks SELECT * FROM live.transcript_marks;

-- name: pauses
INSERT INTO pauses SELECT * FROM live.pauses;

-- name: erased_sessions
INSERT INTO erased_sessions SELECT * FROM live.erased_sessions;

-- name: sessions
INSERT INTO sessions SELECT * FROM live.sessions WHERE agent = :agent AND ref = :ref;

-- name: prompts
INSERT INTO prompts SELECT * FROM live.prompts
WHERE session_id = (SELECT id FROM live.sessions WHERE agent = :agent AND ref = :ref);

-- name: jobs
INSERT INTO jobs SELECT * FROM live.jobs
WHERE session_id = (SELECT id FROM live.sessions WHERE agent = :agent AND ref = :ref);

-- name: events
INSERT INTO events SELECT * FROM live.events
WHERE session_id = (SELECT id FROM live.sessions WHERE agent = :agent AND ref = :ref);

-- name: waiting_jobs
SELECT id, kind, session_id, prompt_number, tries, '' AS holder FROM jobs
WHERE state = 'pending' ORDER BY id;
