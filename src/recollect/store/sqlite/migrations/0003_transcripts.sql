-- What transcripts tell: events that no hook delivered, and how far each transcript has been read.

-- healed: told by the transcript alone. prompt_id: the agent's own name of the turn, so that an event finds
-- its prompt when that one is told later; NULL where there is none, or for events older than this column.
ALTER TABLE events ADD COLUMN healed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN prompt_id TEXT;
CREATE INDEX events_healed ON events (session_id, kind, at) WHERE healed;
-- Both columns stand behind the body, and must be found without reading bodies.
DROP INDEX events_by_prompt;
CREATE INDEX events_by_prompt ON events (session_id, prompt_number, at, id, prompt_id);
CREATE INDEX events_framing ON events (session_id, kind, at, prompt_id, healed)
WHERE kind <> 'tool' AND kind <> 'subagent_stop';

-- mark: the agent's own word for a place in its transcript. at: when it was set.
CREATE TABLE transcript_marks (
  agent TEXT NOT NULL,
  ref TEXT NOT NULL,
  mark TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (agent, ref)
) WITHOUT ROWID;
