-- Files that something may be worth telling about: more than are told of, for these are only asked about.
-- name: worth_asking
WITH newest AS (
  SELECT id, at, type, pinned FROM visible_observations
  WHERE project_id = :project_id AND session_id <> :session_id AND repeats IS NULL
  ORDER BY at DESC LIMIT 10 * :limit
)
SELECT f.path FROM newest AS o JOIN observation_files AS f ON f.observation_id = o.id
WHERE o.type IN ('decision', 'bugfix', 'discovery') OR o.pinned
  OR f.role = 'modified' AND EXISTS (SELECT 1 FROM observation_facts WHERE observation_id = o.id)
GROUP BY f.path ORDER BY max(o.at) DESC LIMIT :limit;

-- What changed the file, and what was found out by reading it. CROSS JOIN: the file's name is the narrowest way in,
-- and the planner does not know that.
-- name: speaking_of
SELECT o.* FROM observation_files AS f CROSS JOIN visible_observations AS o ON o.id = f.observation_id
WHERE f.name = :name AND o.project_id = :project_id
  AND (f.path = :path OR f.path LIKE '%/' || :escaped ESCAPE '\')
  AND (f.role = 'modified' OR o.type IN ('decision', 'bugfix', 'discovery'))
  AND o.session_id <> :session_id AND o.repeats IS NULL
  AND NOT EXISTS (
    SELECT 1 FROM injections AS t
    WHERE t.session_id = :session_id AND t.kind = 'observation' AND t.source = o.id AND t.hook <> 'context'
      AND t.at > :since
  )
  AND NOT EXISTS (SELECT 1 FROM superseded_observations AS s WHERE s.id = o.id)
  AND NOT EXISTS (SELECT 1 FROM doubted_observations AS d WHERE d.id = o.id)
GROUP BY o.id ORDER BY o.pinned DESC, o.type IN ('decision', 'bugfix', 'discovery') DESC, o.at DESC LIMIT :limit;
