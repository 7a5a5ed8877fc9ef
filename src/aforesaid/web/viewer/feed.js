// The feed of the newest sessions: prompts, tool calls folded together, observations and summaries.
import { get } from "./api.js";
import { code, h } from "./dom.js";
import { plural, when } from "./format.js";
import { icon } from "./icons.js";
import { openRaw } from "./raw.js";
import { eventRow, observationRow } from "./rows.js";

const MOST_EVENTS = 400; // of one session: the newest; older ones are in its own view
const AT_ONCE = 200;

/** What is known of one session, and what is new in it since it was asked last. */
export class Followed {
  #events = new Map();
  #whole = true; // no older event was left out
  #known = new Map(); // key → last event

  constructor(session) {
    this.session = session;
  }

  /** @returns {Promise<any[]>} entries that were not there before, are another now, or (`gone`) are no more */
  async look(signal) {
    const path = `/api/sessions/${this.session.id}`;
    const [found] = await Promise.all([get(path, {}, signal), this.#newest(path, signal)]);
    this.session = found;
    const entries = [
      ...found.prompts.map((each) => ({ kind: "prompt", key: `p${each.number}`, at: each.at, it: each })),
      ...found.observations.map((each) => ({ kind: "observation", key: `o${each.id}`, at: each.at, it: each })),
      ...found.summaries.map((each) => ({ kind: "summary", key: `s${each.id}`, at: each.at, it: each })),
      ...folds([...this.#events.values()], this.#whole),
    ];
    const now = new Map(entries.map((each) => [each.key, JSON.stringify(each.size ?? each.it)]));
    const fresh = entries.filter((each) => this.#known.get(each.key) !== now.get(each.key));
    const gone = [...this.#known.keys()].filter((key) => !now.has(key)).map((key) => ({ kind: "gone", key, at: 0 }));
    this.#known = now;
    return [...fresh, ...gone].map((each) => ({ ...each, key: `${found.id}/${each.key}`, session: found }));
  }

  /** From the newest back to what is known already. */
  async #newest(path, signal) {
    let after = null,
      read = 0,
      met = false;
    do {
      const page = await get(`${path}/events`, { order: "newest", after, limit: AT_ONCE }, signal);
      for (const each of page.items) {
        met ||= this.#events.has(each.id);
        this.#events.set(each.id, each);
      }
      read += page.items.length;
      after = page.next;
    } while (after && !met && read < MOST_EVENTS);
    if (after && !met) this.#whole = false;
  }
}

/** Tool calls of one turn are one line, with a count. */
function folds(events, whole) {
  const tools = events
    .filter((each) => each.kind === "tool")
    .sort((a, b) => a.prompt_number - b.prompt_number || a.at - b.at || a.id - b.id);
  const turns = Map.groupBy(tools, (each) => each.prompt_number);
  return [...turns].map(([number, items], n) => ({
    kind: "fold",
    key: `f${number}`,
    at: items.at(-1).at,
    size: items.length,
    it: { items, more: n === 0 && !whole },
  }));
}

export function entryRow(entry) {
  const row = { prompt: promptRow, observation: (e) => observationRow(e.it), summary: summaryRow, fold: foldRow }[
    entry.kind
  ](entry);
  row.dataset.key = entry.key;
  row.classList.add("entry", `entry-${entry.kind}`);
  return row;
}

function promptRow({ it, session }) {
  return h("li", {},
    h("a", { class: "row", href: `/sessions/${session.id}`, data: { item: "" } },
      h("span", { class: "type quiet" }, icon("sessions"), "prompt"),
      h("span", { class: "what" },
        h("span", { class: "title clamp" }, it.text),
        h("span", { class: "sub block" }, session.project, " · ", session.title || "Untitled session"),
      ),
      h("span", { class: "side" }, when(it.at)),
    ),
  );
}

function summaryRow({ it, session }) {
  return h("li", {},
    h("a", { class: "row", href: `/sessions/${session.id}`, data: { item: "" } },
      h("span", { class: "type quiet" }, icon("brief"), "summary"),
      h("span", { class: "what" },
        h("span", {}, code(it.completed || it.learned || it.request || "A turn ended")),
        it.next_steps && h("span", { class: "sub block" }, "Next: ", code(it.next_steps)),
      ),
      h("span", { class: "side" }, when(it.at)),
    ),
  );
}

function foldRow({ it: { items, more } }) {
  const tools = new Map();
  for (const each of items) tools.set(each.tool, (tools.get(each.tool) ?? 0) + 1);
  const list = h("ol", { class: "list events" });
  const details = h("details", {
      class: "fold",
      ontoggle: () => {
        if (details.open && !list.childElementCount)
          list.append(
            ...items
              .slice(-100)
              .reverse()
              .map((each) => eventRow(each, openRaw)),
          );
      },
    },
    h("summary", { class: "row", data: { item: "" } },
      h("span", { class: "type quiet" }, "tools"),
      h("span", { class: "what quiet" },
        more && "the last ",
        plural(items.length, "call"),
        ": ",
        [...tools].map(([name, count]) => `${name} ${count}`).join(", "),
      ),
      h("span", { class: "side" }, when(items.at(-1).at)),
    ),
    list,
  );
  return h("li", {}, details);
}
