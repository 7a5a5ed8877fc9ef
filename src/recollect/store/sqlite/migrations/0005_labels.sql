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
