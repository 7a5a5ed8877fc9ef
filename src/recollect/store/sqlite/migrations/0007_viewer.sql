-- What a person looks through, a page at a time, and observations that a person has folded into another.

CREATE INDEX sessions_by_time ON sessions (last_event_at);
CREATE INDEX observations_by_time ON observations (at);
CREATE INDEX observations_by_type ON observations (type, at);
CREATE INDEX jobs_skipped ON jobs (id) WHERE state = 'skipped';

-- In the order in which a person said it. What came of all of them together is in the observations.
CREATE TABLE merges (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  observation_id INTEGER NOT NULL UNIQUE REFERENCES observations ON DELETE CASCADE,
  into_id INTEGER NOT NULL REFERENCES observations ON DELETE CASCADE,
  at INTEGER NOT NULL
);
CREATE INDEX merges_by_into ON merges (into_id);

-- What observations would be if nobody had merged any: only those that a merge has changed.
CREATE TABLE unmerged (
  observation_id INTEGER PRIMARY KEY REFERENCES observations ON DELETE CASCADE,
  repeats INTEGER REFERENCES observations ON DELETE SET NULL,
  follows INTEGER REFERENCES observations ON DELETE SET NULL,
  pinned INTEGER NOT NULL
);
CREATE INDEX unmerged_by_repeats ON unmerged (repeats) WHERE repeats IS NOT NULL;
CREATE INDEX unmerged_by_follows ON unmerged (follows) WHERE follows IS NOT NULL;

-- Links that could not be put back with what was forgotten, because their other end is not there yet.
CREATE TABLE parted (
  observation_id INTEGER NOT NULL,
  link TEXT NOT NULL CHECK (link IN ('repeats', 'follows')),
  target INTEGER NOT NULL,
  PRIMARY KEY (observation_id, link)
) WITHOUT ROWID;
CREATE INDEX parted_by_target ON parted (target);

-- `before`: what a person's words took the place of, as JSON, to take them back by.
CREATE TABLE edits (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  observation_id INTEGER NOT NULL REFERENCES observations ON DELETE CASCADE,
  before TEXT NOT NULL
);
CREATE INDEX edits_by_observation ON edits (observation_id, id);

-- What a person has had a hand in: nothing that is written anew takes its place.
CREATE VIEW in_hand AS
  SELECT id FROM observations WHERE pinned OR edited
  UNION ALL SELECT observation_id FROM merges
  UNION ALL SELECT into_id FROM merges;
