-- What a person has pinned, edited or merged is theirs; everything else of the job is written again.
-- name: drop_of_job
DELETE FROM observations
WHERE job_id = :job_id AND NOT EXISTS (SELECT 1 FROM in_hand AS h WHERE h.id = observations.id);

-- name: drop_of_turn
DELETE FROM observations
WHERE session_id = :session_id AND prompt_number = :prompt_number AND provider = :provider AND job_id <> :job_id
  AND NOT EXISTS (SELECT 1 FROM in_hand AS h WHERE h.id = observations.id);

-- name: kept_of_job
SELECT title, ordinal FROM observations WHERE job_id = :job_id;

-- What was seen of the files when the job was done before.
-- name: seen_by_job
SELECT o.revision, f.path, f.blob FROM observations AS o
LEFT JOIN observation_files AS f ON f.observation_id = o.id AND f.blob IS NOT NULL
WHERE o.job_id = :job_id AND coalesce(o.revision, f.blob) IS NOT NULL ORDER BY o.id;

-- name: add
INSERT INTO observations (session_id, project_id, job_id, ordinal, prompt_number, at, provider, model, type,
                          title, subtitle, narrative, subagent_type, repeats, follows, revision,
                          origins, sources, bears_out)
VALUES (:session_id, :project_id, :job_id, :ordinal, :prompt_number, :at, :provider, :model, :type,
        :title, :subtitle, :narrative, :subagent_type, :repeats, :follows, :revision,
        :origins, :sources, :bears_out)
RETURNING id;

-- The observation that another may point to: not one that is folded itself, but what it is folded into.
-- name: standing
WITH RECURSIVE above (id, repeats) AS (
  SELECT id, repeats FROM visible_observations WHERE id = :id
  UNION SELECT o.id, o.repeats FROM above JOIN visible_observations AS o ON o.id = above.repeats
)
SELECT said.id, said.at FROM above JOIN visible_observations AS said ON said.id = above.id
WHERE above.repeats IS NULL AND said.project_id = :project_id
  AND (said.job_id IS NOT :job_id OR EXISTS (SELECT 1 FROM in_hand AS h WHERE h.id = said.id));

-- The lists, as JSON.
-- name: add_facts
INSERT INTO observation_facts (observation_id, ordinal, text) SELECT :owner, key, value FROM json_each(:items);

-- name: add_concepts
INSERT INTO observation_concepts (observation_id, concept) SELECT :owner, value FROM json_each(:items) WHERE true
ON CONFLICT DO NOTHING;

-- name: add_files
INSERT INTO observation_files (observation_id, path, name, role, blob)
SELECT :owner, json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
  json_extract(value, '$[3]')
FROM json_each(:items) WHERE true
ON CONFLICT DO NOTHING;

-- name: add_doubts
INSERT INTO observation_doubts (observation_id, ordinal, part, reason)
SELECT :owner, key, json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:items);

-- An event of another session, or none at all, is no evidence.
-- name: add_events
INSERT INTO observation_events (observation_id, event_id)
SELECT :owner, e.id FROM json_each(:items) AS wanted CROSS JOIN events AS e ON e.id = wanted.value
WHERE e.session_id = :session_id
ON CONFLICT DO NOTHING;

-- name: set_words
UPDATE observations
SET type = :type, title = :title, subtitle = :subtitle, narrative = :narrative, edited = :edited
WHERE id = :id;

-- name: pin
UPDATE observations SET pinned = :pinned WHERE id = :id;

-- name: verify
UPDATE observations SET confirmed = :verified WHERE id = :id;

-- name: add_edit
INSERT INTO edits (observation_id, before) VALUES (:id, :before);

-- name: last_edit
SELECT e.id, e.before FROM edits AS e JOIN visible_observations AS o ON o.id = e.observation_id
WHERE o.id = :id ORDER BY e.id DESC LIMIT 1;

-- name: how_many_edits
SELECT count(*) FROM edits WHERE observation_id = :id;

-- name: drop_edit
DELETE FROM edits WHERE id = :id;

-- name: drop_facts
DELETE FROM observation_facts WHERE observation_id = :id;

-- name: drop_concepts
DELETE FROM observation_concepts WHERE observation_id = :id;

-- name: drop_doubts
DELETE FROM observation_doubts WHERE observation_id = :id;

-- name: one
SELECT * FROM visible_observations WHERE id = :id;

-- Lists as JSON: one question for all parts. Without the doubts that no longer matter, because somebody vouches for it.
-- name: parts
SELECT p.facts, p.concepts, p.files_read, p.files_modified, p.blobs,
  (
    SELECT json_group_array(json_array(part, reason)) FROM (
      SELECT part, reason FROM standing_doubts WHERE observation_id = p.id ORDER BY ordinal
    )
  ) AS doubts,
  (SELECT json_group_array(event_id) FROM observation_events WHERE observation_id = p.id) AS evidence
FROM observation_parts AS p WHERE p.id = :id;

-- All that an edit replaces.
-- name: words
SELECT facts, concepts, doubts FROM observation_parts WHERE id = :id;

-- name: of_session
SELECT * FROM visible_observations WHERE session_id = :session_id ORDER BY at, id;

-- name: of_prompt
SELECT * FROM visible_observations WHERE session_id = :session_id AND prompt_number = :prompt_number
ORDER BY at, id;

-- What is injected: the newest of each story, once, and nothing doubtful.
-- name: recent
SELECT * FROM visible_observations AS o
WHERE project_id = :project_id AND repeats IS NULL
  AND NOT EXISTS (SELECT 1 FROM superseded_observations AS s WHERE s.id = o.id)
  AND NOT EXISTS (SELECT 1 FROM doubted_observations AS d WHERE d.id = o.id)
ORDER BY at DESC, id DESC LIMIT :limit;

-- Without the name of the index the planner takes that of the project, and goes through all of it.
-- name: pinned
SELECT * FROM observations INDEXED BY observations_pinned
WHERE project_id = :project_id AND pinned AND hidden_at IS NULL ORDER BY at DESC, id DESC;

-- name: newest_id
SELECT coalesce(max(id), 0) FROM observations;

-- What a waiting job wrote before is about to be replaced: it counts as not yet recorded.
-- name: titles_of_session
SELECT title FROM visible_observations AS o
WHERE session_id = :session_id AND title IS NOT NULL AND repeats IS NULL
  AND (
    EXISTS (SELECT 1 FROM in_hand AS h WHERE h.id = o.id)
    OR NOT EXISTS (SELECT 1 FROM jobs WHERE id = o.job_id AND state = 'pending')
  )
ORDER BY at, id;

-- name: titles_of_prompt
SELECT type, title FROM visible_observations AS o
WHERE session_id = :session_id AND prompt_number = :prompt_number AND job_id IS NOT :job_id
  AND (
    EXISTS (SELECT 1 FROM in_hand AS h WHERE h.id = o.id)
    OR NOT EXISTS (SELECT 1 FROM jobs WHERE id = o.job_id AND state = 'pending')
  );

-- The best by everything they share with the words; of those, the newest first.
-- name: similar
WITH found AS MATERIALIZED (
  SELECT rowid AS document, rank AS score FROM document_words
  WHERE document_words MATCH :match AND rank MATCH 'bm25(2.0, 1.0, 1.0, 0.0, 0.0)' ORDER BY rank LIMIT 200
), best AS (
  SELECT o.id FROM found JOIN documents AS d ON d.id = found.document
  JOIN visible_observations AS o ON o.id = d.source
  WHERE d.kind = 'observation' AND o.repeats IS NULL
    AND (
      EXISTS (SELECT 1 FROM in_hand AS h WHERE h.id = o.id)
      OR o.job_id IS NOT :job_id
         AND NOT EXISTS (SELECT 1 FROM jobs WHERE id = o.job_id AND state = 'pending')
    )
  ORDER BY score, o.at DESC LIMIT :limit
)
SELECT o.* FROM best JOIN visible_observations AS o ON o.id = best.id ORDER BY o.at DESC, o.id DESC;
