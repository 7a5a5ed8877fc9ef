-- name: counts
SELECT
  (SELECT count(*) FROM projects WHERE :project_id IS NULL OR id = :project_id) AS projects,
  (SELECT count(*) FROM sessions WHERE :project_id IS NULL OR project_id = :project_id) AS sessions,
  (
    SELECT count(*) FROM prompts JOIN sessions AS s ON s.id = session_id
    WHERE :project_id IS NULL OR s.project_id = :project_id
  ) AS prompts,
  (
    SELECT count(*) FROM events JOIN sessions AS s ON s.id = session_id
    WHERE :project_id IS NULL OR s.project_id = :project_id
  ) AS events,
  (
    SELECT count(*) FROM jobs JOIN sessions AS s ON s.id = session_id
    WHERE :project_id IS NULL OR s.project_id = :project_id
  ) AS jobs,
  (SELECT count(*) FROM observations WHERE :project_id IS NULL OR project_id = :project_id) AS observations,
  (SELECT count(*) FROM summaries WHERE :project_id IS NULL OR project_id = :project_id) AS summaries,
  (SELECT count(*) FROM requests WHERE :project_id IS NULL OR project_id = :project_id) AS requests;

-- name: hidden
SELECT count(*) FROM observations
WHERE hidden_at IS NOT NULL AND (:project_id IS NULL OR project_id = :project_id);

-- name: projects
SELECT * FROM projects WHERE :project_id IS NULL OR id = :project_id ORDER BY id;

-- name: identities
SELECT kind, identity FROM project_identities WHERE project_id = :id AND link = 0
ORDER BY CASE kind WHEN 'remote' THEN 1 WHEN 'commit' THEN 2 ELSE 3 END, identity;

-- name: dirs
SELECT dir, seen_at FROM project_dirs WHERE project_id = :id ORDER BY dir;

-- name: sessions
SELECT * FROM sessions WHERE project_id = :project_id ORDER BY id;

-- name: prompts
SELECT number, prompt_id, at, text FROM prompts WHERE session_id = :session_id ORDER BY number;

-- A try that is under way does not count: it is not known how it ends.
-- name: jobs
SELECT id, kind, prompt_number, state,
       tries - (state = 'pending' AND lease_until IS NOT NULL AND tries > 0) AS tries,
       due_at, last_error, created_at, finished_at, written_by
FROM jobs WHERE session_id = :session_id ORDER BY id;

-- name: events
SELECT key, kind, tool, hook, capture_id, at, prompt_number, prompt_id, subagent_type, boring, healed,
       job_id, body
FROM events WHERE session_id = :session_id ORDER BY id;

-- A link is written as `session#place`, and stands before the column of that name: the first one is read.
-- name: observations
SELECT
  (
    SELECT json_group_array(key) FROM (
      SELECT e.key FROM observation_events AS said JOIN events AS e ON e.id = said.event_id
      WHERE said.observation_id = o.id ORDER BY e.id
    )
  ) AS evidence,
  (
    SELECT s.agent || '/' || s.ref || '#' || (
      SELECT count(*) FROM observations AS x WHERE x.session_id = t.session_id AND x.id <= t.id
    )
    FROM observations AS t JOIN sessions AS s ON s.id = t.session_id WHERE t.id = o.repeats
  ) AS repeats,
  (
    SELECT s.agent || '/' || s.ref || '#' || (
      SELECT count(*) FROM observations AS x WHERE x.session_id = t.session_id AND x.id <= t.id
    )
    FROM observations AS t JOIN sessions AS s ON s.id = t.session_id WHERE t.id = o.follows
  ) AS follows,
  (
    SELECT s.agent || '/' || s.ref || '#' || (
      SELECT count(*) FROM observations AS x WHERE x.session_id = t.session_id AND x.id <= t.id
    )
    FROM observations AS t JOIN sessions AS s ON s.id = t.session_id WHERE t.id = o.hidden_with
  ) AS hidden_with,
  (SELECT at FROM merges WHERE observation_id = o.id) AS merged_at,
  o.*, p.facts, p.concepts, p.files_read, p.files_modified, p.blobs, p.doubts
FROM observations AS o JOIN observation_parts AS p ON p.id = o.id
WHERE o.session_id = :session_id ORDER BY o.id;

-- name: summaries
SELECT s.*, p.files_read, p.files_edited, p.doubts FROM summaries AS s JOIN summary_parts AS p ON p.id = s.id
WHERE s.session_id = :session_id ORDER BY s.prompt_number;

-- name: requests
SELECT * FROM requests WHERE session_id = :session_id ORDER BY id;

-- name: loose_requests
SELECT * FROM requests WHERE session_id IS NULL AND project_id IS :project_id ORDER BY id;

-- What the observations that are being taken are called, and what they say of each other. A kill forgets it,
-- and the next run tells it again.
-- name: make_moved
CREATE TEMP TABLE IF NOT EXISTS moved (
  name TEXT PRIMARY KEY, id INTEGER NOT NULL, repeats TEXT, follows TEXT, hidden_with TEXT, merged_at INTEGER
) WITHOUT ROWID;

-- name: forget_moved
DELETE FROM temp.moved;

-- name: note_moved
INSERT INTO temp.moved (name, id, repeats, follows, hidden_with, merged_at)
VALUES (:name, :id, :repeats, :follows, :hidden_with, :merged_at)
ON CONFLICT (name) DO UPDATE SET id = excluded.id;

-- What was hidden together is restored together.
-- name: link_hidden
UPDATE observations SET hidden_with = coalesce((
  SELECT target.id FROM temp.moved AS m
  JOIN temp.moved AS t ON t.name = m.hidden_with JOIN observations AS target ON target.id = t.id
  WHERE m.id = observations.id AND target.project_id = observations.project_id AND target.hidden_with = target.id
), id)
WHERE id IN (SELECT id FROM temp.moved WHERE hidden_with IS NOT NULL) AND hidden_with = id;

-- A link that is there stays; one that was cut by a person's edit stays cut. Nothing visible is folded into what is hidden.
-- name: link_repeats
UPDATE observations SET repeats = (
  SELECT coalesce(target.repeats, target.id) FROM temp.moved AS m
  JOIN temp.moved AS t ON t.name = m.repeats JOIN observations AS target ON target.id = t.id
  WHERE m.id = observations.id AND target.project_id = observations.project_id
    AND (target.hidden_at IS NULL OR observations.hidden_at IS NOT NULL)
    AND coalesce(target.repeats, target.id) <> observations.id
)
WHERE id IN (SELECT id FROM temp.moved WHERE repeats IS NOT NULL AND (NOT edited OR merged_at IS NOT NULL))
  AND repeats IS NULL;

-- name: link_merges
INSERT INTO merges (observation_id, into_id, at)
SELECT o.id, o.repeats, m.merged_at FROM temp.moved AS m JOIN observations AS o ON o.id = m.id
WHERE m.merged_at IS NOT NULL AND o.repeats IS NOT NULL
ON CONFLICT DO NOTHING;

-- name: link_follows
UPDATE observations SET follows = (
  SELECT target.id FROM temp.moved AS m
  JOIN temp.moved AS t ON t.name = m.follows JOIN observations AS target ON target.id = t.id
  WHERE m.id = observations.id AND target.project_id = observations.project_id
    AND target.id <> observations.id
)
WHERE id IN (SELECT id FROM temp.moved WHERE follows IS NOT NULL) AND follows IS NULL;

-- name: nameless_project
SELECT id FROM projects AS p WHERE name = :name AND root = :root
  AND NOT EXISTS (SELECT 1 FROM project_identities WHERE project_id = p.id);

-- name: add_dir
INSERT INTO project_dirs (dir, project_id, seen_at) VALUES (:dir, :project_id, :seen_at)
ON CONFLICT DO NOTHING;

-- name: add_session
INSERT INTO sessions (agent, ref, project_id, project_dir, transcript, status, started_at, last_event_at,
                      ended_at, title, subtitle, prompts)
VALUES (:agent, :ref, :project_id, :project_dir, :transcript, :status, :started_at, :last_event_at,
        :ended_at, :title, :subtitle, :prompts)
RETURNING *;

-- Whoever saw more of the session knows how it went on.
-- name: merge_session
UPDATE sessions SET
  status = CASE WHEN :last_event_at > last_event_at THEN :status ELSE status END,
  ended_at = CASE WHEN :last_event_at > last_event_at THEN :ended_at ELSE ended_at END,
  started_at = min(started_at, :started_at),
  last_event_at = max(last_event_at, :last_event_at),
  transcript = coalesce(transcript, :transcript),
  title = coalesce(title, :title),
  subtitle = coalesce(subtitle, :subtitle),
  prompts = max(prompts, (SELECT coalesce(max(number), 0) FROM prompts WHERE session_id = sessions.id))
WHERE id = :id;

-- name: move_session
UPDATE sessions SET project_id = :project_id, project_dir = :project_dir WHERE id = :id;

-- name: move_observations
UPDATE observations SET project_id = :project_id WHERE session_id = :id;

-- name: move_summaries
UPDATE summaries SET project_id = :project_id WHERE session_id = :id;

-- name: is_placeholder
SELECT 1 FROM project_identities WHERE project_id = :project_id AND identity LIKE 'claude-mem:%';

-- name: last_prompt
SELECT max(id) FROM prompts WHERE session_id = :session_id;

-- By the agent's id, which a prompt may share with another; else by its number or its time.
-- name: same_prompt
SELECT number FROM prompts
WHERE session_id = :session_id AND id <= :last AND text = :text
  AND (prompt_id = :prompt_id OR number = :number OR at = :at)
ORDER BY prompt_id = :prompt_id DESC, number = :number DESC, number LIMIT 1;

-- name: add_prompt
INSERT INTO prompts (session_id, number, prompt_id, at, text)
SELECT :session_id, CASE WHEN EXISTS (SELECT 1 FROM prompts WHERE session_id = :session_id AND number = :number)
  THEN (SELECT max(number) + 1 FROM prompts WHERE session_id = :session_id) ELSE :number END,
  :prompt_id, :at, :text
RETURNING number;

-- name: same_job
SELECT id, state FROM jobs
WHERE session_id = :session_id AND kind = :kind AND prompt_number = :prompt_number
  AND id NOT IN (SELECT value FROM json_each(:used)) ORDER BY id LIMIT 1;

-- name: add_job
INSERT INTO jobs (kind, session_id, prompt_number, state, tries, due_at, last_error, created_at,
                  finished_at, written_by)
VALUES (:kind, :session_id, :prompt_number, :state, :tries, :due_at, :last_error, :created_at,
        :finished_at, :written_by)
RETURNING id;

-- An event that nobody has taken up here was taken up there.
-- name: adopt_event
UPDATE events SET job_id = :job_id WHERE session_id = :session_id AND key = :key AND job_id IS NULL;

-- name: next_ordinal
SELECT CASE
  WHEN NOT EXISTS (SELECT 1 FROM observations WHERE job_id = :job_id AND ordinal = :ordinal) THEN :ordinal
  ELSE (SELECT max(ordinal) + 1 FROM observations WHERE job_id = :job_id)
END;

-- name: add_observation
INSERT INTO observations (session_id, project_id, job_id, ordinal, prompt_number, at, provider, model, type,
                          title, subtitle, narrative, subagent_type, pinned, edited, confirmed, revision, origins, sources)
SELECT id, project_id, :job_id, :ordinal, :prompt_number, :at, :provider, :model, :type,
       :title, :subtitle, :narrative, :subagent_type, :pinned, :edited, :verified, :revision, :origins, :sources
FROM sessions WHERE id = :session_id
RETURNING id;

-- name: add_evidence
INSERT INTO observation_events (observation_id, event_id)
SELECT :observation_id, e.id FROM json_each(:keys) AS wanted
CROSS JOIN events AS e ON e.session_id = :session_id AND e.key = wanted.value
WHERE true
ON CONFLICT DO NOTHING;

-- name: same_requests
SELECT count(*) FROM requests
WHERE at = :at AND provider = :provider AND model = :model AND purpose = :purpose AND digest = :digest
  AND outcome = :outcome AND sent = :sent AND received = :received AND milliseconds = :milliseconds
  AND session_id IS :session_id AND project_id IS :project_id;

-- name: add_request
INSERT INTO requests (at, provider, model, prompts, purpose, digest, session_id, project_id, job_id, outcome,
                      error, sent, cached, written, received, estimated, microdollars, milliseconds, stored,
                      reply)
VALUES (:at, :provider, :model, :prompts, :purpose, :digest, :session_id, :project_id, :job_id, :outcome,
        :error, :sent, :cached, :written, :received, :estimated, :microdollars, :milliseconds, :stored,
        :reply);
