// All sessions, newest first; and what was forgotten.
import { get, url } from "../api.js";
import { h } from "../dom.js";
import { forgottenList } from "../forgotten.js";
import { pagedList } from "../pages.js";
import { nothing } from "../parts.js";
import { chosen, namedProject } from "../projects.js";
import { empty, navigate } from "../router.js";
import { sessionRow } from "../rows.js";

const FORGOTTEN = "forgotten";
const STATES = [
  ["", "All"],
  ["active", "Active"],
  ["completed", "Completed"],
  ["interrupted", "Interrupted"],
  [FORGOTTEN, "Forgotten"],
];

export default async function sessions({ query, signal }) {
  const status = query.get("status") ?? "";
  const paged = await (status === FORGOTTEN ? forgottenList(signal) : sessionList(status, signal));
  return {
    title: status === FORGOTTEN ? "Forgotten" : "Sessions",
    leave: paged.stop,
    element: h("div", {},
      h("div", { class: "head" },
        h("h1", {}, status === FORGOTTEN ? "Forgotten" : "Sessions"),
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
    first: await load(null),
    row: sessionRow,
    label: "Sessions",
    nothing: status
      ? nothing(`No session is ${status}.`)
      : empty(
          "No sessions yet",
          "Let recollect watch your coding agent, then work as you always do.",
          h("pre", {}, "recollect install"),
        ),
  });
}
