-- What is injected again, after a compaction, counts again: the time is the last one's, the tokens are those of all.
-- name: add
INSERT INTO injections (session_id, kind, source, hook, reason, tokens, at)
VALUES (:session_id, :kind, :source, :hook, :reason, :tokens, :at)
ON CONFLICT (session_id, kind, source, hook) DO UPDATE
SET reason = excluded.reason, tokens = injections.tokens + excluded.tokens, at = excluded.at
WHERE excluded.at > injections.at;

-- name: in_session
SELECT t.kind, t.source, t.hook, t.reason, t.tokens, t.at,
  coalesce(o.title, o.subtitle, m.request, m.completed, p.text) AS title, s.ref AS session,
  coalesce(o.origins, m.origins, CASE WHEN p.id IS NOT NULL THEN 'user' END) AS origins
FROM injections AS t
LEFT JOIN visible_observations AS o ON t.kind = 'observation' AND o.id = t.source
LEFT JOIN summaries AS m ON t.kind = 'summary' AND m.id = t.source
LEFT JOIN prompts AS p ON t.kind = 'prompt' AND p.id = t.source
LEFT JOIN sessions AS s ON s.id = coalesce(o.session_id, m.session_id, p.session_id)
WHERE t.session_id = :session_id AND NOT (t.kind = 'observation' AND o.id IS NULL) ORDER BY t.at, t.id;

-- name: add_memory
INSERT INTO memory_injections (session_id, name, scope, hook, reason, tokens, size, at)
VALUES (:session_id, :name, :scope, :hook, :reason, :tokens, :size, :at)
ON CONFLICT (session_id, name, scope, hook) DO UPDATE
SET reason = excluded.reason, tokens = memory_injections.tokens + excluded.tokens,
    size = memory_injections.size + excluded.size, at = excluded.at
WHERE excluded.at > memory_injections.at;

-- name: memories_in_session
SELECT name, scope, hook, reason, tokens, size, at FROM memory_injections
WHERE session_id = :session_id ORDER BY at, id;
