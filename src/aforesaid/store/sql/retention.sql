-- Events that were worked up, from the oldest on. A turn with work that waits or was put aside stays whole: its
-- prompt, its end and what is boring in it are read, too.
-- name: old_events
SELECT e.id, length(e.body) AS stored FROM events AS e
WHERE e.size > 0 AND e.at < :before
  AND NOT EXISTS (
    SELECT 1 FROM jobs AS j
    WHERE j.session_id = e.session_id AND j.prompt_number = e.prompt_number AND j.state <> 'done'
  )
  AND NOT (e.job_id IS NULL AND e.kind IN ('tool', 'subagent_stop') AND NOT e.boring AND EXISTS (
    SELECT 1 FROM sessions AS s WHERE s.id = e.session_id AND s.status = 'active'
  ))
ORDER BY e.at LIMIT :limit;

-- Texts whose events are empty already: the second step where space is short.
-- name: old_texts
SELECT t.event_id AS id, length(t.text) + length(t.words) AS stored
FROM event_texts AS t JOIN events AS e ON e.id = t.event_id WHERE e.size = 0 LIMIT :limit;

-- Space that is free within the file, and how large it is, in bytes.
-- name: space
SELECT (SELECT freelist_count FROM pragma_freelist_count()) * p.page_size AS free,
       (SELECT page_count FROM pragma_page_count()) * p.page_size AS whole
FROM pragma_page_size() AS p;
