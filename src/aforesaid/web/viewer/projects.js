// Which project the reader looks at. The choice is kept in this browser; an address may name another for its view.
import { get, url } from "./api.js";

const KEY = "aforesaid.project";
let items = [];
let named = null; // by the address
const watchers = new Set();

export async function loadProjects() {
  items = (await get("/api/projects")).items;
  for (const run of watchers) run();
  return items;
}

export const projects = () => items;

/** @param {number | null} id as the address says, or null */
export function nameProject(id) {
  named = id;
  for (const run of watchers) run();
}

/** For links within a view whose address names a project. @returns {number | null} */
export const namedProject = () => named;

/** @returns {number | null} null: all of them */
export function chosen() {
  const id = named ?? Number(localStorage.getItem(KEY));
  return items.some((each) => each.id === id) ? id : null;
}

/** For views of one project: the chosen one, else the one worked on last. */
export function one() {
  const newest = [...items].sort((a, b) => (b.last_at ?? 0) - (a.last_at ?? 0))[0];
  return chosen() ?? newest?.id ?? null;
}

/** Whether there is one that the address names: it may be newer than the list. */
export async function isKnown() {
  const has = () => !named || items.some((each) => each.id === named);
  return has() || (await loadProjects(), has());
}

/** When something was done last in what is chosen. @returns {number} 0: never */
export const lastAt = () =>
  Math.max(0, ...items.filter((each) => (chosen() ?? each.id) === each.id).map((each) => each.last_at));

export const projectName = (id) => items.find((each) => each.id === Number(id))?.name ?? "";

/** For headings of views of one project: why it is this one. */
export const whose = (id) => `${projectName(id)}${chosen() ? "" : ", the project worked on last"}`;

export function choose(id) {
  if (id) localStorage.setItem(KEY, String(id));
  else localStorage.removeItem(KEY);
}

export function onProjects(run) {
  watchers.add(run);
}

/** Names are of a project. @param {number | null} project null: it is the user's own, and holds everywhere */
export const memoryAddress = (name, project, retired = false) =>
  url(`/memories/${encodeURIComponent(name)}`, { project: project ?? 0, retired: retired ? 1 : null });
