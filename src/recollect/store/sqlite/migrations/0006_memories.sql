-- Curated memories are files. Here is what sessions were told of them, and what models were asked for them.

CREATE TABLE told_memories (
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

-- Made anew because a CHECK cannot be changed.
CREATE TABLE asked (
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
INSERT INTO asked
SELECT id, at, provider, model, prompts, purpose, digest, session_id, project_id, job_id, outcome, error, sent,
       cached, written, received, estimated, microdollars, milliseconds, stored, reply
FROM requests;
DROP TABLE requests;
ALTER TABLE asked RENAME TO requests;
CREATE INDEX requests_by_job ON requests (job_id, digest);
CREATE INDEX requests_by_project ON requests (project_id);
CREATE INDEX requests_by_session ON requests (session_id);
CREATE INDEX requests_by_time ON requests (at);

-- What is remembered on request is a file now.
DROP INDEX observations_remembered;
