-- The newest first: they are told most.
-- name: observations
SELECT o.id, o.project_id, o.session_id, o.prompt_number, j.id AS job_id FROM observations AS o
LEFT JOIN jobs AS j ON j.id = o.job_id
WHERE o.origins IS NULL ORDER BY o.id DESC LIMIT :limit;

-- name: summaries
SELECT s.id, s.project_id, s.session_id, s.prompt_number, (
  SELECT j.id FROM jobs AS j
  WHERE j.session_id = s.session_id AND j.prompt_number = s.prompt_number AND j.kind = 'summarize' LIMIT 1
) AS job_id
FROM summaries AS s WHERE s.origins IS NULL ORDER BY s.id DESC LIMIT :limit;

-- name: set_observation
UPDATE observations SET origins = :origins, sources = :sources WHERE id = :id AND origins IS NULL;

-- name: set_summary
UPDATE summaries SET origins = :origins WHERE id = :id AND origins IS NULL;

-- What a person has put into words is his.
-- name: doubt_observation
INSERT INTO observation_doubts (observation_id, ordinal, part, reason)
SELECT id, (SELECT coalesce(max(ordinal) + 1, 0) FROM observation_doubts WHERE observation_id = :id),
       :part, :reason
FROM observations
WHERE id = :id AND NOT edited AND NOT EXISTS (
  SELECT 1 FROM observation_doubts WHERE observation_id = :id AND part = :part AND reason = :reason
);

-- name: doubt_summary
INSERT INTO summary_doubts (summary_id, ordinal, part, reason)
SELECT id, (SELECT coalesce(max(ordinal) + 1, 0) FROM summary_doubts WHERE summary_id = :id), :part, :reason
FROM summaries
WHERE id = :id AND NOT EXISTS (
  SELECT 1 FROM summary_doubts WHERE summary_id = :id AND part = :part AND reason = :reason
);

-- name: confirm
UPDATE observations SET confirmed = :confirmed
WHERE id = (SELECT coalesce(repeats, id) FROM observations WHERE id = :id)
RETURNING id;
