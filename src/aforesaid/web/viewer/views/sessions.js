// All sessions, newest first; and hidden observations.
import { get, url } from "../api.js";
import { h } from "../dom.js";
import { hiddenList } from "../hidden.js";
import { firstPages, pagedList } from "../pages.js";
import { nothing } from "../parts.js";
import { chosen, namedProject } from "../projects.js";
import { empty, navigate } from "../router.js";
import { sessionRow } from "../rows.js";

const HIDDEN = "hidden";
const STATES = [
  ["", "All"],
  ["active", "Active"],
  ["completed", "Completed"],
  ["interrupted", "Interrupted"],
  [HIDDEN, "Hidden"],
];

export default async function sessions({ query, signal }) {
  const status = query.get("status") ?? "";
  const paged = await (status === HIDDEN ? hiddenList(signal) : sessionList(status, signal));
  return {
    title: status === HIDDEN ? "Hidden" : "Sessions",
    leave: paged.stop,
    element: h("div", {},
      h("div", { class: "head" },
        h("h1", {}, status === HIDDEN ? "Hidden" : "Sessions"),
        h("div", { class: "group scrolls", role: "group", "aria-label": "Which sessions" },
          STATES.map(([value, name]) =>
            h("button", {
                "aria-pressed": String(status === value),
                onclick: () =>
                  navigate(url("/sessions", { status: value, project: namedProject() }), { kept: true }),
              },
              name,
            ),
          ),
        ),
      ),
      h("div", { class: "card flush" }, paged.element),
    ),
  };
}

async function sessionList(status, signal) {
  const load = (before) => get("/api/sessions", { project: chosen(), status, before, limit: 50 }, signal);
  return pagedList({
    load,
    first: await firstPages(load),
    row: sessionRow,
    label: "Sessions",
    nothing: status
      ? nothing(`No session is ${status}.`)
      : empty(
          "No sessions yet",
          "Install the hooks for your coding agent. Its sessions appear here.",
          h("pre", {}, "aforesaid install"),
        ),
  });
}
