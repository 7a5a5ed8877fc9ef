// Which view stands for which address. The old view stays until the new one is ready: nothing flashes.
import { get } from "./api.js";
import { askToThrowAway } from "./asking.js";
import { code, h, replace } from "./dom.js";
import { keep } from "./keeping.js";
import { setKeys } from "./keys.js";
import { isKnown, namedProject, nameProject } from "./projects.js";
import { markCurrent } from "./shell.js";
import { onState } from "./stream.js";

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
let current = null; // { leave, unsaved, aborter, away }
let visit = 0;
let place = history.state?.place ?? 0; // in this tab's history
let returning = false; // to where the reader was, because something is not saved there
let asking = false; // whether to go back

/**
 * A view is `default async ({id, query, signal}) => ({title, element, keys?, leave?, unsaved?, focus?, shown?})`.
 * @param {string} to
 * @param {{kept?: boolean}} [how] `kept`: another look at the same, so the focus stays where it is
 */
export async function navigate(to, { kept = false } = {}) {
  if (!(await mayLeave())) return;
  history.replaceState({ place, scroll: scrollY }, ""); // for the way back
  place += 1;
  history.pushState({ place }, "", to);
  await show({ kept });
}

/** The same view with what is true now. @param {string} [focus] the `data-keep` of what has the focus then */
export async function again(focus) {
  if (await mayLeave()) await show({ kept: true, focus });
}

/** The address changes, the view stays: for what can be seen in it. Once another view is shown it is too late. */
export function note(to) {
  if (to.split("?")[0] === location.pathname) history.replaceState(history.state, "", to);
}

const unsaved = () => current?.unsaved?.() ?? false;

/** Asks when something that was typed would be lost. */
export async function mayLeave() {
  if (!unsaved()) return true;
  if (!(await askToThrowAway())) return false;
  current.unsaved = null;
  return true;
}

export async function show({ kept = false, scroll = 0, focus } = {}) {
  const mine = ++visit;
  const main = document.getElementById("main");
  const query = new URLSearchParams(location.search);
  const aborter = new AbortController();
  nameProject(Number(query.get("project")) || null);
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
  current = { leave: made.leave, unsaved: made.unsaved, aborter, away: made.away };
  const restore = keep(main);
  replace(main, made.element);
  main.removeAttribute("aria-busy");
  document.body.classList.remove("busy");
  document.title = `${made.title} · recollect`;
  setKeys(made.keys);
  if (kept) restore(focus);
  else {
    window.scrollTo(0, scroll);
    (made.focus ?? main).focus({ preventScroll: true });
  }
  made.shown?.();
}

async function load(path, query, signal) {
  if (!(await isKnown()))
    return { title: "Not found", element: empty(`There is no project ${namedProject()}`, "Choose one at the top.") };
  for (const [pattern, module] of ROUTES) {
    const match = pattern.exec(path);
    if (match) {
      const view = await module().catch(loadAnew);
      return view.default({ id: match[1] === undefined ? null : decodeURIComponent(match[1]), query, signal });
    }
  }
  return { title: "Not found", element: empty("There is no such page", "Choose a view from the list.") };
}

/** A file that did not come is not asked for again by the browser before the page itself is, once that can help. */
async function loadAnew(error) {
  await get("/health"); // else it is said that nobody answers
  if (history.state.anew) throw error;
  history.replaceState({ ...history.state, anew: true }, "");
  location.reload();
  return new Promise(() => {}); // what is shown stays until then
}

function trouble(error) {
  const missing = error.status === 404;
  const retry = h("button", { onclick: () => show() }, "Try again");
  const forgotten = missing && h("p", {}, h("a", { href: "/sessions?status=forgotten" }, "What was forgotten"));
  return {
    title: "Trouble",
    away: error.code === "away",
    element: empty(missing ? "Not here" : "That did not work", error.message, forgotten, retry),
  };
}

/** What stands where there is nothing yet: the next step. */
export function empty(title, text, ...more) {
  return h("div", { class: "empty" }, h("h1", {}, title), h("p", {}, code(text)), more);
}

/** What stands where something could not be read: not the same as nothing. */
export const unread = (error) => h("p", { class: "note bad" }, "This could not be read. ", code(error.message));

export function listenToLinks() {
  history.scrollRestoration = "manual";
  history.replaceState({ ...history.state, place }, "");
  addEventListener("popstate", wentBack);
  onState((state) => state === "live" && current?.away && show({ kept: true }));
  addEventListener("beforeunload", (event) => {
    if (unsaved()) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target.closest?.("a[href]");
    const to = link?.getAttribute("href");
    if (to === "#main") document.getElementById("main").focus();
    else if (!to?.startsWith("/") || link.getAttribute("target")) return;
    else navigate(to);
    event.preventDefault();
  });
}

/** The browser has gone already: to ask, it is sent back to what is not saved first. */
async function wentBack(event) {
  const to = event.state?.place ?? 0;
  if (returning) {
    returning = false;
    return;
  }
  if (!unsaved() || to === place) {
    place = to;
    await show({ scroll: event.state?.scroll ?? 0 });
    return;
  }
  returning = true;
  history.go(place - to);
  if (asking) return; // Back was pressed again
  asking = true;
  const gone = await mayLeave();
  asking = false;
  if (gone) history.go(to - place);
}
