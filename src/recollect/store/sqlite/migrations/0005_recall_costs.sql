-- What recall costs: labels are counted once, a story is indexed as far back as it changes, notes have an index.

-- Nothing asks for it.
ALTER TABLE documents DROP COLUMN size;

-- How many documents bear a label: asked for every word of every question, and counting them each time is slow.
CREATE TABLE document_labels (
  label TEXT NOT NULL,
  project_id INTEGER NOT NULL,
  documents INTEGER NOT NULL,
  PRIMARY KEY (label, project_id)
) WITHOUT ROWID;

-- Labels are terms, each once, with a space between: they need no escaping to become a JSON array.
INSERT INTO document_labels
SELECT l.value, d.project_id, count(*)
FROM documents AS d, json_each('["' || replace(d.labels, ' ', '","') || '"]') AS l
WHERE d.labels <> '' GROUP BY 1, 2;

DROP TRIGGER documents_added;
CREATE TRIGGER documents_added AFTER INSERT ON documents BEGIN
  INSERT INTO document_words (rowid, title, body, labels, dates, scope)
  VALUES (new.id, new.title, new.body, new.labels, new.dates, new.scope);
  INSERT INTO document_labels
  SELECT l.value, new.project_id, 1 FROM json_each('["' || replace(new.labels, ' ', '","') || '"]') AS l
  WHERE new.labels <> ''
  ON CONFLICT DO UPDATE SET documents = documents + 1;
END;
DROP TRIGGER documents_removed;
CREATE TRIGGER documents_removed AFTER DELETE ON documents BEGIN
  INSERT INTO document_words (document_words, rowid, title, body, labels, dates, scope)
  VALUES ('delete', old.id, old.title, old.body, old.labels, old.dates, old.scope);
  UPDATE document_labels SET documents = documents - 1
  WHERE project_id = old.project_id
    AND label IN (SELECT value FROM json_each('["' || replace(old.labels, ' ', '","') || '"]'));
  DELETE FROM document_labels
  WHERE documents = 0 AND project_id = old.project_id
    AND label IN (SELECT value FROM json_each('["' || replace(old.labels, ' ', '","') || '"]'));
END;

CREATE INDEX observations_remembered ON observations (project_id, at, id)
WHERE pinned OR provider IN ('user', 'agent');

-- What may take nobody's place. A part that stands supersedes all that is before it, whatever comes after: only through
-- these does a change reach further back. One doubt is enough here; whether it is doubted may change with its facts.
CREATE VIEW passed_over AS
  SELECT id, follows FROM observations AS o
  WHERE repeats IS NOT NULL OR EXISTS (SELECT 1 FROM observation_doubts AS d WHERE d.observation_id = o.id);

DROP TRIGGER observations_added;
CREATE TRIGGER observations_added AFTER INSERT ON observations BEGIN
  INSERT INTO unindexed VALUES ('observation', new.id), ('session', new.session_id) ON CONFLICT DO NOTHING;
  INSERT INTO unindexed
  SELECT 'observation', id FROM (
    WITH RECURSIVE before (id) AS (
      SELECT new.follows
      UNION SELECT p.follows FROM passed_over AS p JOIN before ON p.id = before.id
    ) SELECT id FROM before WHERE id IS NOT NULL
  ) WHERE true ON CONFLICT DO NOTHING;
END;
DROP TRIGGER observations_changed;
CREATE TRIGGER observations_changed
AFTER UPDATE OF type, title, subtitle, narrative, pinned, repeats, follows ON observations BEGIN
  INSERT INTO unindexed VALUES ('observation', new.id), ('session', new.session_id) ON CONFLICT DO NOTHING;
  INSERT INTO unindexed
  SELECT 'observation', id FROM (
    WITH RECURSIVE before (id) AS (
      SELECT new.follows UNION SELECT old.follows
      UNION SELECT p.follows FROM passed_over AS p JOIN before ON p.id = before.id
    ) SELECT id FROM before WHERE id IS NOT NULL
  ) WHERE true ON CONFLICT DO NOTHING;
END;
DROP TRIGGER observations_removed;
CREATE TRIGGER observations_removed AFTER DELETE ON observations BEGIN
  DELETE FROM documents WHERE kind = 'observation' AND source = old.id;
  DELETE FROM unindexed WHERE kind = 'observation' AND source = old.id;
  INSERT INTO unindexed VALUES ('session', old.session_id) ON CONFLICT DO NOTHING;
  INSERT INTO unindexed
  SELECT 'observation', id FROM (
    WITH RECURSIVE before (id) AS (
      SELECT old.follows
      UNION SELECT p.follows FROM passed_over AS p JOIN before ON p.id = before.id
    ) SELECT id FROM before WHERE id IS NOT NULL
  ) WHERE true ON CONFLICT DO NOTHING;
END;
DROP TRIGGER observation_doubts_added;
CREATE TRIGGER observation_doubts_added AFTER INSERT ON observation_doubts BEGIN
  INSERT INTO unindexed VALUES ('observation', new.observation_id) ON CONFLICT DO NOTHING;
  INSERT INTO unindexed
  SELECT 'observation', id FROM (
    WITH RECURSIVE before (id) AS (
      SELECT follows FROM observations WHERE id = new.observation_id
      UNION SELECT p.follows FROM passed_over AS p JOIN before ON p.id = before.id
    ) SELECT id FROM before WHERE id IS NOT NULL
  ) WHERE true ON CONFLICT DO NOTHING;
END;
DROP TRIGGER observation_doubts_removed;
CREATE TRIGGER observation_doubts_removed AFTER DELETE ON observation_doubts BEGIN
  INSERT INTO unindexed VALUES ('observation', old.observation_id) ON CONFLICT DO NOTHING;
  INSERT INTO unindexed
  SELECT 'observation', id FROM (
    WITH RECURSIVE before (id) AS (
      SELECT follows FROM observations WHERE id = old.observation_id
      UNION SELECT p.follows FROM passed_over AS p JOIN before ON p.id = before.id
    ) SELECT id FROM before WHERE id IS NOT NULL
  ) WHERE true ON CONFLICT DO NOTHING;
END;
