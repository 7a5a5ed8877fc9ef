-- Generated: python -m tests.support.write_schema
-- To read, not to run: the migrations make it.

CREATE TABLE events (
  id INTEGER PRIMARY KEY,
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
  body BLOB NOT NULL, healed INTEGER NOT NULL DEFAULT 0, prompt_id TEXT,
  UNIQUE (session_id, key)
);

CREATE TABLE injections (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  observation_id INTEGER NOT NULL REFERENCES observations ON DELETE CASCADE,
  hook TEXT NOT NULL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (session_id, observation_id, hook)
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
  finished_at INTEGER
, written_by TEXT);

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
  UNIQUE (observation_id, ordinal)
);

CREATE TABLE observation_files (
  observation_id INTEGER NOT NULL REFERENCES observations ON DELETE CASCADE,
  path TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('read', 'modified')),
  -- The path's last part: what people say. Behind the key, or integrity_check of 3.40 takes it for NULL.
  name TEXT NOT NULL,
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
  type TEXT NOT NULL CHECK (type IN ('decision', 'bugfix', 'feature', 'refactor', 'discovery', 'change')),
  title TEXT,
  subtitle TEXT,
  narrative TEXT,
  subagent_type TEXT,
  pinned INTEGER NOT NULL DEFAULT 0, model TEXT, edited INTEGER NOT NULL DEFAULT 0, repeats INTEGER REFERENCES observations ON DELETE SET NULL, follows INTEGER REFERENCES observations ON DELETE SET NULL,
  UNIQUE (job_id, ordinal)
);

CREATE TABLE project_dirs (
  dir TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE,
  seen_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE project_identities (
  identity TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('remote', 'commit', 'path')),
  project_id INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE
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
  purpose TEXT NOT NULL CHECK (purpose IN ('observe', 'summarize', 'repair')),
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

CREATE VIRTUAL TABLE search_index USING fts5 (
  title, body, content = 'search_documents', content_rowid = 'rowid', tokenize = 'porter unicode61'
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
  notes TEXT, model TEXT,
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

CREATE VIEW doubted_facts AS
  SELECT id, observation_id FROM observation_facts AS f
  WHERE EXISTS (
    SELECT 1 FROM observation_doubts AS d
    WHERE d.observation_id = f.observation_id AND d.part IN ('facts', 'facts ' || f.ordinal)
  );

CREATE VIEW doubted_observations AS
  SELECT observation_id AS id FROM observation_doubts AS doubt
  WHERE part IN ('title', 'subtitle')
    OR (
      EXISTS (SELECT 1 FROM observation_facts AS f WHERE f.observation_id = doubt.observation_id)
      AND NOT EXISTS (
        SELECT 1 FROM observation_facts AS f
        WHERE f.observation_id = doubt.observation_id
          AND NOT EXISTS (SELECT 1 FROM doubted_facts AS d WHERE d.id = f.id)
      )
    );

CREATE VIEW search_documents AS
  SELECT id * 8 + 1 AS rowid, coalesce(title, '') AS title,
         coalesce(subtitle, '') || ' ' || coalesce(narrative, '') AS body FROM observations
  UNION ALL
  SELECT id * 8 + 2, '', text FROM observation_facts
  UNION ALL
  SELECT id * 8 + 3, coalesce(request, ''),
         coalesce(investigated, '') || ' ' || coalesce(learned, '') || ' ' || coalesce(completed, '')
         || ' ' || coalesce(next_steps, '') || ' ' || coalesce(notes, '') FROM summaries
  UNION ALL
  SELECT id * 8 + 4, '', text FROM prompts;

CREATE VIEW superseded_observations AS
  SELECT follows AS id FROM observations AS next
  WHERE follows IS NOT NULL AND EXISTS (
    WITH RECURSIVE later (id, repeats) AS (
      SELECT next.id, next.repeats
      UNION
      SELECT o.id, o.repeats FROM observations AS o JOIN later ON o.follows = later.id
    )
    SELECT 1 FROM later
    WHERE repeats IS NULL
      AND NOT EXISTS (SELECT 1 FROM doubted_observations AS d WHERE d.id = later.id)
  );

CREATE INDEX events_by_content ON events (session_id, content_hash);

CREATE INDEX events_by_job ON events (job_id);

CREATE INDEX events_by_prompt ON events (session_id, prompt_number, at, id, prompt_id);

CREATE INDEX events_framing ON events (session_id, kind, at, prompt_id, healed)
WHERE kind <> 'tool' AND kind <> 'subagent_stop';

CREATE INDEX events_healed ON events (session_id, kind, at) WHERE healed;

CREATE INDEX events_unclaimed ON events (session_id)
WHERE job_id IS NULL AND kind IN ('tool', 'subagent_stop') AND NOT boring;

CREATE INDEX facts_by_document ON observation_facts (id * 8 + 2);

CREATE INDEX jobs_by_turn ON jobs (session_id, prompt_number, id);

CREATE INDEX jobs_due ON jobs (due_at) WHERE state = 'pending';

CREATE INDEX jobs_waiting ON jobs (session_id, id) WHERE state = 'pending';

CREATE INDEX observation_concepts_by_concept ON observation_concepts (concept);

CREATE INDEX observation_events_by_event ON observation_events (event_id);

CREATE INDEX observation_files_by_name ON observation_files (name);

CREATE INDEX observations_by_document ON observations (id * 8 + 1);

CREATE INDEX observations_by_follows ON observations (follows) WHERE follows IS NOT NULL;

CREATE INDEX observations_by_project ON observations (project_id, at);

CREATE INDEX observations_by_repeats ON observations (repeats) WHERE repeats IS NOT NULL;

CREATE INDEX observations_by_session ON observations (session_id, prompt_number);

CREATE INDEX observations_pinned ON observations (project_id, at, id) WHERE pinned;

CREATE INDEX project_dirs_by_project ON project_dirs (project_id);

CREATE INDEX project_identities_by_project ON project_identities (project_id);

CREATE INDEX prompts_by_document ON prompts (id * 8 + 4);

CREATE INDEX prompts_by_prompt_id ON prompts (session_id, prompt_id);

CREATE INDEX requests_by_job ON requests (job_id, digest);

CREATE INDEX requests_by_project ON requests (project_id);

CREATE INDEX requests_by_session ON requests (session_id);

CREATE INDEX requests_by_time ON requests (at);

CREATE INDEX sessions_by_project ON sessions (project_id, last_event_at);

CREATE INDEX sessions_by_status ON sessions (status, last_event_at);

CREATE INDEX summaries_by_document ON summaries (id * 8 + 3);

CREATE INDEX summaries_by_project ON summaries (project_id, at);

CREATE TRIGGER facts_indexed AFTER INSERT ON observation_facts BEGIN
  INSERT INTO search_index (rowid, title, body) VALUES (new.id * 8 + 2, '', new.text);
END;

CREATE TRIGGER facts_unindexed BEFORE DELETE ON observation_facts BEGIN
  INSERT INTO search_index (search_index, rowid, title, body)
  VALUES ('delete', old.id * 8 + 2, '', old.text);
END;

CREATE TRIGGER observations_changed AFTER UPDATE OF title, subtitle, narrative ON observations BEGIN
  INSERT INTO search_index (rowid, title, body)
  SELECT rowid, title, body FROM search_documents WHERE rowid = new.id * 8 + 1;
END;

CREATE TRIGGER observations_changing BEFORE UPDATE OF title, subtitle, narrative ON observations BEGIN
  INSERT INTO search_index (search_index, rowid, title, body)
  SELECT 'delete', rowid, title, body FROM search_documents WHERE rowid = old.id * 8 + 1;
END;

CREATE TRIGGER observations_indexed AFTER INSERT ON observations BEGIN
  INSERT INTO search_index (rowid, title, body)
  SELECT rowid, title, body FROM search_documents WHERE rowid = new.id * 8 + 1;
END;

CREATE TRIGGER observations_unindexed BEFORE DELETE ON observations BEGIN
  INSERT INTO search_index (search_index, rowid, title, body)
  SELECT 'delete', rowid, title, body FROM search_documents WHERE rowid = old.id * 8 + 1;
END;

CREATE TRIGGER prompts_indexed AFTER INSERT ON prompts BEGIN
  INSERT INTO search_index (rowid, title, body) VALUES (new.id * 8 + 4, '', new.text);
END;

CREATE TRIGGER prompts_unindexed BEFORE DELETE ON prompts BEGIN
  INSERT INTO search_index (search_index, rowid, title, body)
  VALUES ('delete', old.id * 8 + 4, '', old.text);
END;

CREATE TRIGGER summaries_indexed AFTER INSERT ON summaries BEGIN
  INSERT INTO search_index (rowid, title, body)
  SELECT rowid, title, body FROM search_documents WHERE rowid = new.id * 8 + 3;
END;

CREATE TRIGGER summaries_unindexed BEFORE DELETE ON summaries BEGIN
  INSERT INTO search_index (search_index, rowid, title, body)
  SELECT 'delete', rowid, title, body FROM search_documents WHERE rowid = old.id * 8 + 3;
END;
