-- The session may be gone by now; what was spent was spent.
-- name: add
INSERT INTO requests (at, provider, model, prompts, purpose, digest, session_id, project_id, job_id, outcome,
                      error, sent, cached, written, received, estimated, microdollars, milliseconds, reply)
VALUES (:at, :provider, :model, :prompts, :purpose, :digest,
        (SELECT id FROM sessions WHERE id = :session_id),
        (SELECT project_id FROM sessions WHERE id = :session_id),
        (SELECT id FROM jobs WHERE id = :job_id), :outcome,
        :error, :sent, :cached, :written, :received, :estimated, :microdollars, :milliseconds, :reply)
RETURNING id;

-- name: mark_unusable
UPDATE requests SET outcome = 'unusable' WHERE id = :id AND outcome = 'answered';

-- name: settle
UPDATE requests SET stored = 1 WHERE job_id = :job_id AND NOT stored;

-- name: kept
SELECT id, reply FROM requests
WHERE job_id = :job_id AND digest = :digest AND outcome = 'answered' AND reply IS NOT NULL AND NOT stored
ORDER BY id DESC LIMIT 1;

-- name: spent
SELECT '' AS label, count(*) AS requests, coalesce(sum(sent), 0) AS sent,
       coalesce(sum(cached), 0) AS cached, coalesce(sum(received), 0) AS received,
       coalesce(sum(microdollars), 0) AS microdollars, count(*) - count(microdollars) AS unpriced
FROM requests WHERE at >= :since AND at < :until;

-- name: spent_by_day
SELECT date(at / 1000, 'unixepoch', 'localtime') AS label, count(*) AS requests, sum(sent) AS sent,
       sum(cached) AS cached, sum(received) AS received, coalesce(sum(microdollars), 0) AS microdollars,
       count(*) - count(microdollars) AS unpriced
FROM requests
WHERE at >= :since AND at < :until AND (:project_id IS NULL OR project_id = :project_id)
GROUP BY 1 ORDER BY 1;

-- name: spent_by_model
SELECT provider || '/' || model AS label, count(*) AS requests, sum(sent) AS sent,
       sum(cached) AS cached, sum(received) AS received, coalesce(sum(microdollars), 0) AS microdollars,
       count(*) - count(microdollars) AS unpriced
FROM requests
WHERE at >= :since AND at < :until AND (:project_id IS NULL OR project_id = :project_id)
GROUP BY 1 ORDER BY sum(sent + received) DESC, 1;

-- name: spent_by_purpose
SELECT purpose AS label, count(*) AS requests, sum(sent) AS sent,
       sum(cached) AS cached, sum(received) AS received, coalesce(sum(microdollars), 0) AS microdollars,
       count(*) - count(microdollars) AS unpriced
FROM requests
WHERE at >= :since AND at < :until AND (:project_id IS NULL OR project_id = :project_id)
GROUP BY 1 ORDER BY sum(sent + received) DESC, 1;

-- name: spent_by_project
SELECT coalesce(p.name, '(deleted)') AS label, count(*) AS requests, sum(r.sent) AS sent,
       sum(r.cached) AS cached, sum(r.received) AS received,
       coalesce(sum(r.microdollars), 0) AS microdollars, count(*) - count(r.microdollars) AS unpriced
FROM requests AS r LEFT JOIN projects AS p ON p.id = r.project_id
WHERE r.at >= :since AND r.at < :until AND (:project_id IS NULL OR r.project_id = :project_id)
GROUP BY p.id ORDER BY sum(r.sent + r.received) DESC, 1;

-- name: spent_by_session
SELECT coalesce(substr(s.ref, 1, 8) || coalesce(' ' || s.title, ''), '(deleted)') AS label,
       count(*) AS requests, sum(r.sent) AS sent, sum(r.cached) AS cached, sum(r.received) AS received,
       coalesce(sum(r.microdollars), 0) AS microdollars, count(*) - count(r.microdollars) AS unpriced
FROM requests AS r LEFT JOIN sessions AS s ON s.id = r.session_id
WHERE r.at >= :since AND r.at < :until AND (:project_id IS NULL OR r.project_id = :project_id)
GROUP BY s.id ORDER BY sum(r.sent + r.received) DESC, 1;

-- A job that was done twice has left things once.
-- name: written
WITH made AS (
  SELECT job_id, purpose, outcome FROM requests
  WHERE at >= :since AND at < :until AND (:project_id IS NULL OR project_id = :project_id)
),
paid AS (SELECT DISTINCT job_id FROM made WHERE outcome = 'answered' AND job_id IS NOT NULL)
SELECT
  (SELECT count(*) FROM made WHERE purpose <> 'repair' AND outcome <> 'failed') AS answers,
  (
    SELECT count(*) FROM visible_observations WHERE provider <> 'rules' AND job_id IN (SELECT job_id FROM paid)
  ) AS observations,
  (
    SELECT count(*) FROM summaries WHERE provider <> 'rules' AND (session_id, prompt_number) IN (
      SELECT session_id, prompt_number FROM jobs
      WHERE kind = 'summarize' AND id IN (SELECT job_id FROM paid)
    )
  ) AS summaries;

-- What a person has edited is no longer the model's word, and the rules need no checking.
-- name: quality
SELECT o.provider, o.model, count(DISTINCT o.id) AS observations, count(f.id) AS facts,
       count(d.id) AS unverified
FROM visible_observations AS o
LEFT JOIN observation_facts AS f ON f.observation_id = o.id
LEFT JOIN ungrounded_facts AS d ON d.id = f.id
WHERE o.provider <> 'rules' AND NOT o.edited
GROUP BY o.provider, o.model ORDER BY observations DESC, o.provider, o.model;
