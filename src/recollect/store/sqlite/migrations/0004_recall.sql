-- Recall: one index over everything that can be found, with vectors; what files looked like; what was told.

DROP TRIGGER observations_indexed;
DROP TRIGGER observations_unindexed;
DROP TRIGGER observations_changing;
DROP TRIGGER observations_changed;
DROP TRIGGER facts_indexed;
DROP TRIGGER facts_unindexed;
DROP TRIGGER summaries_indexed;
DROP TRIGGER summaries_unindexed;
DROP TRIGGER prompts_indexed;
DROP TRIGGER prompts_unindexed;
DROP INDEX observations_by_document;
DROP INDEX facts_by_document;
DROP INDEX summaries_by_document;
DROP INDEX prompts_by_document;
DROP TABLE search_index;
DROP VIEW search_documents;

-- Derived: `recollect rebuild` makes it again. A document is never changed, only replaced by one with a higher
-- id. The words are prepared (`terms.py`); scope holds
-- what filters ask for: project, kind, type, session, agent and month, each as one term.
CREATE TABLE documents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary', 'prompt', 'session')),
  source INTEGER NOT NULL,
  session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  project_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  size INTEGER NOT NULL,
  asks INTEGER NOT NULL,
  says_when INTEGER NOT NULL,
  says_number INTEGER NOT NULL,
  pinned INTEGER NOT NULL,
  doubted INTEGER NOT NULL,
  superseded INTEGER NOT NULL,
  by_user INTEGER NOT NULL,
  dead_end INTEGER NOT NULL,
  labels TEXT NOT NULL,
  dates TEXT NOT NULL,
  scope TEXT NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (kind, source)
);
CREATE INDEX documents_by_session ON documents (session_id, at, kind, source) WHERE kind <> 'session';
CREATE INDEX documents_by_project ON documents (project_id, at);
CREATE INDEX documents_by_time ON documents (at);
-- Made again, a vector gets a higher number, so whoever holds a copy sees what is new, whenever it was made.
CREATE TABLE document_vectors (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  document_id INTEGER NOT NULL UNIQUE REFERENCES documents ON DELETE CASCADE,
  encoder TEXT NOT NULL,
  vector BLOB NOT NULL
);
CREATE VIRTUAL TABLE document_words USING fts5 (
  title, body, labels, dates, scope, content = 'documents', content_rowid = 'id',
  tokenize = "porter unicode61 tokenchars '_'"
);
CREATE TRIGGER documents_added AFTER INSERT ON documents BEGIN
  INSERT INTO document_words (rowid, title, body, labels, dates, scope)
  VALUES (new.id, new.title, new.body, new.labels, new.dates, new.scope);
END;
CREATE TRIGGER documents_removed AFTER DELETE ON documents BEGIN
  INSERT INTO document_words (document_words, rowid, title, body, labels, dates, scope)
  VALUES ('delete', old.id, old.title, old.body, old.labels, old.dates, old.scope);
END;

-- Facts one by one.
ALTER TABLE observation_facts ADD COLUMN words TEXT NOT NULL DEFAULT '';
CREATE VIRTUAL TABLE fact_words USING fts5 (
  words, content = 'observation_facts', content_rowid = 'id', tokenize = "porter unicode61 tokenchars '_'"
);
INSERT INTO fact_words (fact_words) VALUES ('rebuild');
CREATE TRIGGER facts_added AFTER INSERT ON observation_facts BEGIN
  INSERT INTO fact_words (rowid, words) VALUES (new.id, new.words);
END;
CREATE TRIGGER facts_indexed AFTER UPDATE OF words ON observation_facts BEGIN
  INSERT INTO fact_words (fact_words, rowid, words) VALUES ('delete', old.id, old.words);
  INSERT INTO fact_words (rowid, words) VALUES (new.id, new.words);
END;
CREATE TRIGGER facts_unindexed AFTER DELETE ON observation_facts BEGIN
  INSERT INTO fact_words (fact_words, rowid, words) VALUES ('delete', old.id, old.words);
END;

-- What the events themselves say, cut short: the last resort.
CREATE TABLE event_texts (
  event_id INTEGER PRIMARY KEY REFERENCES events ON DELETE CASCADE,
  project_id INTEGER NOT NULL,
  scope TEXT NOT NULL,
  words TEXT NOT NULL,
  text TEXT NOT NULL
);
CREATE VIRTUAL TABLE event_words USING fts5 (
  words, scope, content = 'event_texts', content_rowid = 'event_id',
  tokenize = "porter unicode61 tokenchars '_'"
);
CREATE TRIGGER event_texts_added AFTER INSERT ON event_texts BEGIN
  INSERT INTO event_words (rowid, words, scope) VALUES (new.event_id, new.words, new.scope);
END;
CREATE TRIGGER event_texts_moved AFTER UPDATE OF scope ON event_texts BEGIN
  INSERT INTO event_words (event_words, rowid, words, scope)
  VALUES ('delete', old.event_id, old.words, old.scope);
  INSERT INTO event_words (rowid, words, scope) VALUES (new.event_id, new.words, new.scope);
END;
CREATE TRIGGER event_texts_removed AFTER DELETE ON event_texts BEGIN
  INSERT INTO event_words (event_words, rowid, words, scope)
  VALUES ('delete', old.event_id, old.words, old.scope);
END;

-- What has to be indexed, again or for the first time: before the same transaction ends, or when there is time.
CREATE TABLE unindexed (
  kind TEXT NOT NULL,
  source INTEGER NOT NULL,
  PRIMARY KEY (kind, source)
) WITHOUT ROWID;
CREATE TABLE index_state (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- `OR IGNORE` would not do: foreign keys' actions fire triggers too, and then it counts for nothing. A story counts
-- up to its beginning: what is superseded depends on everything that follows.
CREATE TRIGGER observations_added AFTER INSERT ON observations BEGIN
  INSERT INTO unindexed VALUES ('observation', new.id), ('session', new.session_id) ON CONFLICT DO NOTHING;
  INSERT INTO unindexed
  SELECT 'observation', id FROM (
    WITH RECURSIVE before (id) AS (
      SELECT new.follows
      UNION SELECT o.follows FROM observations AS o JOIN before ON o.id = before.id
    ) SELECT id FROM before WHERE id IS NOT NULL
  ) WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER observations_changed
AFTER UPDATE OF type, title, subtitle, narrative, pinned, repeats, follows ON observations BEGIN
  INSERT INTO unindexed VALUES ('observation', new.id), ('session', new.session_id) ON CONFLICT DO NOTHING;
  INSERT INTO unindexed
  SELECT 'observation', id FROM (
    WITH RECURSIVE before (id) AS (
      SELECT new.follows UNION SELECT old.follows
      UNION SELECT o.follows FROM observations AS o JOIN before ON o.id = before.id
    ) SELECT id FROM before WHERE id IS NOT NULL
  ) WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER observations_removed AFTER DELETE ON observations BEGIN
  DELETE FROM documents WHERE kind = 'observation' AND source = old.id;
  DELETE FROM unindexed WHERE kind = 'observation' AND source = old.id;
  INSERT INTO unindexed VALUES ('session', old.session_id) ON CONFLICT DO NOTHING;
  INSERT INTO unindexed
  SELECT 'observation', id FROM (
    WITH RECURSIVE before (id) AS (
      SELECT old.follows
      UNION SELECT o.follows FROM observations AS o JOIN before ON o.id = before.id
    ) SELECT id FROM before WHERE id IS NOT NULL
  ) WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER observation_doubts_added AFTER INSERT ON observation_doubts BEGIN
  INSERT INTO unindexed VALUES ('observation', new.observation_id) ON CONFLICT DO NOTHING;
  INSERT INTO unindexed
  SELECT 'observation', id FROM (
    WITH RECURSIVE before (id) AS (
      SELECT follows FROM observations WHERE id = new.observation_id
      UNION SELECT o.follows FROM observations AS o JOIN before ON o.id = before.id
    ) SELECT id FROM before WHERE id IS NOT NULL
  ) WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER observation_doubts_removed AFTER DELETE ON observation_doubts BEGIN
  INSERT INTO unindexed VALUES ('observation', old.observation_id) ON CONFLICT DO NOTHING;
  INSERT INTO unindexed
  SELECT 'observation', id FROM (
    WITH RECURSIVE before (id) AS (
      SELECT follows FROM observations WHERE id = old.observation_id
      UNION SELECT o.follows FROM observations AS o JOIN before ON o.id = before.id
    ) SELECT id FROM before WHERE id IS NOT NULL
  ) WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER summaries_added AFTER INSERT ON summaries BEGIN
  INSERT INTO unindexed VALUES ('summary', new.id), ('session', new.session_id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER summaries_removed AFTER DELETE ON summaries BEGIN
  DELETE FROM documents WHERE kind = 'summary' AND source = old.id;
  DELETE FROM unindexed WHERE kind = 'summary' AND source = old.id;
  INSERT INTO unindexed VALUES ('session', old.session_id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER prompts_added AFTER INSERT ON prompts BEGIN
  INSERT INTO unindexed VALUES ('prompt', new.id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER prompts_changed AFTER UPDATE OF text, at ON prompts BEGIN
  INSERT INTO unindexed VALUES ('prompt', new.id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER prompts_removed AFTER DELETE ON prompts BEGIN
  DELETE FROM documents WHERE kind = 'prompt' AND source = old.id;
  DELETE FROM unindexed WHERE kind = 'prompt' AND source = old.id;
END;
CREATE TRIGGER sessions_added AFTER INSERT ON sessions BEGIN
  INSERT INTO unindexed VALUES ('session', new.id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER sessions_changed AFTER UPDATE OF title, subtitle, project_id, started_at ON sessions
WHEN (new.title, new.subtitle, new.project_id, new.started_at)
  IS NOT (old.title, old.subtitle, old.project_id, old.started_at) BEGIN
  INSERT INTO unindexed VALUES ('session', new.id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER sessions_moved AFTER UPDATE OF project_id ON sessions
WHEN new.project_id <> old.project_id BEGIN
  INSERT INTO unindexed SELECT kind, source FROM documents WHERE session_id = new.id ON CONFLICT DO NOTHING;
  UPDATE event_texts
  SET project_id = new.project_id,
      scope = replace(scope, 'p_' || old.project_id || ' ', 'p_' || new.project_id || ' ')
  WHERE event_id IN (SELECT id FROM events WHERE session_id = new.id);
END;
-- The number of the newest event is given again when that event goes; what it said then is read anew.
CREATE TRIGGER newest_event_removed AFTER DELETE ON events
WHEN old.id > coalesce((SELECT max(id) FROM events), 0) BEGIN
  UPDATE index_state SET value = coalesce((SELECT max(id) FROM events), 0)
  WHERE name = 'events' AND CAST(value AS INTEGER) >= old.id;
END;
CREATE TRIGGER sessions_removed AFTER DELETE ON sessions BEGIN
  DELETE FROM unindexed WHERE kind = 'session' AND source = old.id;
END;

-- All there is waits to be indexed.
INSERT OR IGNORE INTO unindexed SELECT 'prompt', id FROM prompts;
INSERT OR IGNORE INTO unindexed SELECT 'summary', id FROM summaries;
INSERT OR IGNORE INTO unindexed SELECT 'observation', id FROM observations;
INSERT OR IGNORE INTO unindexed SELECT 'session', id FROM sessions;

-- What the files looked like when the observation was made. blob: as git names a content; NULL: not seen then.
ALTER TABLE observations ADD COLUMN revision TEXT;
ALTER TABLE observation_files ADD COLUMN blob TEXT;

-- Everything that was told unasked: what, where, why, for how many tokens.
CREATE TABLE told (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary', 'prompt')),
  source INTEGER NOT NULL,
  hook TEXT NOT NULL,
  reason TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (session_id, kind, source, hook)
);
INSERT INTO told (session_id, kind, source, hook, reason, tokens, at)
SELECT session_id, 'observation', observation_id, hook, reason, 0, at FROM injections;
DROP TABLE injections;
CREATE TRIGGER observations_untold AFTER DELETE ON observations BEGIN
  DELETE FROM told WHERE kind = 'observation' AND source = old.id;
END;
CREATE TRIGGER summaries_untold AFTER DELETE ON summaries BEGIN
  DELETE FROM told WHERE kind = 'summary' AND source = old.id;
END;

-- Forgotten: observations that somebody took out of everything, as they were (record, JSON), with those that
-- were folded into them. Restoring puts them back under the same ids.
CREATE TABLE forgotten (
  observation_id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE,
  at INTEGER NOT NULL,
  record TEXT NOT NULL
);
CREATE INDEX forgotten_by_project ON forgotten (project_id, at);
CREATE INDEX forgotten_by_session ON forgotten (session_id);
