-- What models write: who wrote it, what of it is doubted, which events it came from, what it repeats or
-- follows; and the ledger of what they were asked.

ALTER TABLE observations ADD COLUMN model TEXT;
ALTER TABLE observations ADD COLUMN edited INTEGER NOT NULL DEFAULT 0;
-- repeats: an observation that says the same; this one is folded into it. follows: one whose story this
-- one carries on. Both point to what was there first, so there are no circles.
ALTER TABLE observations ADD COLUMN repeats INTEGER REFERENCES observations ON DELETE SET NULL;
ALTER TABLE observations ADD COLUMN follows INTEGER REFERENCES observations ON DELETE SET NULL;
CREATE INDEX observations_by_repeats ON observations (repeats) WHERE repeats IS NOT NULL;
CREATE INDEX observations_by_follows ON observations (follows) WHERE follows IS NOT NULL;
ALTER TABLE summaries ADD COLUMN model TEXT;
-- The author of the last finished try. NULL: nobody knows.
ALTER TABLE jobs ADD COLUMN written_by TEXT;
CREATE INDEX jobs_by_turn ON jobs (session_id, prompt_number, id);

-- part: a field ('title'), or an item of one by its number ('facts 0'). The columns that are not of the key
-- stand behind it, or integrity_check of 3.40 takes them for NULL.
CREATE TABLE observation_doubts (
  observation_id INTEGER NOT NULL REFERENCES observations ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  part TEXT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (observation_id, ordinal)
) WITHOUT ROWID;

CREATE TABLE summary_doubts (
  summary_id INTEGER NOT NULL REFERENCES summaries ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  part TEXT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (summary_id, ordinal)
) WITHOUT ROWID;

-- What an observation came from.
CREATE TABLE observation_events (
  observation_id INTEGER NOT NULL REFERENCES observations ON DELETE CASCADE,
  event_id INTEGER NOT NULL REFERENCES events ON DELETE CASCADE,
  PRIMARY KEY (observation_id, event_id)
) WITHOUT ROWID;
CREATE INDEX observation_events_by_event ON observation_events (event_id);

-- Every request to a model, with its reply as it came (compressed). stored: the job was finished after it,
-- so the reply has done its work. What was spent outlives the session it was spent on.
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
CREATE INDEX requests_by_time ON requests (at);
CREATE INDEX requests_by_job ON requests (job_id, digest);
CREATE INDEX requests_by_session ON requests (session_id);
CREATE INDEX requests_by_project ON requests (project_id);

CREATE VIEW doubted_facts AS
  SELECT id, observation_id FROM observation_facts AS f
  WHERE EXISTS (
    SELECT 1 FROM observation_doubts AS d
    WHERE d.observation_id = f.observation_id AND d.part IN ('facts', 'facts ' || f.ordinal)
  );

-- Observations that cannot stand by themselves: their headline is doubted, or all that they say. This view
-- and the next are asked about one id at a time, most of which are in neither, and may name one twice.
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

-- Observations whose story a later one carries on, at whatever remove. One that is folded or doubted takes
-- nobody's place: it is not shown itself.
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
