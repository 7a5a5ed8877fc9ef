-- What an erasure comes to.

-- name: session_of_project
SELECT id FROM sessions WHERE project_id = :id;

-- Sessions that are wholly in a period, and the parts of others.
-- name: sessions_of_period
SELECT id FROM sessions
WHERE started_at >= :since AND last_event_at < :until AND (:project_id IS NULL OR project_id = :project_id);

-- name: prompts_of_period
SELECT p.id FROM prompts AS p JOIN sessions AS s ON s.id = p.session_id
WHERE p.at >= :since AND p.at < :until AND (:project_id IS NULL OR s.project_id = :project_id);

-- name: events_of_period
SELECT e.id FROM events AS e JOIN sessions AS s ON s.id = e.session_id
WHERE e.at >= :since AND e.at < :until AND e.size > 0 AND (:project_id IS NULL OR s.project_id = :project_id);

-- name: observations_of_period
SELECT id FROM observations
WHERE at >= :since AND at < :until AND (:project_id IS NULL OR project_id = :project_id);

-- name: summaries_of_period
SELECT id FROM summaries
WHERE at >= :since AND at < :until AND (:project_id IS NULL OR project_id = :project_id);

-- name: there
SELECT (SELECT count(*) FROM projects WHERE id = :id) AS project,
       (SELECT count(*) FROM sessions WHERE id = :id) AS session,
       (SELECT count(*) FROM prompts WHERE id = :id) AS prompt,
       (SELECT count(*) FROM observations WHERE id = :id) AS observation;

-- All that was done at a prompt.
-- name: events_of_turn
SELECT e.id FROM prompts AS p JOIN events AS e ON e.session_id = p.session_id AND e.prompt_number = p.number
WHERE p.id = :id AND e.size > 0;

-- What a prompt's own hook injected.
-- name: events_of_prompts
SELECT e.id FROM prompts AS p JOIN events AS e ON e.session_id = p.session_id AND e.prompt_number = p.number
WHERE p.id IN (SELECT value FROM json_each(:ids)) AND e.kind = 'prompt' AND e.size > 0;

-- What observations were made of: what they name, else all that was worked up with them.
-- name: events_of_observations
SELECT l.event_id FROM observation_events AS l JOIN events AS e ON e.id = l.event_id
WHERE l.observation_id IN (SELECT value FROM json_each(:ids)) AND e.size > 0
UNION
SELECT e.id FROM observations AS o JOIN events AS e ON e.job_id = o.job_id
WHERE o.id IN (SELECT value FROM json_each(:ids)) AND e.size > 0
  AND NOT EXISTS (SELECT 1 FROM observation_events AS l WHERE l.observation_id = o.id);

-- What was made of events, at prompts and in sessions.
-- name: derived_observations
SELECT observation_id FROM observation_events WHERE event_id IN (SELECT value FROM json_each(:events))
UNION
SELECT o.id FROM events AS e JOIN observations AS o ON o.job_id = e.job_id
WHERE e.id IN (SELECT value FROM json_each(:events))
  AND NOT EXISTS (SELECT 1 FROM observation_events AS l WHERE l.observation_id = o.id)
UNION
SELECT o.id FROM prompts AS p
JOIN observations AS o ON o.session_id = p.session_id AND o.prompt_number = p.number
WHERE p.id IN (SELECT value FROM json_each(:prompts))
UNION
SELECT id FROM observations WHERE session_id IN (SELECT value FROM json_each(:sessions));

-- What was hidden together says the same, and would be restored together.
-- name: hidden_with
SELECT hidden_with FROM observations
WHERE id IN (SELECT value FROM json_each(:ids)) AND hidden_with IS NOT NULL;

-- name: derived_summaries
SELECT u.id FROM events AS e
JOIN summaries AS u ON u.session_id = e.session_id AND u.prompt_number = e.prompt_number
WHERE e.id IN (SELECT value FROM json_each(:events))
UNION
SELECT u.id FROM prompts AS p
JOIN summaries AS u ON u.session_id = p.session_id AND u.prompt_number = p.number
WHERE p.id IN (SELECT value FROM json_each(:prompts));

-- Of sessions that go as a whole, all that is theirs.
-- name: counts
SELECT (SELECT count(*) FROM prompts WHERE session_id IN (SELECT value FROM json_each(:sessions))
          OR id IN (SELECT value FROM json_each(:prompts))) AS prompts,
       (SELECT count(*) FROM events WHERE session_id IN (SELECT value FROM json_each(:sessions))
          OR id IN (SELECT value FROM json_each(:events))) AS events,
       (SELECT count(*) FROM summaries WHERE session_id IN (SELECT value FROM json_each(:sessions))
          OR id IN (SELECT value FROM json_each(:summaries))) AS summaries;

-- Whose prepared texts tell of it.
-- name: sessions_touched
SELECT session_id AS id FROM prompts WHERE id IN (SELECT value FROM json_each(:prompts))
UNION SELECT session_id FROM events WHERE id IN (SELECT value FROM json_each(:events))
UNION SELECT session_id FROM observations WHERE id IN (SELECT value FROM json_each(:observations))
UNION SELECT session_id FROM summaries WHERE id IN (SELECT value FROM json_each(:summaries))
UNION SELECT id FROM sessions WHERE id IN (SELECT value FROM json_each(:sessions));

-- name: projects_touched
SELECT DISTINCT project_id AS id FROM sessions WHERE id IN (SELECT value FROM json_each(:ids));

-- Erasing. What was derived goes before what it was derived from: after a kill the rest is still found.

-- name: drop_observations
DELETE FROM observations WHERE id IN (SELECT value FROM json_each(:ids));

-- name: untitle
UPDATE sessions SET title = NULL, subtitle = NULL WHERE id IN (
  SELECT session_id FROM summaries WHERE id IN (SELECT value FROM json_each(:ids))
);

-- name: drop_summaries
DELETE FROM summaries WHERE id IN (SELECT value FROM json_each(:ids));

-- What models said about a turn, and what failed there.
-- name: forget_replies
UPDATE requests SET reply = NULL, error = NULL WHERE id IN (
  SELECT r.id FROM events AS e JOIN requests AS r ON r.session_id = e.session_id
  LEFT JOIN jobs AS j ON j.id = r.job_id
  WHERE e.id IN (SELECT value FROM json_each(:ids)) AND (j.id IS NULL OR j.prompt_number = e.prompt_number)
);

-- Also where the turn's events lost their content before, and are no longer looked for.
-- name: forget_replies_of_prompts
UPDATE requests SET reply = NULL, error = NULL WHERE id IN (
  SELECT r.id FROM prompts AS p JOIN requests AS r ON r.session_id = p.session_id
  LEFT JOIN jobs AS j ON j.id = r.job_id
  WHERE p.id IN (SELECT value FROM json_each(:ids)) AND (j.id IS NULL OR j.prompt_number = p.number)
);

-- name: forget_errors_of_prompts
UPDATE jobs SET last_error = NULL WHERE last_error IS NOT NULL AND id IN (
  SELECT j.id FROM prompts AS p JOIN jobs AS j ON j.session_id = p.session_id AND j.prompt_number = p.number
  WHERE p.id IN (SELECT value FROM json_each(:ids))
);

-- name: forget_errors
UPDATE jobs SET last_error = NULL WHERE last_error IS NOT NULL AND id IN (
  SELECT j.id FROM events AS e JOIN jobs AS j ON j.session_id = e.session_id AND j.prompt_number = e.prompt_number
  WHERE e.id IN (SELECT value FROM json_each(:ids))
);

-- name: empty_events
UPDATE events SET body = :empty, size = 0, boring = 1 WHERE id IN (SELECT value FROM json_each(:ids));

-- name: drop_event_texts
DELETE FROM event_texts WHERE event_id IN (SELECT value FROM json_each(:ids));

-- Work on events that are all gone.
-- name: drop_jobs
DELETE FROM jobs WHERE state = 'pending' AND kind = 'observe'
  AND id IN (SELECT job_id FROM events WHERE id IN (SELECT value FROM json_each(:ids)))
  AND NOT EXISTS (SELECT 1 FROM events AS e WHERE e.job_id = jobs.id AND e.size > 0);

-- Why something was injected names words of the prompt.
-- name: untell
DELETE FROM injections WHERE id IN (
  SELECT t.id FROM prompts AS p JOIN injections AS t ON t.session_id = p.session_id
  WHERE p.id IN (SELECT value FROM json_each(:ids)) AND t.at >= p.at - :before AND t.at < coalesce(
    (SELECT n.at FROM prompts AS n WHERE n.session_id = p.session_id AND n.number = p.number + 1), 1 << 62
  )
);

-- name: untell_memories
DELETE FROM memory_injections WHERE id IN (
  SELECT t.id FROM prompts AS p JOIN memory_injections AS t ON t.session_id = p.session_id
  WHERE p.id IN (SELECT value FROM json_each(:ids)) AND t.at >= p.at - :before AND t.at < coalesce(
    (SELECT n.at FROM prompts AS n WHERE n.session_id = p.session_id AND n.number = p.number + 1), 1 << 62
  )
);

-- name: untitle_of_prompts
UPDATE sessions SET title = NULL, subtitle = NULL
WHERE id IN (SELECT session_id FROM prompts WHERE id IN (SELECT value FROM json_each(:ids)));

-- name: empty_prompts
UPDATE prompts SET text = :erased WHERE id IN (SELECT value FROM json_each(:ids));

-- name: forget_replies_of_session
UPDATE requests SET reply = NULL, error = NULL WHERE session_id = :id;

-- name: forget_replies_of_project
UPDATE requests SET reply = NULL, error = NULL WHERE project_id = :id;

-- name: bury_session
INSERT INTO erased_sessions (session, until) VALUES (:session, :until)
ON CONFLICT (session) DO UPDATE SET until = max(until, excluded.until);

-- name: buried
SELECT until FROM erased_sessions WHERE session = :session;

-- name: drop_session
DELETE FROM sessions WHERE id = :id;

-- name: drop_pauses
DELETE FROM pauses WHERE agent = :agent AND ref = :ref AND ends_at IS NOT NULL;

-- name: drop_project
DELETE FROM projects WHERE id = :id;

-- name: drop_quarantine
DELETE FROM quarantine WHERE name = :name;
