-- name: all_identities
SELECT project_id, link, kind, identity FROM project_identities ORDER BY project_id, link;

-- name: add_project
INSERT INTO projects (name, root, created_at) VALUES (:name, :root, :created_at) RETURNING id;

-- name: move_project
UPDATE projects SET name = :name, root = :root WHERE id = :id;

-- name: add_identity
INSERT INTO project_identities (identity, kind, project_id, link)
VALUES (:identity, :kind, :project_id, :link)
ON CONFLICT DO NOTHING;

-- name: drop_link
DELETE FROM project_identities WHERE project_id = :project_id AND link = :link;

-- name: add_dir
INSERT INTO project_dirs (dir, project_id, seen_at) VALUES (:dir, :project_id, :now)
ON CONFLICT (dir) DO UPDATE SET project_id = excluded.project_id, seen_at = excluded.seen_at;

-- name: drop_session
DELETE FROM sessions WHERE id = :id;

-- name: drop_if_empty
DELETE FROM projects WHERE id = :id
  AND NOT EXISTS (SELECT 1 FROM sessions WHERE project_id = :id);

-- name: dir
SELECT project_id FROM project_dirs WHERE dir = :dir;

-- name: dirs
SELECT dir FROM project_dirs WHERE project_id = :project_id ORDER BY seen_at DESC LIMIT 50;

-- name: project
SELECT id, name, root FROM projects WHERE id = :id;

-- name: projects
SELECT id, name, root FROM projects ORDER BY id;
