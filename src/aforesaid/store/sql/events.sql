-- name: same_content
SELECT 1 FROM events
WHERE session_id = :session_id AND content_hash = :content_hash AND kind = :kind
  AND at BETWEEN :at - :window AND :at + :window;

-- name: add
INSERT INTO events (session_id, key, kind, tool, hook, capture_id, at, prompt_number, subagent_type,
                    boring, job_id, content_hash, size, body, healed, prompt_id)
VALUES (:session_id, :key, :kind, :tool, :hook, :capture_id, :at, :prompt_number, :subagent_type,
        :boring, :job_id, :content_hash, :size, :body, :healed, :prompt_id)
ON CONFLICT (session_id, key) DO NOTHING
RETURNING id;

-- The highest id that was given out.
-- name: newest
SELECT seq FROM sqlite_sequence WHERE name = 'events';

-- How many events wait to be worked up, and since when.
-- name: unclaimed
SELECT count(*) AS count, min(at) AS oldest FROM events
WHERE session_id = :session_id AND job_id IS NULL AND kind IN ('tool', 'subagent_stop') AND NOT boring;

-- name: claim
UPDATE events SET job_id = :job_id
WHERE id IN (
  SELECT id FROM events
  WHERE session_id = :session_id AND job_id IS NULL AND kind IN ('tool', 'subagent_stop') AND NOT boring
  ORDER BY at, id LIMIT :limit
);

-- name: of_job
SELECT * FROM events WHERE job_id = :job_id ORDER BY at, id;

-- name: of_prompt
SELECT * FROM events WHERE session_id = :session_id AND prompt_number = :prompt_number
ORDER BY at, id;

-- Asked for every part of a long turn. The kinds are named as the index of what frames a turn names them, and the `+`
-- keeps the index of all its events from being taken instead.
-- name: framing_of_prompt
SELECT * FROM events
WHERE session_id = :session_id AND kind = :kind AND kind <> 'tool' AND kind <> 'subagent_stop'
  AND +prompt_number = :prompt_number
ORDER BY at, id;

-- name: last_time_of_prompt
SELECT max(at) FROM events WHERE session_id = :session_id AND prompt_number = :prompt_number;

-- name: before
SELECT * FROM events
WHERE session_id = :session_id AND kind = 'tool' AND NOT boring AND (at, id) < (:at, :id)
ORDER BY at DESC, id DESC LIMIT :limit;

-- name: quarantine
INSERT INTO quarantine (name, why, size, at) VALUES (:name, :why, :size, :at)
ON CONFLICT (name) DO NOTHING;

-- name: trim_quarantine
DELETE FROM quarantine
WHERE at < :before OR name NOT IN (SELECT name FROM quarantine ORDER BY at DESC, name LIMIT :most);

-- The kinds are named for the same index as above: a session has many events, and few that frame a turn.
-- name: last_compaction
SELECT max(at) FROM events
WHERE session_id = :session_id AND kind = 'compact' AND kind <> 'tool' AND kind <> 'subagent_stop';

-- name: count_healed
SELECT count(*) FROM events WHERE healed AND at BETWEEN :first AND :last;

-- name: calls_of_tools
SELECT * FROM events
WHERE session_id = :session_id AND kind = 'tool'
  AND EXISTS (SELECT 1 FROM json_each(:prefixes) WHERE substr(tool, 1, length(value)) = value)
ORDER BY at DESC, id DESC LIMIT :limit;
