-- What a person looks through, a page at a time, and observations that a person has folded into another.

CREATE INDEX sessions_by_time ON sessions (last_event_at);
CREATE INDEX observations_by_time ON observations (at);
CREATE INDEX observations_by_type ON observations (type, at);
CREATE INDEX jobs_skipped ON jobs (id) WHERE state = 'skipped';

-- `changes`: what it did to observations, as JSON: [id, field, before, after] each, to take it back by.
CREATE TABLE merges (
  observation_id INTEGER PRIMARY KEY REFERENCES observations ON DELETE CASCADE,
  into_id INTEGER NOT NULL REFERENCES observations ON DELETE CASCADE,
  at INTEGER NOT NULL,
  changes TEXT NOT NULL
);
CREATE INDEX merges_by_into ON merges (into_id);

-- What a person has had a hand in: nothing that is written anew takes its place.
CREATE VIEW in_hand AS
  SELECT id FROM observations WHERE pinned OR edited
  UNION ALL SELECT observation_id FROM merges
  UNION ALL SELECT into_id FROM merges;
