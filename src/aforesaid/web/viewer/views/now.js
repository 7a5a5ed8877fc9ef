// What is going on: health at the top, then a feed that never moves under the reader's eyes.
import { get } from "../api.js";
import { code, gathered, h, replace } from "../dom.js";
import { bytes, compact, lasting, money, number, plural, when } from "../format.js";
import { entryRow, Followed } from "../feed.js";
import { showGivenUp } from "../failed_jobs.js";
import { tile } from "../parts.js";
import { chosen } from "../projects.js";
import { Pill } from "../pill.js";
import { again, empty } from "../router.js";
import { onHappening, onQuiet, onState } from "../stream.js";
import { failed, say } from "../toast.js";

const FOLLOWED = 4,
  SHOWN = 120;

export default async function now({ signal }) {
  const health = h("section", { class: "vitals", "aria-label": "Health" });
  const list = h("ol", { class: "list long feed", "aria-label": "Live feed" });
  const pill = new Pill();
  const waiting = new Map(); // key → entry, newest wins
  const sessions = new Map();

  async function vitals() {
    try {
      const [found, cost] = await Promise.all([
        get("/health", {}, signal),
        get("/api/cost", { days: 1 }, signal).catch(() => null), // shown as unknown
      ]);
      replace(health, vitalTiles(found, cost));
    } catch (error) {
      if (error.name !== "AbortError") replace(health, h("p", { class: "note bad wide" }, code(error.message)));
    }
  }
  async function follow() {
    const page = await get("/api/sessions", { project: chosen(), limit: FOLLOWED }, signal);
    for (const each of page.items) if (!sessions.has(each.id)) sessions.set(each.id, new Followed(each));
    return page.items;
  }
  async function look(ids) {
    const found = await Promise.all(ids.map((id) => sessions.get(id)?.look(signal) ?? []));
    return found.flat().sort((a, b) => b.at - a.at);
  }

  const changed = new Set();
  const note = (id) => {
    changed.add(id);
    soon();
  };
  async function arrive() {
    const ids = [...changed];
    changed.clear();
    try {
      if (ids.some((id) => !sessions.has(id))) await follow();
      for (const each of await look(ids)) waiting.set(each.key, each);
      if (!waiting.size) return;
      if (first.parentElement)
        await again(); // there was nothing before
      else if (resting(list)) pour();
      else offer();
    } catch (error) {
      failed(error);
    }
  }
  // One after the other, the first look too: two at once would tell of the same things twice.
  let known;
  const stop = onState(() => (known = vitals()));
  let order = Promise.all([follow(), known]).then(async ([recent]) =>
    put(list, await look(recent.map((each) => each.id))),
  );
  const begun = order;
  const soon = gathered(() => (order = order.catch(() => {}).then(arrive)), 250);
  // Listens before it looks, so that nothing falls in between.
  const stops = [
    stop,
    onHappening((_, data) => data.session_id && note(data.session_id)),
    onQuiet(["changed"], () => [...sessions.keys()].forEach(note)),
    onQuiet(["captured", "turn", "observation", "summary", "changed", "fault"], vitals, 800),
  ];
  const leave = () => stops.forEach((stop) => stop());

  function pour() {
    const fresh = [...waiting.values()].sort((a, b) => b.at - a.at);
    waiting.clear();
    put(list, fresh);
    pill.clear();
    say(`${plural(fresh.length, "new item")}. ${fresh.find((each) => each.kind === "observation")?.it.title ?? ""}`);
  }
  function offer() {
    const fresh = [...waiting.values()].filter((each) => each.kind !== "gone").length;
    pill.offer(fresh ? `${fresh} new` : "Changed: show", () => {
      pour();
      window.scrollTo({ top: 0 });
    });
  }
  const first = empty(
    "No activity yet",
    "Install the hooks for your coding agent. Its first prompt appears here.",
    h("pre", {}, "aforesaid install\naforesaid doctor"),
  );
  try {
    await begun;
  } catch (error) {
    leave();
    throw error;
  }
  return {
    title: "Now",
    leave,
    element: h("div", {},
      h("div", { class: "head" }, h("h1", {}, "Now")),
      health,
      pill.element,
      list.children.length ? h("div", { class: "card flush" }, list) : first,
    ),
  };
}

/** The reader is elsewhere: the list is at its top, and no pointer, focus or selection is in it. */
function resting(list) {
  return (
    window.scrollY < 8 &&
    !list.matches(":hover") &&
    !list.contains(document.activeElement) &&
    (document.getSelection()?.isCollapsed ?? true)
  );
}

/** Newest first; one that has grown takes its old line's place. */
function put(list, entries) {
  for (const entry of [...entries].sort((a, b) => a.at - b.at)) {
    const old = list.querySelector(`[data-key="${CSS.escape(entry.key)}"]`);
    if (entry.kind === "gone") {
      old?.remove();
      continue;
    }
    const row = entryRow(entry);
    row.dataset.time = String(entry.at);
    const open = old?.querySelector("details")?.open;
    if (old) old.remove();
    const next = [...list.children].find((each) => Number(each.dataset.time) <= entry.at);
    list.insertBefore(row, next ?? null);
    if (open) row.querySelector("details").open = true;
  }
  while (list.children.length > SHOWN) list.lastElementChild.remove();
}

function vitalTiles(found, cost) {
  const queue = found.queue;
  const waiting = queue.pending + found.spool;
  return [
    found.problem && h("p", { class: "note bad wide" }, found.problem),
    tile(
      "Worker",
      found.status === "ok" ? "healthy" : "degraded",
      h("span", {},
        `up ${lasting(found.uptime_seconds * 1000)}`,
        found.memory_bytes ? ` · ${bytes(found.memory_bytes)}` : "",
      ),
      found.status === "ok" ? "good" : "bad",
    ),
    tile(
      "Pending",
      number(waiting),
      queue.oldest_at ? h("span", {}, "oldest ", when(queue.oldest_at)) : "none overdue",
    ),
    tile(
      "Last success",
      queue.last_done_at ? when(queue.last_done_at) : "none yet",
      queue.skipped
        ? h("button", { class: "link small", onclick: () => showGivenUp().catch(failed) },
            `${number(queue.skipped)} failed: show`,
          )
        : "no failed jobs",
    ),
    tile(
      "Sessions",
      `${number(found.active_sessions)} active`,
      h("span", { title: found.provider.why }, `written by ${found.provider.name}`),
    ),
    cost ? tile("Today", money(cost.today.microdollars), budgetWords(cost)) : tile("Today", "unknown", "unknown"),
  ];
}

const budgetWords = ({ today, budget }) => budget.left ?? `${compact(today.sent + today.received)} tokens, no limit`;
