// Finds as you type. What each hit costs and why it was found stand beside it.
import { get } from "../api.js";
import { code, h, later, replace } from "../dom.js";
import { compact, day, localDay, midnight, number, plural } from "../format.js";
import { hitRow } from "../hits.js";
import { icon } from "../icons.js";
import { keep } from "../view_state.js";
import { chosen, projectName } from "../projects.js";
import { note } from "../router.js";
import { TYPES, typeLabel } from "../rows.js";
import { failed } from "../toast.js";

const FACETS = [
  ["type", "Type"],
  ["concept", "Concept"],
  ["file", "File"],
  ["agent", "Agent"],
  ["project", "Project"],
  ["day", "Day"],
];
const FILTERS = ["type", "concept", "file", "agent", "project", "since", "until"];
const AT_FIRST = 12, // a screenful, while one types
  AT_ONCE = 30,
  MOST = 200, // hits of one search
  VALUES = 8;

export default async function search({ query, signal }) {
  const state = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""]));
  const closed = new Set(["day"]); // facets, as the reader has left them
  const results = h("div", { class: "results", "aria-live": "off" });
  const facets = h("div", { class: "facets" });
  const count = h("p", { class: "quiet small count", role: "status" });
  const field = h("input", {
    type: "search",
    class: "big",
    "aria-label": "Search",
    placeholder: "Search sessions, observations and memories",
    autocomplete: "off",
    spellcheck: "false",
    prop: { value: query.get("q") ?? "" },
    oninput: () => soon(),
  });
  let running = null,
    shown = null;

  const asked = () => ({ q: field.value.trim(), ...state, project: state.project || chosen() });
  const narrowed = () => FILTERS.some((name) => state[name]);
  async function look(limit = AT_FIRST) {
    running?.abort();
    running = new AbortController();
    const mine = running;
    note("/search", { q: asked().q, ...state, limit: limit > AT_FIRST ? limit : "" });
    try {
      const found = await (asked().q ? best(asked(), limit, mine.signal) : newest(asked(), null, limit, mine.signal));
      if (mine === running) draw(found);
    } catch (error) {
      if (error.name === "AbortError" || mine !== running) return;
      replace(count);
      replace(facets);
      replace(results, h("p", { class: "note bad gap" }, code(error.message)), chips());
    }
  }
  async function more() {
    const before = shown;
    if (!before.newest) {
      await look(Math.min(MOST, before.limit + AT_ONCE));
      return;
    }
    const mine = running;
    const next = await newest(asked(), before.next, AT_ONCE, signal);
    if (shown !== before || running !== mine) return;
    draw({ ...next, hits: [...before.hits, ...next.hits] });
    note("/search", { limit: Math.min(MOST, shown.hits.length) });
  }
  /** It keeps the focus meanwhile, so it is not disabled by the browser. */
  async function press({ target }) {
    if (target.ariaDisabled) return;
    target.ariaDisabled = "true";
    await more().catch(failed);
    target.ariaDisabled = null;
  }
  function draw(found) {
    const [inResults, inFacets] = [keep(results), keep(facets)];
    shown = found;
    const hits = [...found.memories, ...found.hits];
    const button = h("button", { onclick: press }, "Show more");
    replace(count, hits.length > 0 && words(found));
    replace(results,
      hits.length
        ? h("ol", { class: "list long hits", "aria-label": "Hits" },
            hits.map((each) => hitRow(each, !found.newest)),
          )
        : none(),
      found.more && h("div", { class: "more" }, found.limit === MOST ? TOO_MANY : button),
    );
    replace(facets, chips(), FACETS.map(([name, title]) => facet(name, title, found)));
    inResults();
    inFacets();
  }
  function words(found) {
    if (found.newest && !narrowed()) return "The newest. Type to search: a word, a file, an error message, a question.";
    const all = [...found.memories, ...found.hits];
    const sum = all.reduce((total, each) => total + (each.tokens ?? 0), 0);
    const said = found.newest
      ? `The newest${found.more ? ` ${number(all.length)}` : ""} with these filters`
      : `${amount(found)} · ${compact(sum)} tokens in total`;
    return found.without ? `${said} · by words only: ${found.without}` : said;
  }
  function none() {
    return h("div", { class: "nothing" },
      field.value.trim() || narrowed()
        ? [
            h("p", {}, "No results."),
            h("p", {},
              "Use fewer words, or remove a filter.",
            ),
          ]
        : "Nothing recorded yet. Results appear after the first session of your coding agent.",
    );
  }
  function set(name, value) {
    if (name !== "day") state[name] = state[name] === String(value) ? "" : String(value);
    else if (isOn("day", value)) Object.assign(state, { since: "", until: "" });
    else Object.assign(state, { since: String(midnight(value)), until: String(midnight(value, 1)) });
    look();
  }
  const isOn = (name, value) =>
    name === "day" ? state.since === String(midnight(value)) : state[name] === String(value);
  function chips() {
    const on = FILTERS.filter((name) => state[name] && !(name === "until" && state.since));
    const said = (name) => {
      if (name === "project") return projectName(state.project);
      return name === "since" || name === "until" ? period(state) : state[name];
    };
    const clear = (name) => {
      Object.assign(state, { [name]: "" }, name === "since" && { until: "" });
      look();
    };
    const chip = (name) =>
      h(
        "button",
        { class: "chip accent", "aria-label": `Without ${said(name)}`, onclick: () => clear(name) },
        h("span", { class: "clip" }, said(name)),
        " ×",
      );
    return on.length > 0 && h("div", { class: "chips gap-below" }, on.map(chip));
  }
  function facet(name, title, { facets, complete = true }) {
    const values = facets[name] ?? [];
    if (!values.length || (name === "project" && chosen())) return null;
    const details = h("details", {
        class: "facet",
        open: !closed.has(name) || null,
        ontoggle: () => closed[details.open ? "delete" : "add"](name),
      },
      h("summary", {}, h("h2", { class: "inline" }, title)),
      h("ul", {},
        values.slice(0, VALUES).map(({ value, label, count: many }) =>
          h("li", {},
            h("button", {
                class: "facet-value",
                title: label ?? value,
                data: { keep: `${name} ${value}` },
                "aria-pressed": String(isOn(name, value)),
                onclick: () => set(name, value),
              },
              name === "type" ? typeLabel(value) : h("span", { class: "clip" }, label ?? value),
              many !== undefined && h("span", { class: "quiet number" }, number(many), !complete && "+"),
            ),
          ),
        ),
      ),
    );
    return details;
  }
  const soon = later(() => look(), 80);
  await look(Math.min(MOST, Number(query.get("limit")) || AT_FIRST));
  return {
    title: "Search",
    focus: field,
    leave: () => {
      soon.stop();
      running?.abort();
    },
    element: h("div", { class: "search" },
      h("h1", { class: "unseen" }, "Search"),
      h("div", { class: "search-field" }, icon("search"), field),
      count,
      h("div", { class: "columns left" },
        h("aside", { "aria-label": "Filters" },
          h("details", { class: "facets-holder", open: innerWidth > 1023 || null },
            h("summary", {}, "Filters"),
            facets,
          ),
        ),
        h("div", { class: "card flush" }, results),
      ),
    ),
  };
}

const TOO_MANY = `These are the best ${MOST} results. Narrow the search with more words or a filter.`;

function period({ since, until }) {
  if (Number(until) === midnight(localDay(Number(since)), 1)) return day(Number(since));
  return [since && `since ${moment(since)}`, until && `until ${moment(until)}`].filter(Boolean).join(" ");
}

/** A time may be words, too. */
const moment = (text) => (isNaN(new Date(Number(text))) ? text : day(Number(text)));

/** @returns {string} such as "12 of 67 hits"; not complete: at least so many match */
function amount({ hits, memories, more, total, complete, weak }) {
  const [all, every] = [hits.length + memories.length, total + memories.length];
  const close = weak ? ", no close match" : "";
  if (!more && complete) return `${plural(all, "hit")}${close}`;
  return `${number(all)} of ${number(every)}${complete ? "" : "+"} hits${close}`;
}

async function best(asked, limit, signal) {
  const found = await get("/api/search", { ...asked, limit }, signal);
  return { ...found, limit, memories: found.memories.map((each) => ({ kind: "memory", ...each })) };
}

/** Without words there is nothing to rank: the newest that the filters leave. */
async function newest({ q, ...filters }, before, limit, signal) {
  const page = await get("/api/observations", { ...filters, before, limit: Math.max(AT_ONCE, limit) }, signal);
  return {
    hits: page.items.map((each) => ({ kind: "observation", excerpt: each.subtitle, ...each })),
    memories: [],
    facets: { type: TYPES.map((value) => ({ value })) },
    newest: true,
    more: page.next !== null,
    next: page.next,
  };
}
