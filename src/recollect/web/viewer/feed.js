// The feed of the newest sessions: prompts, tool calls folded together, observations and summaries.
import { get } from "./api.js";
import { h } from "./dom.js";
import { absolute, clock, plural, when } from "./format.js";
import { openRaw } from "./raw.js";
import { eventRow, observationRow } from "./rows.js";

const MOST_EVENTS = 400; // of one session; older ones are in its own view

/** What is known of one session, and what is new in it since it was asked last. */
export class Followed {
  constructor(session) {
    Object.assign(this, { session, after: null, events: [], known: new Map() });
  }

  /** @returns {Promise<any[]>} entries that were not there before, or have grown */
  async look(signal) {
    const path = `/api/sessions/${this.session.id}`;
    const [found] = await Promise.all([get(path, {}, signal), this.#events(path, signal)]);
    this.session = found;
    const entries = [
      ...found.prompts.map((each) => ({ kind: "prompt", key: `p${each.number}`, at: each.at, it: each })),
      ...found.observations.map((each) => ({ kind: "observation", key: `o${each.id}`, at: each.at, it: each })),
      ...found.summaries.map((each) => ({ kind: "summary", key: `s${each.id}`, at: each.at, it: each })),
      ...folds(this.events),
    ];
    const fresh = entries.filter((each) => this.known.get(each.key) !== (each.size ?? 1));
    for (const each of entries) this.known.set(each.key, each.size ?? 1);
    return fresh.map((each) => ({ ...each, key: `${this.session.id}/${each.key}`, session: this.session }));
  }

  async #events(path, signal) {
    let page;
    do {
      page = await get(`${path}/events`, { after: this.after, limit: 200 }, signal);
      this.events.push(...page.items);
      const last = page.items.at(-1);
      if (last) this.after = `${last.prompt_number}.${last.at}.${last.id}`; // where the next look goes on
    } while (page.next && this.events.length < MOST_EVENTS);
  }
}

/** Tool calls of one turn are one line, with a count. */
function folds(events) {
  const turns = new Map();
  for (const each of events) {
    if (each.kind !== "tool") continue;
    const key = `f${each.prompt_number}`;
    if (!turns.has(key)) turns.set(key, []);
    turns.get(key).push(each);
  }
  return [...turns].map(([key, items]) => ({ kind: "fold", key, at: items.at(-1).at, size: items.length, it: items }));
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
  return h(
    "li",
    {},
    h(
      "a",
      { class: "row", href: `/sessions/${session.id}`, data: { item: "" } },
      h("span", { class: "type quiet" }, "prompt"),
      h(
        "span",
        { class: "what" },
        h("span", { class: "title clamp" }, it.text),
        h("span", { class: "sub block" }, session.project, " · ", session.title || "Untitled session"),
      ),
      h("span", { class: "side" }, when(it.at)),
    ),
  );
}

function summaryRow({ it, session }) {
  const words = it.draft ?? it;
  return h(
    "li",
    {},
    h(
      "a",
      { class: "row", href: `/sessions/${session.id}`, data: { item: "" } },
      h("span", { class: "type quiet" }, "summary"),
      h(
        "span",
        { class: "what" },
        h("span", {}, words.completed || words.learned || words.request || "A turn ended"),
        words.next_steps && h("span", { class: "sub block" }, "Next: ", words.next_steps),
      ),
      h("span", { class: "side" }, when(it.at)),
    ),
  );
}

function foldRow({ it: items }) {
  const tools = new Map();
  for (const each of items) tools.set(each.tool ?? each.kind, (tools.get(each.tool ?? each.kind) ?? 0) + 1);
  const list = h("ol", { class: "list events" });
  const details = h(
    "details",
    {
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
    h(
      "summary",
      { class: "row", data: { item: "" } },
      h("span", { class: "type quiet" }, "tools"),
      h(
        "span",
        { class: "what quiet" },
        plural(items.length, "call"),
        ": ",
        [...tools].map(([name, count]) => `${name} ${count}`).join(", "),
      ),
      h(
        "span",
        { class: "side" },
        h("time", { class: "when", title: absolute(items.at(-1).at) }, clock(items.at(-1).at)),
      ),
    ),
    list,
  );
  return h("li", {}, details);
}
