-- name: waiting
SELECT kind, source FROM unindexed ORDER BY kind, source LIMIT :limit;

-- name: waiting_count
SELECT count(*) FROM unindexed;

-- name: done
DELETE FROM unindexed WHERE kind = :kind AND source = :source;

-- name: drop
DELETE FROM documents WHERE kind = :kind AND source = :source;

-- A document of each kind, with the same columns. Its text is `lead`, then the facts, then `rest`; lists are JSON.
-- One that repeats another is found through that one: by the same words, or by its own if a person merged it. `duplicates`: them.
-- name: observation
WITH RECURSIVE merged (id) AS (
  SELECT :id
  UNION SELECT m.observation_id FROM merged JOIN visible_observations AS x ON x.repeats = merged.id
  JOIN merges AS m ON m.observation_id = x.id
), folded (id) AS (
  SELECT :id UNION SELECT x.id FROM folded JOIN visible_observations AS x ON x.repeats = folded.id
)
SELECT o.id, o.session_id, o.project_id, s.agent, o.at, o.type, o.title, o.subtitle AS lead, o.pinned,
  o.edited AS by_user,
  (SELECT json_group_array(id) FROM (SELECT id FROM folded WHERE id <> :id ORDER BY id)) AS duplicates,
  (
    SELECT json_group_array(text) FROM (
      SELECT o.narrative AS text
      UNION ALL
      SELECT coalesce(x.title || char(10), '') || coalesce(x.subtitle || char(10), '')
        || coalesce((SELECT group_concat(text, char(10)) FROM observation_facts WHERE observation_id = x.id)
          || char(10), '')
        || coalesce(x.narrative, '')
      FROM merged JOIN observations AS x ON x.id = merged.id WHERE x.id <> :id
    )
  ) AS rest,
  EXISTS (SELECT 1 FROM doubted_observations AS d WHERE d.id = o.id)
  OR EXISTS (SELECT 1 FROM made_up_narratives AS d WHERE d.id = o.id) AS doubted,
  EXISTS (SELECT 1 FROM superseded_observations AS p WHERE p.id = o.id) AS superseded,
  (
    SELECT json_group_array(json_array(id, text)) FROM (
      SELECT id, text FROM observation_facts WHERE observation_id = o.id ORDER BY ordinal
    )
  ) AS facts,
  (
    SELECT json_group_array(tag) FROM (
      SELECT concept AS tag FROM (
        SELECT DISTINCT concept FROM observation_concepts
        WHERE observation_id IN (SELECT id FROM merged) ORDER BY concept
      )
      UNION ALL SELECT o.subagent_type WHERE o.subagent_type <> ''
    )
  ) AS tags,
  (
    SELECT json_group_array(path) FROM (
      SELECT DISTINCT path FROM observation_files WHERE observation_id IN (SELECT id FROM merged) ORDER BY path
    )
  ) AS files
FROM visible_observations AS o JOIN sessions AS s ON s.id = o.session_id
WHERE o.id = :id AND o.repeats IS NULL;

-- name: summary
SELECT u.id, u.session_id, u.project_id, s.agent, u.at, NULL AS type, u.request AS title, NULL AS lead,
  0 AS pinned, 0 AS by_user, 0 AS superseded, '[]' AS facts, '[]' AS duplicates, '[]' AS tags,
  json_array(u.investigated, u.learned, u.completed, u.next_steps, u.notes) AS rest,
  EXISTS (SELECT 1 FROM summary_doubts AS d WHERE d.summary_id = u.id) AS doubted,
  (
    SELECT json_group_array(path) FROM (
      SELECT DISTINCT path FROM summary_files WHERE summary_id = u.id ORDER BY path
    )
  ) AS files
FROM summaries AS u JOIN sessions AS s ON s.id = u.session_id WHERE u.id = :id;

-- name: prompt
SELECT p.id, p.session_id, s.project_id, s.agent, p.at, NULL AS type, '' AS title, p.text AS lead,
  0 AS pinned, 0 AS by_user, 0 AS superseded, 0 AS doubted, '[]' AS facts, '[]' AS duplicates, '[]' AS tags, '[]' AS rest,
  '[]' AS files
FROM prompts AS p JOIN sessions AS s ON s.id = p.session_id WHERE p.id = :id AND p.text <> :erased;

-- The last requests and titles say what a long session is about as well as all would.
-- name: session
SELECT id, id AS session_id, project_id, agent, started_at AS at, NULL AS type, title, subtitle AS lead,
  0 AS pinned, 0 AS by_user, 0 AS superseded, 0 AS doubted, '[]' AS facts, '[]' AS duplicates, '[]' AS tags, '[]' AS files,
  (
    SELECT json_group_array(said) FROM (
      SELECT request AS said FROM (
        SELECT request FROM summaries
        WHERE session_id = :id AND request IS NOT NULL ORDER BY prompt_number DESC LIMIT 50
      )
      UNION ALL SELECT title FROM (
        SELECT title FROM visible_observations
        WHERE session_id = :id AND repeats IS NULL AND title IS NOT NULL ORDER BY at DESC, id DESC LIMIT 100
      )
    )
  ) AS rest
FROM sessions WHERE id = :id;

-- name: add
INSERT INTO documents (kind, source, session_id, project_id, at, asks, says_when, says_number, pinned,
                       doubted, superseded, by_user, dead_end, labels, dates, scope, title, body)
VALUES (:kind, :source, :session_id, :project_id, :at, :asks, :says_when, :says_number, :pinned,
        :doubted, :superseded, :by_user, :dead_end, :labels, :dates, :scope, :title, :body)
RETURNING id;

-- name: set_fact
UPDATE observation_facts SET words = :words WHERE id = :id AND words <> :words;

-- name: drop_vector
DELETE FROM document_vectors WHERE document_id = :document_id;

-- name: add_vector
INSERT INTO document_vectors (document_id, encoder, vector)
SELECT :document_id, :encoder, :vector WHERE EXISTS (SELECT 1 FROM documents WHERE id = :document_id);

-- Whose vector is missing, or another encoder's; up to `above` none is. The newest first: they are looked for most.
-- name: without_vector
SELECT d.id, d.kind, d.source FROM documents AS d
LEFT JOIN document_vectors AS v ON v.document_id = d.id AND v.encoder = :encoder
WHERE v.document_id IS NULL AND d.kind <> 'session' AND d.id > :above AND d.id < :below
ORDER BY d.id DESC LIMIT :limit;

-- name: trigger
SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = :name;

-- name: forget_documents
DELETE FROM documents;

-- name: forget_document_labels
DELETE FROM document_labels;

-- name: empty_document_words
INSERT INTO document_words (document_words) VALUES ('delete-all');

-- name: empty_event_words
INSERT INTO event_words (event_words) VALUES ('delete-all');

-- name: rebuild_fact_words
INSERT INTO fact_words (fact_words) VALUES ('rebuild');

-- name: observations_wait
SELECT 1 FROM unindexed WHERE kind = 'observation' LIMIT 1;

-- name: mark_observations
INSERT OR IGNORE INTO unindexed SELECT 'observation', id FROM visible_observations;

-- name: mark_summaries
INSERT OR IGNORE INTO unindexed SELECT 'summary', id FROM summaries;

-- name: mark_prompts
INSERT OR IGNORE INTO unindexed SELECT 'prompt', id FROM prompts;

-- name: mark_sessions
INSERT OR IGNORE INTO unindexed SELECT 'session', id FROM sessions;

-- name: forget_event_texts
DELETE FROM event_texts;

-- name: state
SELECT value FROM index_state WHERE name = :name;

-- name: set_state
INSERT INTO index_state (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: health
SELECT (SELECT count(*) FROM documents WHERE kind <> 'session') AS documents,
       (SELECT count(*) FROM document_vectors WHERE encoder = :encoder) AS vectors,
       (SELECT count(*) FROM unindexed) AS waiting,
       (
         SELECT count(*) FROM events
         WHERE id > coalesce((SELECT CAST(value AS INTEGER) FROM index_state WHERE name = 'events'), 0)
       ) AS unread;

-- name: events_after
SELECT e.*, s.agent, s.project_id, s.project_dir, p.root AS project_root
FROM events AS e JOIN sessions AS s ON s.id = e.session_id JOIN projects AS p ON p.id = s.project_id
WHERE e.id > :after ORDER BY e.id LIMIT :limit;

-- name: as_read
SELECT 1 FROM events WHERE id = :event_id AND content_hash = :content_hash;

-- name: set_origin
UPDATE events SET origin = :origin WHERE id = :event_id;

-- Not of one that was erased while its text was read.
-- name: add_event_text
INSERT OR REPLACE INTO event_texts (event_id, project_id, scope, words, text)
SELECT :event_id, :project_id, :scope, :words, :text
WHERE EXISTS (SELECT 1 FROM events WHERE id = :event_id AND size > 0);
