-- Weights: a title counts more than the text under it, a date less; the scope only decides on who takes part.
-- Months in the scope are coarse and may be left out, so the time is a condition before the limit too.
-- name: match
SELECT d.id, -w.rank AS score
FROM document_words AS w CROSS JOIN documents AS d ON d.id = w.rowid
WHERE w.document_words MATCH :match AND w.rank MATCH 'bm25(2.0, 1.0, 1.0, 0.7, 0.0)'
  AND (:since IS NULL OR d.at >= :since) AND (:until IS NULL OR d.at < :until)
ORDER BY w.rank LIMIT :limit;

-- name: matching_ids
SELECT rowid AS id FROM document_words WHERE document_words MATCH :match
ORDER BY rowid DESC LIMIT :limit;

-- name: spread
SELECT count(*) FROM (SELECT 1 FROM document_words WHERE document_words MATCH :match LIMIT :limit);

-- name: labelled
SELECT label, documents FROM document_labels
WHERE label IN (SELECT value FROM json_each(:terms)) AND project_id = :project_id;

-- name: labelled_anywhere
SELECT label, sum(documents) FROM document_labels
WHERE label IN (SELECT value FROM json_each(:terms)) GROUP BY label;

-- name: newest_id
SELECT coalesce(max(id), 0) FROM documents;

-- name: how_many
SELECT count(*) FROM documents;

-- name: how_many_of_project
SELECT count(*) FROM documents WHERE project_id = :project_id;

-- A row value would go through all documents of the same moment, and a long turn has many.
-- name: documents
SELECT d.id, d.kind, d.source, d.session_id, d.project_id, d.at, d.asks, d.says_when, d.says_number,
       d.pinned, d.doubted, d.superseded, d.labels,
       CASE WHEN d.kind <> 'session' THEN coalesce(
         (
           SELECT p.id FROM documents AS p
           WHERE p.session_id = d.session_id AND p.kind <> 'session'
             AND p.at = d.at AND p.kind = d.kind AND p.source < d.source
           ORDER BY p.source DESC LIMIT 1
         ), (
           SELECT p.id FROM documents AS p
           WHERE p.session_id = d.session_id AND p.kind <> 'session' AND p.at = d.at AND p.kind < d.kind
           ORDER BY p.kind DESC, p.source DESC LIMIT 1
         ), (
           SELECT p.id FROM documents AS p
           WHERE p.session_id = d.session_id AND p.kind <> 'session' AND p.at < d.at
           ORDER BY p.at DESC, p.kind DESC, p.source DESC LIMIT 1
         )
       ) END AS previous,
       CASE WHEN d.kind <> 'session' THEN coalesce(
         (
           SELECT n.id FROM documents AS n
           WHERE n.session_id = d.session_id AND n.kind <> 'session'
             AND n.at = d.at AND n.kind = d.kind AND n.source > d.source
           ORDER BY n.source LIMIT 1
         ), (
           SELECT n.id FROM documents AS n
           WHERE n.session_id = d.session_id AND n.kind <> 'session' AND n.at = d.at AND n.kind > d.kind
           ORDER BY n.kind, n.source LIMIT 1
         ), (
           SELECT n.id FROM documents AS n
           WHERE n.session_id = d.session_id AND n.kind <> 'session' AND n.at > d.at
           ORDER BY n.at, n.kind, n.source LIMIT 1
         )
       ) END AS next,
       CASE d.kind
         WHEN 'observation' THEN (SELECT o.prompt_number FROM observations AS o WHERE o.id = d.source)
         WHEN 'summary' THEN (SELECT s.prompt_number FROM summaries AS s WHERE s.id = d.source)
         WHEN 'prompt' THEN (SELECT p.number FROM prompts AS p WHERE p.id = d.source)
       END AS turn
FROM json_each(:ids) AS wanted JOIN documents AS d ON d.id = wanted.value;

-- name: texts
SELECT d.id, d.title || ' ' || d.body || ' ' || d.labels AS words
FROM json_each(:ids) AS wanted JOIN documents AS d ON d.id = wanted.value;

-- name: vectors
SELECT v.id, v.document_id, d.session_id, d.project_id, d.at, d.kind, d.source, v.vector
FROM document_vectors AS v CROSS JOIN documents AS d ON d.id = v.document_id
WHERE v.id > :after AND v.encoder = :encoder ORDER BY v.id;

-- name: newest_vector
SELECT coalesce(max(id), 0) FROM document_vectors;

-- Only what is current is injected, whatever the index says.
-- name: standing
SELECT o.id FROM json_each(:ids) AS wanted JOIN visible_observations AS o ON o.id = wanted.value
WHERE o.repeats IS NULL
  AND NOT EXISTS (SELECT 1 FROM superseded_observations AS s WHERE s.id = o.id)
  AND NOT EXISTS (SELECT 1 FROM doubted_observations AS d WHERE d.id = o.id);

-- name: of_period
SELECT id FROM documents
WHERE project_id = :project_id AND at >= :since AND at < :until AND kind <> 'session'
ORDER BY at DESC LIMIT :limit;

-- name: of_period_anywhere
SELECT id FROM documents WHERE at >= :since AND at < :until AND kind <> 'session'
ORDER BY at DESC LIMIT :limit;

-- name: document_of
SELECT id FROM documents WHERE kind = :kind AND source = :source;

-- name: facts
SELECT f.observation_id, f.text
FROM fact_words AS w JOIN observation_facts AS f ON f.id = w.rowid
WHERE w.fact_words MATCH :match
  AND w.rowid IN (
    SELECT id FROM observation_facts WHERE observation_id IN (SELECT value FROM json_each(:observations))
  )
ORDER BY w.rank;

-- name: events
SELECT e.id, e.session_id, t.project_id, e.at, e.tool, t.text, w.score, e.origin, e.prompt_number AS turn
FROM (
  SELECT m.rowid AS id, -m.rank AS score
  FROM event_words AS m CROSS JOIN events AS o ON o.id = m.rowid
  WHERE m.event_words MATCH :match AND m.rank MATCH 'bm25(1.0, 0.0)'
    AND (:since IS NULL OR o.at >= :since) AND (:until IS NULL OR o.at < :until)
  ORDER BY m.rank LIMIT :limit
) AS w CROSS JOIN events AS e ON e.id = w.id JOIN event_texts AS t ON t.event_id = e.id
ORDER BY w.score DESC, e.id;

-- What the agent wrote, by turns.
-- name: said
SELECT e.session_id, e.prompt_number, max(w.score) AS score
FROM (
  SELECT m.rowid AS id, -m.rank AS score
  FROM event_words AS m CROSS JOIN events AS o ON o.id = m.rowid
  WHERE m.event_words MATCH :match AND m.rank MATCH 'bm25(1.0, 0.0)'
    AND (:since IS NULL OR o.at >= :since) AND (:until IS NULL OR o.at < :until)
  ORDER BY m.rank LIMIT :limit
) AS w JOIN events AS e ON e.id = w.id
WHERE e.tool IS NULL GROUP BY e.session_id, e.prompt_number;
