-- The best part of a thing stands for it: an observation is found by its text or by any fact. A part that is
-- doubted, or whose story a later one carries on, counts for half. (Scores are negative: less is better.)
-- name: search
WITH found AS MATERIALIZED (
  SELECT rowid AS doc, rank AS score FROM search_index WHERE search_index MATCH :match
), hits AS (
  SELECT 'observation' AS kind, o.id, o.session_id, o.project_id, o.at, o.type, o.title, score, doc,
         EXISTS (SELECT 1 FROM doubted_observations AS d WHERE d.id = o.id)
         OR EXISTS (
           SELECT 1 FROM observation_doubts AS d WHERE d.observation_id = o.id AND d.part = 'narrative'
         ) AS doubted,
         EXISTS (SELECT 1 FROM superseded_observations AS s WHERE s.id = o.id) AS superseded
  FROM found JOIN observations AS o ON doc % 8 = 1 AND o.id = doc / 8
  WHERE o.repeats IS NULL
  UNION ALL
  SELECT 'observation', o.id, o.session_id, o.project_id, o.at, o.type, o.title, score, doc,
         EXISTS (SELECT 1 FROM doubted_facts AS d WHERE d.id = f.id)
         OR EXISTS (SELECT 1 FROM doubted_observations AS d WHERE d.id = o.id),
         EXISTS (SELECT 1 FROM superseded_observations AS s WHERE s.id = o.id)
  FROM found JOIN observation_facts AS f ON doc % 8 = 2 AND f.id = doc / 8
  JOIN observations AS o ON o.id = f.observation_id
  WHERE o.repeats IS NULL
  UNION ALL
  SELECT 'summary', s.id, s.session_id, s.project_id, s.at, NULL, s.request, score, doc,
         EXISTS (SELECT 1 FROM summary_doubts AS d WHERE d.summary_id = s.id), 0
  FROM found JOIN summaries AS s ON doc % 8 = 3 AND s.id = doc / 8
  UNION ALL
  SELECT 'prompt', p.id, p.session_id, t.project_id, p.at, NULL, p.text, score, doc, 0, 0
  FROM found JOIN prompts AS p ON doc % 8 = 4 AND p.id = doc / 8
  JOIN sessions AS t ON t.id = p.session_id
)
SELECT kind, id, session_id, project_id, at, type, title, doc, doubted,
       min(score / (1 + (doubted OR superseded))) AS score FROM hits
WHERE (:project_id IS NULL OR project_id = :project_id) AND (:type IS NULL OR type = :type)
GROUP BY kind, id ORDER BY score, at DESC LIMIT :limit;

-- name: excerpt
SELECT snippet(search_index, -1, char(2), char(3), '…', 16) FROM search_index
WHERE search_index MATCH :match AND rowid = :doc;
