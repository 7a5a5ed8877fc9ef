// Lines of lists that several views share.
import { code, h } from "./dom.js";
import { absolute, clock, compact, lasting, plural, short, when } from "./format.js";
import { icon, SHAPES, typeMark } from "./icons.js";
import { projects } from "./projects.js";

export const TYPES = Object.keys(SHAPES);

export function typeLabel(type) {
  return h("span", { class: `type type-${SHAPES[type] ? type : "change"}` }, typeMark(type), type);
}

/** @param {any} it as `/api/observations` lists them */
export function observationRow(it, { time = true } = {}) {
  return h("li", { data: { id: it.id } },
    h("a", { class: "row", href: `/observations/${it.id}`, data: { item: "" } },
      typeLabel(it.type),
      h("span", { class: "what" },
        h("span", { class: "title" }, code(short(it.title || "Untitled"))),
        " ",
        it.pinned && h("span", { class: "chip accent" }, icon("pin"), "pinned"),
        " ",
        it.repeats &&
          h("span", { class: "chip", title: `Duplicate of #${it.repeats}` }, "duplicate"),
        " ",
        it.unverified && h("span", { class: "chip", title: "Some of it is not supported by the events" }, "unverified"),
        it.subtitle && h("span", { class: "sub block" }, code(short(it.subtitle))),
      ),
      h("span", { class: "side" }, time && when(it.at)),
    ),
  );
}

export function sessionRow(it) {
  return h("li", { data: { id: it.id } },
    h("a", { class: "row session-row", href: `/sessions/${it.id}`, data: { item: "" } },
      h("span", { class: "what" },
        h("span", { class: "title" }, short(it.title || "Untitled session")),
        " ",
        it.status === "active" && h("span", { class: "chip good" }, "active"),
        h("span", { class: "sub block" },
          it.project,
          " · ",
          plural(it.prompts, "prompt"),
          " · ",
          plural(it.observations, "observation"),
          " · ",
          lasting((it.ended_at ?? it.last_event_at) - it.started_at),
        ),
      ),
      typeBar(it.types),
      h("span", { class: "side" }, when(it.last_event_at)),
    ),
  );
}

/** How much of each type, as a strip; its words are in the label. */
export function typeBar(types) {
  const all = Object.entries(types).filter(([, count]) => count > 0);
  const total = all.reduce((sum, [, count]) => sum + count, 0);
  const words = all.map(([type, count]) => `${count} ${type}`).join(", ");
  return h("span", { class: "type-bar", role: "img", "aria-label": words || "no observations", title: words },
    TYPES.filter((type) => types[type]).map((type) =>
      h("span", { class: `fill-${type}`, css: { "flex-grow": String(types[type] / total) } }),
    ),
  );
}

/** A tool call or another event; its raw form opens in place. */
export function eventRow(it, open) {
  const body = h("div", { class: "raw" });
  const details = h("details", { class: "event", ontoggle: () => details.open && open(it, body) },
    h("summary", { data: { item: "" } },
      h("span", { class: "mono" }, it.tool ?? it.kind.replace("_", " ")),
      " ",
      h("span", { class: "clip" }, it.title === it.tool ? "" : shorterPaths(it.title)),
      " ",
      it.from_transcript && h("span", { class: "chip", title: "Restored from the transcript; no hook reported it" }, "from the transcript"),
      it.subagent && h("span", { class: "chip" }, it.subagent),
      h("span", { class: "side quiet" },
        h("time", { title: absolute(it.at) }, clock(it.at)),
        ` · ${compact(it.size)} B`,
      ),
    ),
    body,
  );
  return h("li", {}, details);
}

const FRESH = "unchanged";

export function freshnessChip(freshness) {
  const state = freshness?.state;
  if (!state || state === "unknown") return null; // no longer known
  return h(
    "span",
    { class: `chip ${state === FRESH ? "good" : "bad"}`, title: "Whether its files have changed since" },
    state,
  );
}

/** For lists: only what has changed is worth a word. */
export function staleChip(freshness) {
  return freshness?.state === FRESH ? null : freshnessChip(freshness);
}

/** Paths of an agent begin at the root of the disk; here they begin at the project's. */
function shorterPaths(text) {
  return projects().reduce((left, each) => (each.root ? left.replaceAll(`${each.root}/`, "") : left), text);
}
