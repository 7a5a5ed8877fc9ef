// Which view stands for which address. The old view stays until the new one is ready: nothing flashes.
import { get, url } from "./api.js";
import { confirmDiscard } from "./confirm_dialog.js";
import { code, h, later, replace } from "./dom.js";
import { keep, remember, remembered } from "./view_state.js";
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
let place = remembered("place") ?? 0; // in this tab's history
let returning = false; // to where the reader was, because something is not saved there
let asking = false; // whether to go back

/**
 * A view is `default async ({id, query, signal}) => ({title, element, keys?, leave?, unsaved?, focus?, shown?})`.
 * @param {string} to
 * @param {{kept?: boolean}} [how] `kept`: another look at the same, so the focus stays where it is
 */
export async function navigate(to, { kept = false } = {}) {
  if (!(await mayLeave())) return;
  remember({ scroll: scrollY });
  place += 1;
  history.pushState({ place }, "", to);
  await show({ kept });
}

/** The same view with what is true now. @param {string} [focus] the `data-keep` of what has the focus then */
export async function again(focus) {
  if (await mayLeave()) await show({ kept: true, focus });
}

/** Writes what a view shows into its address, so that a reload and Back show the same. Empty values are removed.
 * @param {string} path of the view that calls: once another one is shown it is too late */
export function note(path, values) {
  if (path !== location.pathname) return;
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values)) {
    if ((value ?? "") === "") query.delete(name);
    else query.set(name, String(value));
  }
  history.replaceState(history.state, "", url(path, Object.fromEntries(query)));
}

const saveScroll = () => document.body.classList.contains("busy") || remember({ scroll: scrollY });

const unsaved = () => current?.unsaved?.() ?? false;

/** Asks when something that was typed would be lost. */
export async function mayLeave() {
  if (!unsaved()) return true;
  if (!(await confirmDiscard())) return false;
  current.unsaved = null;
  return true;
}

export async function show({ kept = false, scroll = 0, focus } = {}) {
  const mine = ++visit;
  const main = document.getElementById("main");
  const query = new URLSearchParams(location.search);
  const aborter = new AbortController();
  if (!kept) setKeys({}); // those of the view that is left would act on what the address no longer names
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
  document.title = `${made.title} · aforesaid`;
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
  return { title: "Not found", element: empty("Page not found", "Choose a view from the menu.") };
}

/** A file that did not come is not asked for again by the browser before the page itself is, once that can help. */
async function loadAnew(error) {
  await get("/health"); // else the error says that the server is unavailable
  if (remembered("reloaded")) throw error;
  remember({ reloaded: true });
  location.reload();
  return new Promise(() => {}); // what is shown stays until then
}

function trouble(error) {
  const missing = error.status === 404;
  const retry = h("button", { onclick: () => show() }, "Try again");
  const hidden = missing && h("p", {}, h("a", { href: "/sessions?status=hidden" }, "Hidden observations"));
  return {
    title: "Error",
    away: error.code === "away",
    element: empty(missing ? "Not found" : "Something went wrong", error.message, hidden, retry),
  };
}

/** What stands where there is nothing yet: the next step. */
export function empty(title, text, ...more) {
  return h("div", { class: "empty" }, h("h1", {}, title), h("p", {}, code(text)), more);
}

/** What stands where something could not be read: not the same as nothing. */
export const unread = (error) => h("p", { class: "note bad" }, "This could not be loaded. ", code(error.message));

export function listenToLinks() {
  history.scrollRestoration = "manual";
  remember({ place });
  addEventListener("scroll", later(saveScroll, 100), { passive: true });
  addEventListener("pagehide", saveScroll);
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
