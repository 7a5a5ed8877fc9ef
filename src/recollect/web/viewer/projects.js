// Which project the reader looks at. Kept in this browser; a link may name another.
import { get } from "./api.js";

const KEY = "recollect.project";
let items = [];
const watchers = new Set();

export async function loadProjects() {
  items = (await get("/api/projects")).items;
  for (const run of watchers) run();
  return items;
}

export const projects = () => items;

/** @returns {number | null} null: all of them */
export function chosen() {
  const kept = Number(localStorage.getItem(KEY));
  return items.some((each) => each.id === kept) ? kept : null;
}

/** For views of one project: the chosen one, else the one worked on last. */
export function one() {
  const newest = [...items].sort((a, b) => (b.last_at ?? 0) - (a.last_at ?? 0))[0];
  return chosen() ?? newest?.id ?? null;
}

export const projectName = (id) => items.find((each) => each.id === Number(id))?.name ?? "";

export function choose(id) {
  if (id) localStorage.setItem(KEY, String(id));
  else localStorage.removeItem(KEY);
}

export function onProjects(run) {
  watchers.add(run);
}
