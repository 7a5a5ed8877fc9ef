-- The best part of a thing stands for it: an observation is found by its text or by any fact.
-- name: search
WITH found AS MATERIALIZED (
  SELECT rowid AS doc, rank AS score FROM search_index WHERE search_index MATCH :match
), hits AS (
  SELECT 'observation' AS kind, o.id, o.session_id, o.project_id, o.at, o.type, o.title, score, doc
  FROM found JOIN observations AS o ON doc % 8 = 1 AND o.id = doc / 8
  UNION ALL
  SELECT 'observation', o.id, o.session_id, o.project_id, o.at, o.type, o.title, score, doc
  FROM found JOIN observation_facts AS f ON doc % 8 = 2 AND f.id = doc / 8
  JOIN observations AS o ON o.id = f.observation_id
  UNION ALL
  SELECT 'summary', s.id, s.session_id, s.project_id, s.at, NULL, s.request, score, doc
  FROM found JOIN summaries AS s ON doc % 8 = 3 AND s.id = doc / 8
  UNION ALL
  SELECT 'prompt', p.id, p.session_id, t.project_id, p.at, NULL, p.text, score, doc
  FROM found JOIN prompts AS p ON doc % 8 = 4 AND p.id = doc / 8
  JOIN sessions AS t ON t.id = p.session_id
)
SELECT kind, id, session_id, project_id, at, type, title, doc, min(score) AS score FROM hits
WHERE (:project_id IS NULL OR project_id = :project_id) AND (:type IS NULL OR type = :type)
GROUP BY kind, id ORDER BY score, at DESC LIMIT :limit;

-- name: excerpt
SELECT snippet(search_index, -1, char(2), char(3), '…', 16) FROM search_index
WHERE search_index MATCH :match AND rowid = :doc;
