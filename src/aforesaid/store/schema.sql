-- Generated: python -m tests.support.write_schema
-- To read, not to run: the migrations make it.

CREATE TABLE document_labels (
  label TEXT NOT NULL,
  project_id INTEGER NOT NULL,
  documents INTEGER NOT NULL,
  PRIMARY KEY (label, project_id)
) WITHOUT ROWID;

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

CREATE TABLE documents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary', 'prompt', 'session')),
  source INTEGER NOT NULL,
  session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  project_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
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

CREATE TABLE edits (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  observation_id INTEGER NOT NULL REFERENCES observations ON DELETE CASCADE,
  before TEXT NOT NULL
);

CREATE TABLE erased_sessions (
  session TEXT PRIMARY KEY,
  until INTEGER NOT NULL
) WITHOUT ROWID;

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

CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  key TEXT NOT NULL,
  kind TEXT NOT NULL,
  tool TEXT,
  hook TEXT NOT NULL,
  capture_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  prompt_number INTEGER NOT NULL,
  subagent_type TEXT,
  boring INTEGER NOT NULL DEFAULT 0,
  job_id INTEGER REFERENCES jobs ON DELETE SET NULL,
  content_hash TEXT NOT NULL,
  size INTEGER NOT NULL,
  body BLOB NOT NULL,
  healed INTEGER NOT NULL DEFAULT 0,
  prompt_id TEXT,
  origin TEXT CHECK (origin IN ('user', 'repository', 'command', 'agent', 'web', 'recalled')),
  UNIQUE (session_id, key)
);

CREATE VIRTUAL TABLE fact_words USING fts5 (
  words, content = 'observation_facts', content_rowid = 'id', tokenize = "porter unicode61 tokenchars '_'"
);

CREATE TABLE index_state (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE injections (
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

CREATE TABLE jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('observe', 'summarize')),
  session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  prompt_number INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'done', 'skipped')),
  tries INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL,
  lease_until INTEGER,
  holder TEXT,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  -- The author of the last finished try.
  written_by TEXT
);

CREATE TABLE memory_injections (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  hook TEXT NOT NULL,
  reason TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  size INTEGER NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (session_id, name, scope, hook)
);

CREATE TABLE merges (
  observation_id INTEGER PRIMARY KEY REFERENCES observations ON DELETE CASCADE,
  into_id INTEGER NOT NULL REFERENCES observations ON DELETE CASCADE,
  at INTEGER NOT NULL,
  was INTEGER REFERENCES observations ON DELETE SET NULL
);

CREATE TABLE observation_concepts (
  observation_id INTEGER NOT NULL REFERENCES observations ON DELETE CASCADE,
  concept TEXT NOT NULL,
  PRIMARY KEY (observation_id, concept)
) WITHOUT ROWID;

CREATE TABLE observation_doubts (
  observation_id INTEGER NOT NULL REFERENCES observations ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  part TEXT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (observation_id, ordinal)
) WITHOUT ROWID;

CREATE TABLE observation_events (
  observation_id INTEGER NOT NULL REFERENCES observations ON DELETE CASCADE,
  event_id INTEGER NOT NULL REFERENCES events ON DELETE CASCADE,
  PRIMARY KEY (observation_id, event_id)
) WITHOUT ROWID;

CREATE TABLE observation_facts (
  id INTEGER PRIMARY KEY,
  observation_id INTEGER NOT NULL REFERENCES observations ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  text TEXT NOT NULL,
  words TEXT NOT NULL DEFAULT '',
  UNIQUE (observation_id, ordinal)
);

CREATE TABLE observation_files (
  observation_id INTEGER NOT NULL REFERENCES observations ON DELETE CASCADE,
  path TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('read', 'modified')),
  -- The path's last part: what people say. Behind the key, or integrity_check of 3.40 takes it for NULL.
  name TEXT NOT NULL,
  -- The file's content as git names it; NULL: not seen then.
  blob TEXT,
  PRIMARY KEY (observation_id, path, role)
) WITHOUT ROWID;

CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE,
  job_id INTEGER REFERENCES jobs ON DELETE SET NULL,
  ordinal INTEGER NOT NULL,
  prompt_number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  provider TEXT NOT NULL,
  model TEXT,
  type TEXT NOT NULL CHECK (type IN ('decision', 'bugfix', 'feature', 'refactor', 'discovery', 'change')),
  title TEXT,
  subtitle TEXT,
  narrative TEXT,
  subagent_type TEXT,
  pinned INTEGER NOT NULL DEFAULT 0,
  edited INTEGER NOT NULL DEFAULT 0,
  -- An observation that says the same; this one is folded into it.
  repeats INTEGER REFERENCES observations ON DELETE SET NULL,
  -- One whose story this one carries on. Both point to what was there first, so there are no circles.
  follows INTEGER REFERENCES observations ON DELETE SET NULL,
  revision TEXT,
  -- Origins, the best first, and places in the network, divided by spaces. NULL: not determined yet.
  origins TEXT,
  sources TEXT,
  -- The user says that it holds.
  confirmed INTEGER NOT NULL DEFAULT 0,
  -- One of another session, which it confirms from another source.
  bears_out INTEGER REFERENCES observations ON DELETE SET NULL,
  -- Soft delete: when, and the observation that it was hidden with (itself, unless it was folded into that one).
  hidden_at INTEGER,
  hidden_with INTEGER REFERENCES observations ON DELETE CASCADE,
  UNIQUE (job_id, ordinal)
);

CREATE TABLE pauses (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  origin TEXT NOT NULL CHECK (origin IN ('command', 'seen')),
  scope TEXT NOT NULL CHECK (scope IN ('project', 'session', 'everything')),
  project_id INTEGER REFERENCES projects ON DELETE SET NULL,
  place TEXT,
  agent TEXT,
  ref TEXT,
  began_at INTEGER NOT NULL,
  ends_at INTEGER
);

CREATE TABLE project_dirs (
  dir TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE,
  seen_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE project_identities (
  project_id INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE,
  link INTEGER NOT NULL DEFAULT 0,
  identity TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('remote', 'commit', 'path')),
  PRIMARY KEY (project_id, link, identity)
) WITHOUT ROWID;

CREATE TABLE projects (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  root TEXT NOT NULL,
  created_at INTEGER NOT NULL
);

CREATE TABLE prompts (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  number INTEGER NOT NULL,
  prompt_id TEXT,
  at INTEGER NOT NULL,
  text TEXT NOT NULL,
  UNIQUE (session_id, number)
);

CREATE TABLE quarantine (
  name TEXT PRIMARY KEY,
  why TEXT NOT NULL,
  size INTEGER NOT NULL,
  at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE requests (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  prompts TEXT NOT NULL,
  purpose TEXT NOT NULL CHECK (purpose IN ('observe', 'summarize', 'repair', 'select', 'extract', 'dream')),
  digest TEXT NOT NULL,
  session_id INTEGER REFERENCES sessions ON DELETE SET NULL,
  project_id INTEGER REFERENCES projects ON DELETE SET NULL,
  job_id INTEGER REFERENCES jobs ON DELETE SET NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('answered', 'unusable', 'failed')),
  error TEXT,
  sent INTEGER NOT NULL,
  cached INTEGER NOT NULL,
  written INTEGER NOT NULL,
  received INTEGER NOT NULL,
  estimated INTEGER NOT NULL,
  microdollars INTEGER,
  milliseconds INTEGER NOT NULL,
  stored INTEGER NOT NULL DEFAULT 0,
  reply BLOB
);

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  ref TEXT NOT NULL,
  project_id INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE,
  project_dir TEXT NOT NULL,
  transcript TEXT,
  status TEXT NOT NULL CHECK (status IN ('active', 'completed', 'interrupted')),
  started_at INTEGER NOT NULL,
  last_event_at INTEGER NOT NULL,
  ended_at INTEGER,
  title TEXT,
  subtitle TEXT,
  prompts INTEGER NOT NULL DEFAULT 0,
  UNIQUE (agent, ref)
);

CREATE TABLE summaries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE,
  prompt_number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  provider TEXT NOT NULL,
  request TEXT,
  investigated TEXT,
  learned TEXT,
  completed TEXT,
  next_steps TEXT,
  notes TEXT,
  model TEXT,
  origins TEXT,
  UNIQUE (session_id, prompt_number)
);

CREATE TABLE summary_doubts (
  summary_id INTEGER NOT NULL REFERENCES summaries ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  part TEXT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (summary_id, ordinal)
) WITHOUT ROWID;

CREATE TABLE summary_files (
  summary_id INTEGER NOT NULL REFERENCES summaries ON DELETE CASCADE,
  path TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('read', 'edited')),
  PRIMARY KEY (summary_id, path, role)
) WITHOUT ROWID;

CREATE TABLE transcript_marks (
  agent TEXT NOT NULL,
  ref TEXT NOT NULL,
  mark TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (agent, ref)
) WITHOUT ROWID;

CREATE TABLE unindexed (
  kind TEXT NOT NULL,
  source INTEGER NOT NULL,
  PRIMARY KEY (kind, source)
) WITHOUT ROWID;

CREATE VIEW carried_on AS
  SELECT follows AS id, id AS next FROM visible_observations WHERE follows IS NOT NULL
  UNION ALL
  SELECT one.id, next.id FROM merges AS m
  JOIN visible_observations AS next ON next.follows = m.observation_id
  JOIN observations AS one ON one.id = m.into_id
  WHERE next.at > one.at OR next.at = one.at AND next.id > one.id;

CREATE VIEW doubted_facts AS
  SELECT id, observation_id FROM observation_facts AS f
  WHERE EXISTS (
    SELECT 1 FROM standing_doubts AS d
    WHERE d.observation_id = f.observation_id AND d.part IN ('facts', 'facts ' || f.ordinal)
  );

CREATE VIEW doubted_observations AS
  SELECT observation_id AS id FROM standing_doubts AS doubt
  WHERE part IN ('title', 'subtitle')
    OR (
      EXISTS (SELECT 1 FROM observation_facts AS f WHERE f.observation_id = doubt.observation_id)
      AND NOT EXISTS (
        SELECT 1 FROM observation_facts AS f
        WHERE f.observation_id = doubt.observation_id
          AND NOT EXISTS (SELECT 1 FROM doubted_facts AS d WHERE d.id = f.id)
      )
    );

CREATE VIEW in_hand AS
  SELECT id FROM observations WHERE pinned OR edited OR confirmed OR hidden_at IS NOT NULL
  UNION ALL SELECT observation_id FROM merges
  UNION ALL SELECT into_id FROM merges;

CREATE VIEW made_up_narratives AS
  SELECT observation_id AS id FROM observation_doubts
  WHERE part = 'narrative'
    AND reason NOT IN ('only the web or an MCP server says so', 'only aforesaid itself has said so');

CREATE VIEW observation_parts AS
  SELECT o.id,
    (
      SELECT json_group_array(text) FROM (
        SELECT text FROM observation_facts WHERE observation_id = o.id ORDER BY ordinal
      )
    ) AS facts,
    (SELECT json_group_array(concept) FROM observation_concepts WHERE observation_id = o.id) AS concepts,
    (
      SELECT json_group_array(path) FROM observation_files WHERE observation_id = o.id AND role = 'read'
    ) AS files_read,
    (
      SELECT json_group_array(path) FROM observation_files WHERE observation_id = o.id AND role = 'modified'
    ) AS files_modified,
    (
      SELECT json_group_array(json_array(path, blob)) FROM (
        SELECT DISTINCT path, blob FROM observation_files
        WHERE observation_id = o.id AND blob IS NOT NULL ORDER BY path
      )
    ) AS blobs,
    (
      SELECT json_group_array(json_array(part, reason)) FROM (
        SELECT part, reason FROM observation_doubts WHERE observation_id = o.id ORDER BY ordinal
      )
    ) AS doubts
  FROM observations AS o;

CREATE VIEW passed_over AS
  SELECT id, follows FROM visible_observations AS o
  WHERE repeats IS NOT NULL OR EXISTS (SELECT 1 FROM observation_doubts AS d WHERE d.observation_id = o.id)
  UNION ALL SELECT observation_id, into_id FROM merges;

CREATE VIEW standing_doubts AS
  SELECT observation_id, ordinal, part, reason FROM observation_doubts AS d
  WHERE reason NOT IN ('only the web or an MCP server says so', 'only aforesaid itself has said so')
    OR NOT EXISTS (SELECT 1 FROM vouched_for AS v WHERE v.id = d.observation_id);

CREATE VIEW summary_parts AS
  SELECT s.id,
    (SELECT json_group_array(path) FROM summary_files WHERE summary_id = s.id AND role = 'read') AS files_read,
    (
      SELECT json_group_array(path) FROM summary_files WHERE summary_id = s.id AND role = 'edited'
    ) AS files_edited,
    (
      SELECT json_group_array(json_array(part, reason)) FROM (
        SELECT part, reason FROM summary_doubts WHERE summary_id = s.id ORDER BY ordinal
      )
    ) AS doubts
  FROM summaries AS s;

CREATE VIEW superseded_observations AS
  SELECT link.id FROM carried_on AS link
  WHERE EXISTS (
    WITH RECURSIVE later (id, repeats) AS (
      SELECT o.id, o.repeats FROM visible_observations AS o WHERE o.id = link.next
      UNION
      SELECT o.id, o.repeats FROM visible_observations AS o JOIN later ON o.follows = later.id
    )
    SELECT 1 FROM later
    WHERE repeats IS NULL
      AND NOT EXISTS (SELECT 1 FROM doubted_observations AS d WHERE d.id = later.id)
  );

CREATE VIEW ungrounded_facts AS
  SELECT id FROM observation_facts AS f
  WHERE EXISTS (
    SELECT 1 FROM observation_doubts AS d
    WHERE d.observation_id = f.observation_id AND d.part IN ('facts', 'facts ' || f.ordinal)
      AND d.reason NOT IN ('only the web or an MCP server says so', 'only aforesaid itself has said so')
  );

CREATE VIEW visible_observations AS SELECT * FROM observations WHERE hidden_at IS NULL;

CREATE VIEW vouched_for AS
  SELECT id FROM visible_observations WHERE pinned OR edited OR confirmed
  UNION ALL SELECT bears_out FROM visible_observations WHERE bears_out IS NOT NULL;

CREATE INDEX documents_by_project ON documents (project_id, at);

CREATE INDEX documents_by_session ON documents (session_id, at, kind, source) WHERE kind <> 'session';

CREATE INDEX documents_by_time ON documents (at);

CREATE INDEX edits_by_observation ON edits (observation_id, id);

CREATE INDEX events_by_age ON events (at) WHERE size > 0;

CREATE INDEX events_by_content ON events (session_id, content_hash);

CREATE INDEX events_by_job ON events (job_id);

CREATE INDEX events_by_prompt ON events (session_id, prompt_number, at, id, prompt_id);

CREATE INDEX events_framing ON events (session_id, kind, at, prompt_id, healed)
WHERE kind <> 'tool' AND kind <> 'subagent_stop';

CREATE INDEX events_healed ON events (session_id, kind, at) WHERE healed;

CREATE INDEX events_unclaimed ON events (session_id)
WHERE job_id IS NULL AND kind IN ('tool', 'subagent_stop') AND NOT boring;

CREATE INDEX jobs_by_turn ON jobs (session_id, prompt_number, id);

CREATE INDEX jobs_due ON jobs (due_at) WHERE state = 'pending';

CREATE INDEX jobs_skipped ON jobs (id) WHERE state = 'skipped';

CREATE INDEX jobs_waiting ON jobs (session_id, id) WHERE state = 'pending';

CREATE INDEX merges_by_into ON merges (into_id);

CREATE INDEX merges_by_was ON merges (was) WHERE was IS NOT NULL;

CREATE INDEX observation_concepts_by_concept ON observation_concepts (concept);

CREATE INDEX observation_events_by_event ON observation_events (event_id);

CREATE INDEX observation_files_by_name ON observation_files (name);

CREATE INDEX observations_by_bears_out ON observations (bears_out) WHERE bears_out IS NOT NULL;

CREATE INDEX observations_by_follows ON observations (follows) WHERE follows IS NOT NULL;

CREATE INDEX observations_by_hidden_with ON observations (hidden_with) WHERE hidden_with IS NOT NULL;

CREATE INDEX observations_by_project ON observations (project_id, at) WHERE hidden_at IS NULL;

CREATE INDEX observations_by_repeats ON observations (repeats) WHERE repeats IS NOT NULL;

CREATE INDEX observations_by_session ON observations (session_id, prompt_number);

CREATE INDEX observations_by_time ON observations (at) WHERE hidden_at IS NULL;

CREATE INDEX observations_by_type ON observations (type, at) WHERE hidden_at IS NULL;

CREATE INDEX observations_hidden ON observations (hidden_at, id) WHERE hidden_with = id;

CREATE INDEX observations_pinned ON observations (project_id, at, id) WHERE pinned AND hidden_at IS NULL;

CREATE INDEX observations_unweighed ON observations (id) WHERE origins IS NULL;

CREATE INDEX pauses_by_project ON pauses (project_id) WHERE project_id IS NOT NULL;

CREATE INDEX pauses_by_session ON pauses (agent, ref) WHERE ref IS NOT NULL;

CREATE INDEX project_dirs_by_project ON project_dirs (project_id);

CREATE INDEX prompts_by_prompt_id ON prompts (session_id, prompt_id);

CREATE INDEX requests_by_job ON requests (job_id, digest);

CREATE INDEX requests_by_project ON requests (project_id);

CREATE INDEX requests_by_session ON requests (session_id);

CREATE INDEX requests_by_time ON requests (at);

CREATE INDEX sessions_by_project ON sessions (project_id, last_event_at);

CREATE INDEX sessions_by_status ON sessions (status, last_event_at);

CREATE INDEX sessions_by_time ON sessions (last_event_at);

CREATE INDEX summaries_by_project ON summaries (project_id, at);

CREATE INDEX summaries_unweighed ON summaries (id) WHERE origins IS NULL;

CREATE TRIGGER documents_added AFTER INSERT ON documents BEGIN
  INSERT INTO document_words (rowid, title, body, labels, dates, scope)
  VALUES (new.id, new.title, new.body, new.labels, new.dates, new.scope);
  INSERT INTO document_labels
  SELECT l.value, new.project_id, 1 FROM json_each('["' || replace(new.labels, ' ', '","') || '"]') AS l
  WHERE new.labels <> ''
  ON CONFLICT DO UPDATE SET documents = documents + 1;
END;

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

CREATE TRIGGER observations_borne_out AFTER INSERT ON observations WHEN new.bears_out IS NOT NULL BEGIN
  INSERT INTO unindexed
  SELECT 'observation', id FROM (
    WITH RECURSIVE before (id) AS (
      SELECT new.bears_out UNION SELECT follows FROM observations WHERE id = new.bears_out
      UNION SELECT p.follows FROM passed_over AS p JOIN before ON p.id = before.id
    ) SELECT id FROM before WHERE id IS NOT NULL
  ) WHERE true ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER observations_borne_out_no_more AFTER DELETE ON observations WHEN old.bears_out IS NOT NULL BEGIN
  INSERT INTO unindexed
  SELECT 'observation', id FROM (
    WITH RECURSIVE before (id) AS (
      SELECT id FROM observations WHERE id = old.bears_out
      UNION SELECT follows FROM observations WHERE id = old.bears_out
      UNION SELECT p.follows FROM passed_over AS p JOIN before ON p.id = before.id
    ) SELECT id FROM before WHERE id IS NOT NULL
  ) WHERE true ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER observations_changed
AFTER UPDATE OF type, title, subtitle, narrative, pinned, repeats, follows, hidden_at ON observations BEGIN
  DELETE FROM documents WHERE kind = 'observation' AND source = new.id AND new.hidden_at IS NOT NULL;
  INSERT INTO unindexed VALUES ('observation', new.id), ('session', new.session_id) ON CONFLICT DO NOTHING;
  INSERT INTO unindexed
  SELECT 'observation', id FROM (
    WITH RECURSIVE before (id) AS (
      SELECT new.follows UNION SELECT old.follows UNION SELECT new.repeats UNION SELECT old.repeats
      UNION SELECT p.follows FROM passed_over AS p JOIN before ON p.id = before.id
    ) SELECT id FROM before WHERE id IS NOT NULL
  ) WHERE true ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER observations_confirmed AFTER UPDATE OF confirmed ON observations BEGIN
  INSERT INTO unindexed VALUES ('observation', new.id) ON CONFLICT DO NOTHING;
  INSERT INTO unindexed
  SELECT 'observation', id FROM (
    WITH RECURSIVE before (id) AS (
      SELECT new.follows
      UNION SELECT p.follows FROM passed_over AS p JOIN before ON p.id = before.id
    ) SELECT id FROM before WHERE id IS NOT NULL
  ) WHERE true ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER observations_not_injected AFTER DELETE ON observations BEGIN
  DELETE FROM injections WHERE kind = 'observation' AND source = old.id;
END;

CREATE TRIGGER observations_removed AFTER DELETE ON observations BEGIN
  DELETE FROM documents WHERE kind = 'observation' AND source = old.id;
  DELETE FROM unindexed WHERE kind = 'observation' AND source = old.id;
  INSERT INTO unindexed VALUES ('session', old.session_id) ON CONFLICT DO NOTHING;
  INSERT INTO unindexed
  SELECT 'observation', id FROM (
    WITH RECURSIVE before (id) AS (
      SELECT old.follows UNION SELECT old.repeats
      UNION SELECT p.follows FROM passed_over AS p JOIN before ON p.id = before.id
    ) SELECT id FROM before WHERE id IS NOT NULL
  ) WHERE true ON CONFLICT DO NOTHING;
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

CREATE TRIGGER sessions_removed AFTER DELETE ON sessions BEGIN
  DELETE FROM unindexed WHERE kind = 'session' AND source = old.id;
END;

CREATE TRIGGER summaries_added AFTER INSERT ON summaries BEGIN
  INSERT INTO unindexed VALUES ('summary', new.id), ('session', new.session_id) ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER summaries_not_injected AFTER DELETE ON summaries BEGIN
  DELETE FROM injections WHERE kind = 'summary' AND source = old.id;
END;

CREATE TRIGGER summaries_removed AFTER DELETE ON summaries BEGIN
  DELETE FROM documents WHERE kind = 'summary' AND source = old.id;
  DELETE FROM unindexed WHERE kind = 'summary' AND source = old.id;
  INSERT INTO unindexed VALUES ('session', old.session_id) ON CONFLICT DO NOTHING;
END;
