-- Where a text occurs, and putting another in its place. `found(x)` and `changed(x)` are the asker's own; the first
-- is 0 for NULL and looks into packed replies, the second gives NULL for NULL. Every column that can hold words is here: a test sees to that.

-- name: events
SELECT id, key, tool, subagent_type, prompt_id, capture_id, body FROM events
WHERE id > :after AND size > 0 ORDER BY id LIMIT :limit;

-- name: event_texts
SELECT event_id AS id FROM event_texts WHERE event_id > :after AND event_id <= :last AND found(text);

-- name: last_event
SELECT coalesce(max(id), 0) AS id, count(*) AS number FROM events WHERE size > 0;

-- name: prompts
SELECT id FROM prompts WHERE found(text);

-- name: observations
SELECT id FROM observations
WHERE found(title) OR found(subtitle) OR found(narrative) OR found(subagent_type) OR found(sources)
UNION SELECT observation_id FROM observation_facts WHERE found(text)
UNION SELECT observation_id FROM observation_concepts WHERE found(concept)
UNION SELECT observation_id FROM observation_doubts WHERE found(part) OR found(reason)
UNION SELECT observation_id FROM observation_files WHERE found(path)
UNION SELECT observation_id FROM edits WHERE found(before);

-- name: summaries
SELECT id FROM summaries
WHERE found(request) OR found(investigated) OR found(learned) OR found(completed) OR found(next_steps)
   OR found(notes)
UNION SELECT summary_id FROM summary_doubts WHERE found(part) OR found(reason)
UNION SELECT summary_id FROM summary_files WHERE found(path);

-- What has no rows of its own to erase: the text is taken out.

-- name: replace_observation_words
UPDATE observations
SET title = changed(title), subtitle = changed(subtitle), narrative = changed(narrative),
    subagent_type = changed(subagent_type), sources = changed(sources)
WHERE found(title) OR found(subtitle) OR found(narrative) OR found(subagent_type) OR found(sources);

-- name: index_facts
INSERT OR IGNORE INTO unindexed SELECT 'observation', observation_id FROM observation_facts WHERE found(text)
UNION SELECT 'observation', observation_id FROM observation_concepts WHERE found(concept)
UNION SELECT 'observation', observation_id FROM observation_files WHERE found(path);

-- Found by the words of what was merged into them.
-- name: index_merges
INSERT OR IGNORE INTO unindexed SELECT 'observation', into_id FROM merges;

-- name: index_summary_files
INSERT OR IGNORE INTO unindexed SELECT 'summary', summary_id FROM summary_files WHERE found(path);

-- name: index_summaries
INSERT OR IGNORE INTO unindexed SELECT 'summary', id FROM summaries
WHERE found(request) OR found(investigated) OR found(learned) OR found(completed) OR found(next_steps)
   OR found(notes);

-- name: replace_facts
UPDATE observation_facts SET text = changed(text), words = '' WHERE found(text);

-- name: replace_concepts
UPDATE OR REPLACE observation_concepts SET concept = changed(concept) WHERE found(concept);

-- name: replace_observation_doubts
UPDATE observation_doubts SET part = changed(part), reason = changed(reason) WHERE found(part) OR found(reason);

-- name: replace_observation_files
UPDATE OR REPLACE observation_files SET path = changed(path), name = changed(name)
WHERE found(path) OR found(name);

-- name: replace_edits
UPDATE edits SET before = changed(before) WHERE found(before);

-- name: replace_summaries
UPDATE summaries
SET request = changed(request), investigated = changed(investigated), learned = changed(learned),
    completed = changed(completed), next_steps = changed(next_steps), notes = changed(notes)
WHERE found(request) OR found(investigated) OR found(learned) OR found(completed) OR found(next_steps)
   OR found(notes);

-- name: replace_summary_doubts
UPDATE summary_doubts SET part = changed(part), reason = changed(reason) WHERE found(part) OR found(reason);

-- name: replace_summary_files
UPDATE OR REPLACE summary_files SET path = changed(path) WHERE found(path);

-- name: replace_prompts
UPDATE prompts SET text = changed(text), prompt_id = changed(prompt_id) WHERE found(text) OR found(prompt_id);

-- name: replace_sessions
UPDATE sessions
SET title = changed(title), subtitle = changed(subtitle), project_dir = changed(project_dir),
    transcript = changed(transcript)
WHERE found(title) OR found(subtitle) OR found(project_dir) OR found(transcript);

-- name: replace_injections
DELETE FROM injections WHERE found(reason);

-- name: replace_memory_injections
DELETE FROM memory_injections WHERE found(name) OR found(reason);

-- name: replace_job_errors
UPDATE jobs SET last_error = changed(last_error) WHERE found(last_error);

-- name: replace_request_errors
UPDATE requests SET error = changed(error) WHERE found(error);

-- name: replace_replies
UPDATE requests SET reply = NULL WHERE found(reply);

-- name: replace_quarantine
UPDATE quarantine SET why = changed(why) WHERE found(why);

-- name: replace_projects
UPDATE projects SET name = changed(name), root = changed(root) WHERE found(name) OR found(root);

-- name: replace_dirs
UPDATE OR REPLACE project_dirs SET dir = changed(dir) WHERE found(dir);

-- name: replace_identities
UPDATE OR REPLACE project_identities SET identity = changed(identity) WHERE found(identity);

-- name: replace_labels
DELETE FROM document_labels WHERE found(label);

-- name: index_labelled
INSERT OR IGNORE INTO unindexed SELECT kind, source FROM documents WHERE found(labels);

-- name: replace_marks
DELETE FROM transcript_marks WHERE found(ref);

-- name: set_event
UPDATE events
SET key = :key, tool = :tool, subagent_type = :subagent_type, prompt_id = :prompt_id, capture_id = :capture_id,
    body = :body, size = :size, content_hash = :content_hash
WHERE id = :id;

-- name: event_text
SELECT t.event_id, t.project_id, t.scope, t.text FROM event_texts AS t
WHERE t.event_id IN (SELECT value FROM json_each(:ids)) AND found(t.text);

-- name: drop_event_text
DELETE FROM event_texts WHERE event_id = :event_id;

-- Afterwards: no word is left in a part of the index that was deleted.

-- name: rebuild_document_words
INSERT INTO document_words (document_words) VALUES ('rebuild');

-- name: rebuild_event_words
INSERT INTO event_words (event_words) VALUES ('rebuild');

-- name: rebuild_fact_words
INSERT INTO fact_words (fact_words) VALUES ('rebuild');
