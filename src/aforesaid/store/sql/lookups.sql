-- What stands before a place in the project's time, nearest first. At the same moment a prompt comes before what
-- was made of it; a document's own number changes whenever it is indexed again.
-- name: earlier
SELECT id FROM documents
WHERE project_id = :project_id AND kind <> 'session' AND at <= :at
  AND (
    at < :at
    OR (CASE kind WHEN 'prompt' THEN 0 WHEN 'observation' THEN 1 ELSE 2 END, source) < (:rank, :source)
  )
ORDER BY at DESC, CASE kind WHEN 'prompt' THEN 0 WHEN 'observation' THEN 1 ELSE 2 END DESC, source DESC
LIMIT :limit;

-- name: later
SELECT id FROM documents
WHERE project_id = :project_id AND kind <> 'session' AND at >= :at
  AND (
    at > :at
    OR (CASE kind WHEN 'prompt' THEN 0 WHEN 'observation' THEN 1 ELSE 2 END, source) > (:rank, :source)
  )
ORDER BY at, CASE kind WHEN 'prompt' THEN 0 WHEN 'observation' THEN 1 ELSE 2 END, source
LIMIT :limit;

-- Observations that hang together with this one: what came before in its story, what came after, who says the same.
-- name: links
SELECT old.id, 'before' AS what FROM visible_observations AS one JOIN visible_observations AS old ON old.id = one.follows
WHERE one.id = :id
UNION ALL
SELECT id, 'after' FROM visible_observations WHERE follows = :id
UNION ALL
SELECT repeats, 'same' FROM visible_observations WHERE id = :id AND repeats IS NOT NULL
UNION ALL
SELECT id, 'same' FROM visible_observations WHERE repeats = :id;

-- name: duplicates
WITH RECURSIVE folded (id) AS (
  SELECT :id UNION SELECT o.id FROM folded JOIN visible_observations AS o ON o.repeats = folded.id
)
SELECT id FROM folded WHERE id <> :id ORDER BY id;

-- Others that have a file or a concept in common with one, the newest first. CROSS JOIN: the name is the narrowest
-- way in, and the planner does not know that.
-- name: sharing_file
SELECT DISTINCT o.id FROM observation_files AS f CROSS JOIN visible_observations AS o ON o.id = f.observation_id
WHERE f.name = :file AND f.path = :name AND o.project_id = :project_id AND o.id <> :id AND o.repeats IS NULL
ORDER BY f.observation_id DESC LIMIT :most;

-- name: sharing_concept
SELECT o.id FROM observation_concepts AS c CROSS JOIN visible_observations AS o ON o.id = c.observation_id
WHERE c.concept = :name AND o.project_id = :project_id AND o.id <> :id AND o.repeats IS NULL
ORDER BY c.observation_id DESC LIMIT :most;

-- What changed the file before what read it, what still holds before what does not, then the newest.
-- name: on_file
SELECT o.* FROM visible_observations AS o
JOIN (
  SELECT observation_id, max(role = 'modified') AS changed FROM observation_files
  WHERE name = :name AND (path = :path OR path LIKE '%/' || :escaped ESCAPE '\')
  GROUP BY observation_id
) AS about ON about.observation_id = o.id
WHERE o.project_id = :project_id AND o.repeats IS NULL
ORDER BY o.pinned DESC,
         EXISTS (SELECT 1 FROM superseded_observations AS s WHERE s.id = o.id)
         OR EXISTS (SELECT 1 FROM doubted_observations AS d WHERE d.id = o.id),
         about.changed DESC, o.at DESC, o.id DESC
LIMIT :limit;

-- CROSS JOIN: the project first; other projects may have many more files.
-- name: files_known
SELECT f.path, count(DISTINCT o.id) AS observations,
       count(DISTINCT CASE WHEN f.role = 'modified' THEN o.id END) AS changes, max(o.at) AS last_at
FROM visible_observations AS o CROSS JOIN observation_files AS f ON f.observation_id = o.id
WHERE o.project_id = :project_id AND o.repeats IS NULL AND f.path LIKE :escaped || '%' ESCAPE '\'
GROUP BY f.path ORDER BY observations DESC, changes DESC, last_at DESC, f.path LIMIT :limit;

-- name: summary
SELECT * FROM summaries WHERE id = :id;

-- name: prompt
SELECT * FROM prompts WHERE id = :id;

-- name: event
SELECT e.id, e.session_id, s.project_id, e.at, e.tool, coalesce(t.text, '') AS text, 0.0 AS score, e.origin
FROM events AS e JOIN sessions AS s ON s.id = e.session_id
LEFT JOIN event_texts AS t ON t.event_id = e.id WHERE e.id = :id;
