// Finds as you type. What each hit costs and why it was found stand beside it.
import { get, url } from "../api.js";
import { h, later, marked, replace } from "../dom.js";
import { compact, number, plural, short, tokens, when } from "../format.js";
import { icon } from "../icons.js";
import { chosen, projectName } from "../projects.js";
import { note } from "../router.js";
import { staleChip, TYPES, typeLabel } from "../rows.js";

const FACETS = [
  ["type", "Type"],
  ["concept", "Concept"],
  ["file", "File"],
  ["agent", "Agent"],
  ["project", "Project"],
  ["day", "Day"],
];
const FILTERS = ["type", "concept", "file", "agent", "project", "since", "until"];

export default async function search({ query, signal }) {
  const state = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""]));
  const results = h("div", { class: "results", "aria-live": "off" });
  const facets = h("div", { class: "facets" });
  const count = h("p", { class: "quiet small count", role: "status" });
  const field = h("input", {
    type: "search",
    class: "big",
    "aria-label": "Search",
    placeholder: "What do you want to know again?",
    autocomplete: "off",
    spellcheck: "false",
    prop: { value: query.get("q") ?? "" },
    oninput: () => soon(),
  });
  let running = null;

  async function look() {
    running?.abort();
    running = new AbortController();
    const mine = running;
    const asked = { q: field.value.trim(), ...state, project: state.project || chosen() };
    note(url("/search", { q: asked.q, ...state }));
    try {
      const found = asked.q
        ? await get("/api/search", { ...asked, limit: 30 }, mine.signal)
        : await newest(asked, mine.signal);
      if (mine === running) draw(found);
    } catch (error) {
      if (error.name !== "AbortError" && mine === running) {
        replace(results, h("p", { class: "note bad" }, error.message));
      }
    }
  }
  function draw(found) {
    const hits = [...(found.memories ?? []).map((each) => ({ kind: "memory", ...each })), ...found.hits];
    const sum = hits.reduce((all, each) => all + (each.tokens ?? 0), 0);
    replace(
      count,
      found.newest
        ? "The newest. Type to search: a word, a file, an error message, a question."
        : hits.length
          ? `${plural(hits.length, "hit")} · ${compact(sum)} tokens to tell all of them`
          : "",
      found.without?.length ? ` · by words only, without ${[found.without].flat().join(", ")}` : "",
    );
    replace(
      results,
      hits.length
        ? h(
            "ol",
            { class: "list hits", "aria-label": "Hits" },
            hits.map((each) => hit(each, asks())),
          )
        : nothing(),
    );
    replace(
      facets,
      chips(),
      FACETS.map(([name, title]) => facet(name, title, found.facets?.[name] ?? [])),
    );
  }
  const asks = () => field.value.trim() || FILTERS.some((name) => state[name]);
  function nothing() {
    return h(
      "div",
      { class: "nothing" },
      asks()
        ? [
            h("p", {}, "Nothing like that is remembered."),
            h(
              "p",
              {},
              "Use fewer words, or take a filter away. Everything an agent did is found by words, files and meaning.",
            ),
          ]
        : "Nothing is remembered yet. Work with your coding agent, then look here again.",
    );
  }
  function set(name, value) {
    if (name === "day") {
      const from = Date.parse(`${value}T00:00:00`);
      const same = state.since === String(from);
      Object.assign(state, { since: same ? "" : String(from), until: same ? "" : String(from + 86_400_000) });
    } else state[name] = state[name] === String(value) ? "" : String(value);
    look();
  }
  function chips() {
    const on = FILTERS.filter((name) => state[name] && name !== "until");
    return (
      on.length > 0 &&
      h(
        "div",
        { class: "chips gap-below" },
        on.map((name) =>
          h(
            "button",
            {
              type: "button",
              class: "chip accent",
              onclick: () => {
                Object.assign(state, name === "since" ? { since: "", until: "" } : { [name]: "" });
                look();
              },
            },
            name === "project"
              ? projectName(state.project)
              : name === "since"
                ? `from ${new Date(Number(state.since)).toLocaleDateString("en-GB")}`
                : state[name],
            " ×",
          ),
        ),
      )
    );
  }
  function facet(name, title, values) {
    if (!values.length || (name === "project" && chosen())) return null;
    return h(
      "details",
      { class: "facet", open: name !== "day" || null },
      h("summary", {}, h("h2", { class: "inline" }, title)),
      h(
        "ul",
        {},
        values.slice(0, 8).map(({ value, label, count: many }) => {
          const on =
            name === "day" ? state.since === String(Date.parse(`${value}T00:00:00`)) : state[name] === String(value);
          return h(
            "li",
            {},
            h(
              "button",
              { type: "button", class: "facet-value", "aria-pressed": String(on), onclick: () => set(name, value) },
              name === "type" ? typeLabel(value) : h("span", { class: "clip" }, label ?? value),
              many !== null && h("span", { class: "quiet number" }, number(many)),
            ),
          );
        }),
      ),
    );
  }
  const soon = later(look, 80);
  await look();
  return {
    title: "Search",
    focus: field,
    leave: () => running?.abort(),
    keys: {},
    element: h(
      "div",
      { class: "search" },
      h("h1", { class: "unseen" }, "Search"),
      h("div", { class: "search-field" }, icon("search"), field),
      count,
      h(
        "div",
        { class: "columns left" },
        h(
          "aside",
          { "aria-label": "Filters" },
          h(
            "details",
            { class: "facets-holder", open: innerWidth > 1023 || null },
            h("summary", {}, "Filters"),
            facets,
          ),
        ),
        h("div", { class: "card flush" }, results),
      ),
    ),
  };
}

/** Without words there is nothing to look for: the newest, of a type or a concept. */
async function newest({ project, type, concept }, signal) {
  const page = await get("/api/observations", { project, type, concept, limit: 30 }, signal);
  const types = TYPES.map((value) => ({ value, count: null }));
  return {
    hits: page.items.map((each) => ({ kind: "observation", excerpt: each.subtitle, ...each })),
    memories: [],
    facets: { type: types },
    newest: true,
  };
}

function hit(it, asked) {
  const to =
    it.kind === "memory"
      ? url(`/memories/${encodeURIComponent(it.name)}`, { project: it.project_id })
      : it.kind === "observation"
        ? `/observations/${it.id}`
        : `/sessions/${it.session_id}`;
  const reasons = (it.reasons ?? []).filter((each) => each.points !== 0);
  return h(
    "li",
    {},
    h(
      "a",
      { class: "row hit", href: to, data: { item: "" } },
      it.kind === "observation" ? typeLabel(it.type) : h("span", { class: "type quiet" }, it.kind),
      h(
        "span",
        { class: "what" },
        h(
          "span",
          { class: "title" },
          marked(short(it.marked_title || it.title || it.description || it.name || "Untitled", 240)),
        ),
        " ",
        it.pinned && h("span", { class: "chip accent" }, "pinned"),
        " ",
        it.doubted && h("span", { class: "chip" }, "doubted"),
        " ",
        it.superseded && h("span", { class: "chip" }, "superseded"),
        " ",
        staleChip(it.freshness),
        (it.excerpt || it.description) && h("span", { class: "excerpt" }, marked(it.excerpt || it.description)),
        asked &&
          reasons.length > 0 &&
          h(
            "span",
            { class: "why" },
            reasons
              .slice(0, 4)
              .map((each) =>
                h(
                  "span",
                  { class: "reason", title: each.because ? `${each.because}` : "" },
                  each.name,
                  h("span", { class: "number" }, ` ${Number(each.points) > 0 ? "+" : ""}${round(each.points)}`),
                ),
              ),
          ),
      ),
      h("span", { class: "side" }, tokens(it.tokens), it.at ? when(it.at) : null),
    ),
  );
}

const round = (points) => (Math.abs(points) >= 10 ? Math.round(points) : Math.round(points * 100) / 100);
