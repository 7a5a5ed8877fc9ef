// Which view stands for which address. The old view stays until the new one is ready: nothing flashes.
import { h, replace } from "./dom.js";
import { setKeys } from "./keys.js";
import { choose } from "./projects.js";
import { markCurrent, showChosenProject } from "./shell.js";

const ROUTES = [
  [/^\/(now)?$/, () => import("./views/now.js")],
  [/^\/timeline$/, () => import("./views/timeline.js")],
  [/^\/search$/, () => import("./views/search.js")],
  [/^\/sessions$/, () => import("./views/sessions.js")],
  [/^\/sessions\/(\d+)$/, () => import("./views/session.js")],
  [/^\/observations\/(\d+)$/, () => import("./views/observation.js")],
  [/^\/memories$/, () => import("./views/memories.js")],
  [/^\/memories\/([^/]+)$/, () => import("./views/memory.js")],
  [/^\/brief$/, () => import("./views/brief.js")],
  [/^\/cost$/, () => import("./views/cost.js")],
  [/^\/settings$/, () => import("./views/settings.js")],
];
let current = null; // { leave, aborter }
let visit = 0;

/**
 * A view is `default async ({id, query, signal}) => ({title, element, keys?, leave?, focus?})`.
 * @param {string} to
 */
export function navigate(to, { replacing = false } = {}) {
  if (replacing) history.replaceState(null, "", to);
  else {
    history.replaceState({ scroll: scrollY }, ""); // for the way back
    history.pushState(null, "", to);
  }
  return show();
}

/** The address changes, the view stays: for what can be seen in it. */
export function note(to) {
  history.replaceState(history.state, "", to);
}

export async function show({ kept = false, scroll = 0 } = {}) {
  const mine = ++visit;
  const main = document.getElementById("main");
  const query = new URLSearchParams(location.search);
  if (query.get("project")) {
    choose(Number(query.get("project")));
    showChosenProject();
  }
  const aborter = new AbortController();
  main.setAttribute("aria-busy", "true");
  document.body.classList.add("busy");
  markCurrent(location.pathname === "/" ? "/now" : location.pathname);
  let made;
  try {
    made = await load(location.pathname, query, aborter.signal);
  } catch (error) {
    made = trouble(error);
  }
  if (mine !== visit) {
    made.leave?.();
    aborter.abort();
    return;
  }
  current?.leave?.();
  current?.aborter.abort();
  current = { leave: made.leave, aborter };
  replace(main, made.element);
  main.removeAttribute("aria-busy");
  document.body.classList.remove("busy");
  document.title = `${made.title} · recollect`;
  setKeys(made.keys);
  if (!kept) {
    window.scrollTo(0, scroll);
    (made.focus ?? main).focus({ preventScroll: true });
  }
  made.shown?.();
}

async function load(path, query, signal) {
  for (const [pattern, module] of ROUTES) {
    const match = pattern.exec(path);
    if (match) {
      const view = await module();
      return view.default({ id: match[1] === undefined ? null : decodeURIComponent(match[1]), query, signal });
    }
  }
  return { title: "Not found", element: empty("There is no such page", "Choose a view from the list.") };
}

function trouble(error) {
  const again = h("button", { type: "button", onclick: () => show() }, "Try again");
  return {
    title: "Trouble",
    element: empty(error.status === 404 ? "Not here" : "That did not work", error.message, again),
  };
}

/** What stands where there is nothing yet: the next step. */
export function empty(title, text, ...more) {
  return h("div", { class: "empty" }, h("h1", {}, title), h("p", {}, text), more);
}

export function listenToLinks() {
  history.scrollRestoration = "manual";
  addEventListener("popstate", (event) => show({ scroll: event.state?.scroll ?? 0 }));
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target.closest?.("a[href]");
    const to = link?.getAttribute("href");
    if (!to?.startsWith("/") || link.getAttribute("target")) return;
    event.preventDefault();
    navigate(to);
  });
}
