-- Whose words something stems from, so that what only the web says is found, but not told unasked.

-- Read off the event when its text is indexed; those that are here already are looked at once more.
ALTER TABLE events ADD COLUMN origin TEXT
  CHECK (origin IN ('user', 'repository', 'command', 'agent', 'web', 'recalled'));
UPDATE index_state SET value = '0' WHERE name = 'events';

-- Origins, the best first, and places in the network, divided by spaces. NULL: nobody has weighed it yet.
ALTER TABLE observations ADD COLUMN origins TEXT;
ALTER TABLE observations ADD COLUMN sources TEXT;
-- The user says that it holds.
ALTER TABLE observations ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 0;
-- Of another session, which it says wholly and knows from elsewhere.
ALTER TABLE observations ADD COLUMN bears_out INTEGER REFERENCES observations ON DELETE SET NULL;
ALTER TABLE summaries ADD COLUMN origins TEXT;
CREATE INDEX observations_by_bears_out ON observations (bears_out) WHERE bears_out IS NOT NULL;
CREATE INDEX observations_unweighed ON observations (id) WHERE origins IS NULL;
CREATE INDEX summaries_unweighed ON summaries (id) WHERE origins IS NULL;

CREATE VIEW vouched_for AS
  SELECT id FROM observations WHERE pinned OR edited OR confirmed
  UNION ALL SELECT bears_out FROM observations WHERE bears_out IS NOT NULL;

-- Of what somebody vouches for, it no longer matters who said it first. `model/origins.py` has these words too.
CREATE VIEW standing_doubts AS
  SELECT observation_id, ordinal, part, reason FROM observation_doubts AS d
  WHERE reason NOT IN ('only the web or an MCP server says so', 'only recollect itself has said so')
    OR NOT EXISTS (SELECT 1 FROM vouched_for AS v WHERE v.id = d.observation_id);

DROP VIEW doubted_facts;
CREATE VIEW doubted_facts AS
  SELECT id, observation_id FROM observation_facts AS f
  WHERE EXISTS (
    SELECT 1 FROM standing_doubts AS d
    WHERE d.observation_id = f.observation_id AND d.part IN ('facts', 'facts ' || f.ordinal)
  );

DROP VIEW doubted_observations;
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

-- What a model has made up; that it has read something in the web is no fault of it.
CREATE VIEW ungrounded_facts AS
  SELECT id FROM observation_facts AS f
  WHERE EXISTS (
    SELECT 1 FROM observation_doubts AS d
    WHERE d.observation_id = f.observation_id AND d.part IN ('facts', 'facts ' || f.ordinal)
      AND d.reason NOT IN ('only the web or an MCP server says so', 'only recollect itself has said so')
  );

-- That a story repeats a page is no fault of it; who asks for it sees that it does.
CREATE VIEW made_up_narratives AS
  SELECT observation_id AS id FROM observation_doubts
  WHERE part = 'narrative'
    AND reason NOT IN ('only the web or an MCP server says so', 'only recollect itself has said so');

DROP VIEW in_hand;
CREATE VIEW in_hand AS
  SELECT id FROM observations WHERE pinned OR edited OR confirmed
  UNION ALL SELECT observation_id FROM merges
  UNION ALL SELECT into_id FROM merges;

-- Who is vouched for is doubted no longer, and takes the place of what it follows.
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
