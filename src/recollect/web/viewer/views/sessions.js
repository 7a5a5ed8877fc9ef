// All sessions, newest first.
import { get, url } from "../api.js";
import { h } from "../dom.js";
import { pagedList } from "../pages.js";
import { chosen } from "../projects.js";
import { empty, navigate } from "../router.js";
import { sessionRow } from "../rows.js";

const STATES = [["", "All"], ["active", "Active"], ["completed", "Completed"], ["interrupted", "Interrupted"]];

export default async function sessions({ query, signal }) {
  const status = query.get("status") ?? "";
  const load = (before) => get("/api/sessions", { project: chosen(), status, before, limit: 50 }, signal);
  const first = await load(null);
  const paged = pagedList({
    load, first, row: sessionRow, label: "Sessions",
    nothing: empty("No sessions yet", "Let recollect watch your coding agent, then work as you always do.",
      h("pre", {}, "recollect install claude-code")),
  });
  return {
    title: "Sessions",
    leave: paged.stop,
    element: h("div", {},
      h("div", { class: "head" }, h("h1", {}, "Sessions"),
        h("div", { class: "group", role: "group", "aria-label": "Which sessions" }, STATES.map(([value, name]) =>
          h("button", { type: "button", "aria-pressed": String(status === value),
            onclick: () => navigate(url("/sessions", { status: value })) }, name)))),
      h("div", { class: "card flush" }, paged.element)),
  };
}
