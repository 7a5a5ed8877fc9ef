-- What people look through: a page at a time, by an index, however much there is.

-- What is folded into another is not counted: it is found through that one.
-- name: projects
SELECT p.id, p.name, p.root,
  (SELECT count(*) FROM sessions AS s WHERE s.project_id = p.id) AS sessions,
  (SELECT count(*) FROM visible_observations AS o WHERE o.project_id = p.id)
  - (SELECT count(*) FROM visible_observations AS f WHERE f.repeats IS NOT NULL AND +f.project_id = p.id) AS observations,
  (SELECT max(s.last_event_at) FROM sessions AS s WHERE s.project_id = p.id) AS last_at
FROM projects AS p ORDER BY last_at DESC, p.id DESC;

-- Those that something happened in within a time.
-- name: sessions_of_project
SELECT * FROM sessions
WHERE project_id = :project_id AND last_event_at >= coalesce(:since, 0) AND (last_event_at, id) < (:at, :id)
  AND (:until IS NULL OR started_at < :until)
  AND (:status IS NULL OR status = :status) AND (:agent IS NULL OR agent = :agent)
ORDER BY last_event_at DESC, id DESC LIMIT :limit;

-- name: sessions_of_status
SELECT * FROM sessions
WHERE status = :status AND last_event_at >= coalesce(:since, 0) AND (last_event_at, id) < (:at, :id)
  AND (:until IS NULL OR started_at < :until) AND (:agent IS NULL OR agent = :agent)
ORDER BY last_event_at DESC, id DESC LIMIT :limit;

-- name: sessions_anywhere
SELECT * FROM sessions
WHERE last_event_at >= coalesce(:since, 0) AND (last_event_at, id) < (:at, :id)
  AND (:until IS NULL OR started_at < :until) AND (:agent IS NULL OR agent = :agent)
ORDER BY last_event_at DESC, id DESC LIMIT :limit;

-- name: types_of_sessions
SELECT o.session_id, o.type, count(*) AS number
FROM json_each(:ids) AS wanted CROSS JOIN visible_observations AS o ON o.session_id = wanted.value
WHERE o.repeats IS NULL GROUP BY o.session_id, o.type;

-- name: marks
SELECT o.session_id, o.id, o.at, o.type, substr(coalesce(o.title, o.subtitle, ''), 1, 120) AS title
FROM json_each(:ids) AS wanted CROSS JOIN visible_observations AS o ON o.session_id = wanted.value
WHERE o.repeats IS NULL AND o.at >= :since AND o.at < :until ORDER BY o.session_id, o.at, o.id;

-- name: spent_in_session
SELECT '' AS label, count(*) AS requests, coalesce(sum(sent), 0) AS sent,
       coalesce(sum(cached), 0) AS cached, coalesce(sum(received), 0) AS received,
       coalesce(sum(microdollars), 0) AS microdollars, count(*) - count(microdollars) AS unpriced
FROM requests WHERE session_id = :session_id;

-- name: events
SELECT e.id, e.session_id, e.kind, e.tool, e.at, e.prompt_number, e.subagent_type, e.size, e.healed,
       substr(t.text, 1, 400) AS text
FROM events AS e LEFT JOIN event_texts AS t ON t.event_id = e.id
WHERE e.session_id = :session_id AND (e.prompt_number, e.at, e.id) > (:prompt_number, :at, :id)
ORDER BY e.prompt_number, e.at, e.id LIMIT :limit;

-- name: events_backwards
SELECT e.id, e.session_id, e.kind, e.tool, e.at, e.prompt_number, e.subagent_type, e.size, e.healed,
       substr(t.text, 1, 400) AS text
FROM events AS e LEFT JOIN event_texts AS t ON t.event_id = e.id
WHERE e.session_id = :session_id AND (e.prompt_number, e.at, e.id) < (:prompt_number, :at, :id)
ORDER BY e.prompt_number DESC, e.at DESC, e.id DESC LIMIT :limit;

-- name: events_named
SELECT e.id, e.session_id, e.kind, e.tool, e.at, e.prompt_number, e.subagent_type, e.size, e.healed,
       substr(t.text, 1, 400) AS text
FROM json_each(:ids) AS wanted CROSS JOIN events AS e ON e.id = wanted.value
LEFT JOIN event_texts AS t ON t.event_id = e.id ORDER BY e.at, e.id;

-- The tools of the turn that an observation is about. Of too many, those are kept that name one of its files.
-- name: events_of_turn
SELECT * FROM (
  SELECT e.id, e.session_id, e.kind, e.tool, e.at, e.prompt_number, e.subagent_type, e.size, e.healed,
         substr(t.text, 1, 400) AS text
  FROM visible_observations AS o
  CROSS JOIN events AS e ON e.session_id = o.session_id AND e.prompt_number = o.prompt_number
  LEFT JOIN event_texts AS t ON t.event_id = e.id
  WHERE o.id = :id AND e.kind = 'tool'
  ORDER BY
    NOT EXISTS (SELECT 1 FROM observation_files AS f
                WHERE f.observation_id = o.id AND instr(substr(t.text, 1, 400), f.path)),
    e.at, e.id
  LIMIT :limit
) ORDER BY at, id;

-- name: event_body
SELECT body FROM events WHERE id = :id;

-- name: event_text
SELECT text FROM event_texts WHERE event_id = :id;

-- Observations, the latest first. `at` and `id`: behind which one, or the end of a time. Each way in leaves the
-- other filters to be looked at row by row.
-- name: observations_anywhere
SELECT * FROM visible_observations AS o
WHERE (at, id) < (:at, :id) AND at >= :since AND repeats IS NULL
  AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
  AND (:agent IS NULL OR :agent = (SELECT s.agent FROM sessions AS s WHERE s.id = o.session_id))
ORDER BY at DESC, id DESC LIMIT :limit;

-- name: observations_of_project
SELECT * FROM visible_observations AS o
WHERE project_id = :project_id AND (at, id) < (:at, :id) AND at >= :since AND repeats IS NULL
  AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
  AND (:agent IS NULL OR :agent = (SELECT s.agent FROM sessions AS s WHERE s.id = o.session_id))
ORDER BY at DESC, id DESC LIMIT :limit;

-- name: observations_of_type
SELECT * FROM visible_observations AS o
WHERE type = :type AND (at, id) < (:at, :id) AND at >= :since AND repeats IS NULL
  AND (:project_id IS NULL OR +project_id = :project_id)
  AND (:agent IS NULL OR :agent = (SELECT s.agent FROM sessions AS s WHERE s.id = o.session_id))
ORDER BY at DESC, id DESC LIMIT :limit;

-- CROSS JOIN: those that were named are the narrowest way in.
-- name: observations_among
SELECT o.* FROM json_each(:ids) AS wanted CROSS JOIN visible_observations AS o ON o.id = wanted.value
WHERE (o.at, o.id) < (:at, :id) AND o.at >= :since AND o.repeats IS NULL
  AND (:project_id IS NULL OR o.project_id = :project_id)
  AND (:types IS NULL OR o.type IN (SELECT value FROM json_each(:types)))
  AND (:agent IS NULL OR :agent = (SELECT s.agent FROM sessions AS s WHERE s.id = o.session_id))
ORDER BY o.at DESC, o.id DESC LIMIT :limit;

-- name: ids_of_session
SELECT id FROM visible_observations WHERE session_id = :session_id;

-- name: ids_of_concepts
SELECT c.observation_id AS id
FROM json_each(:names) AS wanted CROSS JOIN observation_concepts AS c ON c.concept = wanted.value;

-- A file is known by its path and by its name. `names`: the name of each path.
-- name: ids_of_files
SELECT f.observation_id AS id
FROM json_each(:names) AS wanted CROSS JOIN observation_files AS f ON f.name = wanted.value
WHERE f.path = wanted.key OR f.name = wanted.key;

-- name: observations_of_session
SELECT * FROM visible_observations WHERE session_id = :session_id ORDER BY at, id;

-- name: doubted
SELECT d.id FROM json_each(:ids) AS wanted JOIN doubted_observations AS d ON d.id = wanted.value;

-- How often something happened in which session, in quarters of an hour: days are made of them, wherever one is.
-- name: events_by_quarter
SELECT e.at / 900000 AS quarter, e.session_id, count(*) AS number
FROM sessions AS s CROSS JOIN events AS e ON e.session_id = s.id
WHERE s.project_id = :project_id AND s.last_event_at >= :since AND e.at >= :since GROUP BY 2, 1;

-- name: events_by_quarter_anywhere
SELECT e.at / 900000 AS quarter, e.session_id, count(*) AS number
FROM sessions AS s CROSS JOIN events AS e ON e.session_id = s.id
WHERE s.last_event_at >= :since AND e.at >= :since GROUP BY 2, 1;

-- Of which session is not looked up: there was something else in it at that time.
-- name: observations_by_quarter
SELECT at / 900000 AS quarter, NULL AS session_id, count(*) AS number FROM visible_observations
WHERE project_id = :project_id AND at >= :since GROUP BY 1;

-- name: observations_by_quarter_anywhere
SELECT at / 900000 AS quarter, NULL AS session_id, count(*) AS number FROM visible_observations
WHERE at >= :since GROUP BY 1;

-- Sessions begin and end, even if nothing is known of what lies between.
-- name: sessions_by_quarter
SELECT started_at / 900000 AS quarter, id AS session_id, 1 AS number FROM sessions
WHERE project_id = :project_id AND last_event_at >= :since AND started_at >= :since
UNION SELECT last_event_at / 900000, id, 1 FROM sessions
WHERE project_id = :project_id AND last_event_at >= :since;

-- name: sessions_by_quarter_anywhere
SELECT started_at / 900000 AS quarter, id AS session_id, 1 AS number FROM sessions
WHERE last_event_at >= :since AND started_at >= :since
UNION SELECT last_event_at / 900000, id, 1 FROM sessions WHERE last_event_at >= :since;

-- What the best findings have in common, the commonest first.
-- name: facet_type
SELECT o.type AS value, count(*) AS number
FROM json_each(:ids) AS wanted JOIN visible_observations AS o ON o.id = wanted.value
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT :limit;

-- name: facet_concept
SELECT c.concept AS value, count(*) AS number
FROM json_each(:ids) AS wanted JOIN observation_concepts AS c ON c.observation_id = wanted.value
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT :limit;

-- name: facet_file
SELECT f.path AS value, count(DISTINCT f.observation_id) AS number
FROM json_each(:ids) AS wanted JOIN observation_files AS f ON f.observation_id = wanted.value
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT :limit;

-- name: agents_of_sessions
SELECT s.id, s.agent FROM json_each(:ids) AS wanted JOIN sessions AS s ON s.id = wanted.value;
