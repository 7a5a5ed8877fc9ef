-- What the user keeps out of the memory, and what went from it.

-- While one holds, nothing is stored of what it covers, and no transcript brings it back later. `origin`:
-- 'command' is what somebody asked for (of a project, of a session, or of everything), 'seen' is a session whose
-- hooks said that it is not to be recorded.
CREATE TABLE pauses (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  origin TEXT NOT NULL CHECK (origin IN ('command', 'seen')),
  project_id INTEGER REFERENCES projects ON DELETE CASCADE,
  agent TEXT,
  ref TEXT,
  began_at INTEGER NOT NULL,
  ends_at INTEGER
);
CREATE INDEX pauses_by_session ON pauses (agent, ref) WHERE ref IS NOT NULL;
CREATE INDEX pauses_by_project ON pauses (project_id) WHERE project_id IS NOT NULL;

-- Sessions that were erased, by a hash of their name, and up to when.
CREATE TABLE erased_sessions (
  session TEXT PRIMARY KEY,
  until INTEGER NOT NULL
) WITHOUT ROWID;

-- An event without content has no size: it was erased or is too old. Its row stays, so that no transcript can
-- bring it back. What still has its content is looked for by age.
CREATE INDEX events_by_age ON events (at) WHERE size > 0;
