// One session, turn by turn: what was asked, what came of it, and the events behind it.
import { get } from "../api.js";
import { h } from "../dom.js";
import { absolute, clock, compact, lasting, money, number, plural, tokens, when } from "../format.js";
import { markdown } from "../markdown.js";
import { pagedList } from "../pages.js";
import { card, nothing, pairs } from "../parts.js";
import { Pill } from "../pill.js";
import { memoryAddress } from "../projects.js";
import { openRaw } from "../raw.js";
import { again, unread } from "../router.js";
import { eventRow, observationRow, typeBar } from "../rows.js";
import { onQuiet } from "../stream.js";

const PARTS = [
  ["request", "Asked"],
  ["investigated", "Investigated"],
  ["learned", "Learned"],
  ["completed", "Done"],
  ["next_steps", "Next"],
  ["notes", "Notes"],
];

export default async function session({ id, signal }) {
  const path = `/api/sessions/${id}`;
  const [found, injected] = await Promise.all([
    get(path, {}, signal),
    get(`${path}/injected`, {}, signal).catch((error) => error),
  ]);
  const pill = new Pill();
  const look = async () => {
    const now = await get(path).catch(() => found);
    const more = size(now) - size(found);
    if (more > 0) pill.offer(`${number(more)} new: show`, again);
    else if (said(now) !== said(found)) pill.offer("Changed: reload", again);
  };
  const mine = (data) => data.session_id === found.id || found.observations.some((each) => each.id === data.id);
  return {
    title: found.title || "Session",
    leave: onQuiet(["captured", "observation", "summary", "turn", "changed"], look, 400, mine),
    element: h("div", {},
      pill.element,
      head(found),
      h("div", { class: "columns" },
        h("div", { class: "stack" }, turns(found), events(found, signal)),
        h("aside", { class: "stack", "aria-label": "About this session" },
          about(found),
          cost(found.cost),
          injectedCard(injected),
        ),
      ),
    ),
  };
}

const LIVE = ["prompts", "summaries", "observations"];
const size = (found) => LIVE.reduce((sum, part) => sum + found[part].length, 0);
const said = (found) => JSON.stringify(LIVE.map((part) => found[part]));

function head(found) {
  return h("div", { class: "head" },
    h("h1", {}, found.title || "Untitled session"),
    h("span", { class: `chip ${found.status === "active" ? "good" : ""}` }, found.status),
    when(found.last_event_at),
  );
}

function turns(found) {
  const numbers = new Set(
    [...found.prompts, ...found.summaries, ...found.observations].map((each) => each.number ?? each.prompt_number),
  );
  if (!numbers.size) {
    return card("Nothing yet",
      nothing("Observations appear when a turn has been processed."),
    );
  }
  return [...numbers]
    .sort((a, b) => a - b)
    .map((number) =>
      turn(
        found.prompts.find((each) => each.number === number) ?? { number },
        found.summaries.filter((each) => each.prompt_number === number).map((each) => summary(each, found.project_id)),
        found.observations.filter((each) => each.prompt_number === number),
      ),
    );
}

function turn(prompt, summaries, observations) {
  return h("section", { class: "card turn", "aria-label": `Prompt ${prompt.number}` },
    h("div", { class: "prompt" },
      h("span", { class: "turn-number", title: `Prompt ${prompt.number}` }, prompt.number),
      h("p", { class: "said" }, prompt.text ?? "Before the first prompt"),
      prompt.at && h("time", { class: "when", title: absolute(prompt.at) }, clock(prompt.at)),
    ),
    summaries,
    observations.length > 0 &&
      h("ol", { class: "list", "aria-label": "Observations" },
        observations.map((each) => observationRow(each, { time: false })),
      ),
  );
}

function summary(it, project) {
  return h("dl", { class: "summary" },
    PARTS.filter(([part]) => it[part]).map(([part, name]) => [
      h("dt", {}, name),
      h("dd", { class: "prose" }, markdown(it.content[part], project)),
    ]),
  );
}

function events(found, signal) {
  const place = h("div", {});
  const load = (after) => get(`/api/sessions/${found.id}/events`, { after, limit: 100 }, signal);
  const details = h("details", {
      ontoggle: () => {
        if (!details.open || place.childElementCount) return;
        place.append(
          pagedList({
            load,
            row: (each) => eventRow(each, openRaw),
            label: "Events",
            nothing: nothing("No events."),
          }).element,
        );
      },
    },
    h("summary", { data: { item: "" } }, h("h2", { class: "inline" }, "Events"), " as the agent sent them"),
    place,
  );
  return h("section", { class: "card" }, details);
}

function about(found) {
  const end = found.ended_at ?? found.last_event_at;
  const rows = [
    ["Project", found.project],
    ["Agent", found.agent],
    ["Started", absolute(found.started_at)],
    ["Duration", lasting(end - found.started_at)],
    ["Prompts", number(found.prompts.length)],
    ["Observations", number(found.observations.length)],
  ];
  return card("Session",
    pairs(rows),
    h("div", { class: "gap" }, typeBar(found.types)),
    h("p", { class: "mono quiet small gap" }, found.ref),
  );
}

function cost(spent) {
  return card("Cost",
    spent.requests
      ? pairs([
          ["Requests", number(spent.requests)],
          ["Sent", `${compact(spent.sent)} tokens`],
          ["Received", `${compact(spent.received)} tokens`],
          ["Money", money(spent.microdollars)],
        ])
      : nothing("Processed without a model. No cost."),
  );
}

const HOOKS = { context: "at the start", new: "at a prompt", file: "before a file", compact: "after compaction" };

function injectedCard(injected) {
  if (injected instanceof Error) return card("Injected", unread(injected));
  const items = injected.items;
  const sum = (some) => some.reduce((all, each) => all + each.tokens, 0);
  const groups = Map.groupBy(items, (each) => `${HOOKS[each.hook] ?? each.hook}, ${clock(each.at)}`);
  return h("section", { class: "card" },
    h("div", { class: "card-head" }, h("h2", {}, "Injected"), items.length > 0 && tokens(sum(items))),
    items.length
      ? [...groups].map(([name, some]) =>
          h("details", { class: "injected-group", open: some.length < 4 || null },
            h("summary", { data: { item: "" } },
              name,
              h("span", { class: "quiet small" }, ` · ${plural(some.length, "item")} · ${compact(sum(some))} tokens`),
            ),
            h("ol", { class: "list injected" }, some.map(injectedRow)),
          ),
        )
      : nothing("Nothing was injected into this session."),
  );
}

function injectedRow(it) {
  const to = injectedAddress(it),
    title = it.title || it.kind;
  return h("li", {},
    to ? h("a", { href: to }, title) : title,
    h("span", { class: "sub block quiet small" }, `${it.reason} · ${compact(it.tokens)} tokens`),
  );
}

function injectedAddress(it) {
  if (it.kind === "memory") return memoryAddress(it.name, it.project_id);
  return it.kind === "observation" ? `/observations/${it.id}` : null;
}
