-- What the user keeps out stays out, also when the project is gone from the memory.

-- `scope` says what a pause is of. One of a project outlives the project's row: `place` is a hash of where the
-- project lies, taken when the pause began and again before the row goes; it counts once `project_id` is gone.
CREATE TABLE lasting_pauses (
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
INSERT INTO lasting_pauses (id, origin, scope, project_id, agent, ref, began_at, ends_at)
SELECT id, origin,
       CASE WHEN ref IS NOT NULL THEN 'session' WHEN project_id IS NOT NULL THEN 'project' ELSE 'everything' END,
       project_id, agent, ref, began_at, ends_at
FROM pauses;
DROP TABLE pauses;
ALTER TABLE lasting_pauses RENAME TO pauses;
CREATE INDEX pauses_by_session ON pauses (agent, ref) WHERE ref IS NOT NULL;
CREATE INDEX pauses_by_project ON pauses (project_id) WHERE project_id IS NOT NULL;
