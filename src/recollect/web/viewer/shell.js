// The frame around every view: the bar at the top, the list of views, the help.
import { get } from "./api.js";
import { h, replace } from "./dom.js";
import { compact } from "./format.js";
import { icon } from "./icons.js";
import { choose, chosen, onProjects, projects } from "./projects.js";
import { onQuiet, onState } from "./stream.js";

export const VIEWS = [
  { key: "n", path: "/now", name: "Now", icon: "now" },
  { key: "t", path: "/timeline", name: "Timeline", icon: "timeline" },
  { key: "f", path: "/search", name: "Search", icon: "search" },
  { key: "s", path: "/sessions", name: "Sessions", icon: "sessions" },
  { key: "m", path: "/memories", name: "Memories", icon: "memories" },
  { key: "b", path: "/brief", name: "Brief", icon: "brief" },
  { key: "c", path: "/cost", name: "Cost", icon: "cost" },
  { key: "o", path: "/settings", name: "Settings", icon: "settings" },
];

export function buildShell(refresh) {
  const nav = document.getElementById("nav");
  replace(
    nav,
    h(
      "ul",
      {},
      VIEWS.map((view) =>
        h(
          "li",
          {},
          h(
            "a",
            { href: view.path, data: { view: view.path } },
            icon(view.icon),
            h("span", {}, view.name),
            h("kbd", { "aria-hidden": "true" }, `g ${view.key}`),
          ),
        ),
      ),
    ),
  );
  nav.addEventListener("click", () => openMenu(false));
  replace(
    document.getElementById("top"),
    h(
      "button",
      {
        type: "button",
        id: "menu",
        class: "ghost menu",
        "aria-label": "Views",
        "aria-expanded": "false",
        "aria-controls": "nav",
        onclick: () => openMenu(),
      },
      icon("menu"),
    ),
    h("a", { href: "/now", class: "brand" }, "recollect"),
    projectPicker(refresh),
    h("span", { class: "grow" }),
    statusLine(),
    h(
      "a",
      { href: "/search", class: "button ghost find", "aria-label": "Search" },
      icon("search"),
      h("kbd", { "aria-hidden": "true" }, "/"),
    ),
    h(
      "button",
      { type: "button", class: "ghost", "aria-label": "Dark or light", title: "Dark or light", onclick: toggleTheme },
      icon("moon"),
    ),
    h(
      "button",
      { type: "button", class: "ghost wide-only", "aria-label": "Help on keys", title: "Keys (?)", onclick: showHelp },
      icon("help"),
    ),
  );
}

export function openMenu(open) {
  const nav = document.getElementById("nav");
  const now = nav.classList.toggle("open", open);
  document.getElementById("menu").setAttribute("aria-expanded", String(now));
  if (now) nav.querySelector("a")?.focus();
}

export function markCurrent(path) {
  for (const link of document.querySelectorAll("#nav a")) {
    const mine =
      path === link.dataset.view ||
      path.startsWith(`${link.dataset.view}/`) ||
      (path.startsWith("/observations/") && link.dataset.view === "/sessions");
    if (mine) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function projectPicker(refresh) {
  const select = h("select", {
    class: "project",
    "aria-label": "Project",
    onchange: () => {
      choose(Number(select.value) || null);
      refresh();
    },
  });
  let drawn = "";
  const draw = () => {
    const now = JSON.stringify(projects().map((each) => [each.id, each.name]));
    if (now === drawn) return; // the list may be open
    drawn = now;
    replace(
      select,
      h("option", { value: "" }, "All projects"),
      projects().map((each) => h("option", { value: each.id }, each.name)),
    );
    select.value = String(chosen() ?? "");
  };
  draw();
  onProjects(draw);
  return select;
}

export function showChosenProject() {
  document.querySelector("select.project").value = String(chosen() ?? "");
}

function statusLine() {
  const dot = h("span", { class: "dot" });
  const text = h("span", { class: "wide-only" }, "connecting");
  const line = h("a", { href: "/now", class: "status" }, dot, text);
  let connection = "connecting",
    health = null;
  const draw = () => {
    const waiting = (health?.queue.pending ?? 0) + (health?.spool ?? 0);
    const bad = connection === "away" || health?.status === "degraded";
    dot.className = `dot ${bad ? "bad" : connection === "live" ? "good" : "wait"}`;
    const words =
      connection !== "live"
        ? connection === "connecting"
          ? "connecting"
          : "not connected"
        : health?.problem
          ? "needs a look"
          : waiting
            ? `${compact(waiting)} waiting`
            : "up to date";
    if (text.textContent !== words) text.textContent = words;
    line.title = health?.problem ?? `The worker is ${words}`;
    line.setAttribute("aria-label", `Worker: ${words}`);
  };
  const look = () =>
    get("/health")
      .then((found) => {
        health = found;
        draw();
      })
      .catch(() => {
        health = null;
        draw();
      });
  onState((state) => {
    connection = state;
    draw();
    if (state === "live") look();
  });
  onQuiet(["captured", "turn", "fault"], look, 1000);
  setInterval(look, 30_000);
  return line;
}

function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("recollect.theme", root.dataset.theme);
}

const KEYS = [
  ["/", "search"],
  ["j  k", "next, previous item"],
  ["Enter", "open the item"],
  ["Esc", "leave a field, close, go back up"],
  ["+  −", "zoom in the timeline"],
  ["←  →", "move in the timeline"],
  ["e  p  m  x", "edit, pin, merge, forget an observation"],
  ["u", "undo the last deed"],
  ["?", "this help"],
];

export function showHelp() {
  if (document.querySelector("dialog.help")) return;
  const dialog = h(
    "dialog",
    { class: "help", "aria-labelledby": "help-title", onclose: () => dialog.remove() },
    h("h2", { id: "help-title" }, "Keys"),
    h(
      "dl",
      {},
      VIEWS.map((view) => [h("dt", {}, h("kbd", {}, `g ${view.key}`)), h("dd", {}, view.name)]),
    ),
    h(
      "dl",
      {},
      KEYS.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]),
    ),
    h("form", { method: "dialog" }, h("button", {}, "Close")),
  );
  document.body.append(dialog);
  dialog.showModal();
}
