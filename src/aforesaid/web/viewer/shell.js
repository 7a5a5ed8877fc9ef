// The frame around every view: the bar at the top, the list of views, the help.
import { get, url } from "./api.js";
import { h, opened, replace } from "./dom.js";
import { compact } from "./format.js";
import { icon } from "./icons.js";
import { lettersAreOn, turnLetters } from "./keys.js";
import { choose, chosen, namedProject, onProjects, projects } from "./projects.js";
import { again, mayLeave, navigate } from "./router.js";
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

export function buildShell() {
  const nav = document.getElementById("nav");
  replace(nav,
    h("ul", {},
      VIEWS.map((view) =>
        h("li", {},
          h("a", { href: view.path, data: { view: view.path } },
            icon(view.icon),
            h("span", {}, view.name),
            h("kbd", { "aria-hidden": "true" }, `g ${view.key}`),
          ),
        ),
      ),
      h("li", { class: "narrow-only" },
        h("button", { class: "ghost", onclick: showHelp }, icon("help"), "Keyboard shortcuts"),
      ),
    ),
  );
  nav.addEventListener("click", () => openMenu(false));
  replace(
    document.getElementById("top"),
    h("button", {
        id: "menu",
        class: "ghost menu",
        "aria-label": "Views",
        "aria-expanded": "false",
        "aria-controls": "nav",
        onclick: () => openMenu(),
      },
      icon("menu"),
    ),
    h("a", { href: "/now", class: "brand" }, "aforesaid"),
    projectPicker(),
    h("span", { class: "grow" }),
    statusLine(),
    h("a", { href: "/search", class: "button ghost find", "aria-label": "Search" },
      icon("search"),
      h("kbd", { "aria-hidden": "true" }, "/"),
    ),
    themeButton(),
    h(
      "button",
      { class: "ghost wide-only", "aria-label": "Keyboard shortcuts", title: "Keyboard shortcuts (?)", onclick: showHelp },
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

export const menuIsOpen = () => document.getElementById("nav").classList.contains("open");

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

function projectPicker() {
  const select = h("select", { class: "project", "aria-label": "Project", onchange: () => pick(select) });
  let drawn = "";
  const draw = () => {
    const now = JSON.stringify(projects().map((each) => [each.id, each.name]));
    if (now !== drawn) {
      // else the list may be open
      drawn = now;
      replace(select,
        h("option", { value: "" }, "All projects"),
        projects().map((each) => h("option", { value: each.id }, each.name)),
      );
    }
    select.value = String(chosen() ?? "");
  };
  draw();
  onProjects(draw);
  return select;
}

/** The choice holds from here on, and wins over a project that the address names. */
async function pick(select) {
  const id = Number(select.value) || null;
  if (await mayLeave()) choose(id);
  else {
    select.value = String(chosen() ?? "");
    return;
  }
  if (!namedProject()) await again();
  else if (location.pathname.startsWith("/memories/")) await navigate("/memories");
  else {
    const rest = new URLSearchParams(location.search);
    rest.delete("project");
    await navigate(url(location.pathname, Object.fromEntries(rest)), { kept: true });
  }
}

function statusLine() {
  const dot = h("span", { class: "dot" });
  const text = h("span", { class: "wide-only" }, "connecting");
  const line = h("a", { href: "/now", class: "status" }, dot, text);
  let connection = "connecting",
    health = null,
    silent = false;
  const draw = () => {
    const waiting = health ? health.queue.pending + health.spool : 0;
    const bad = connection === "away" || silent || health?.problem;
    dot.className = `dot ${bad ? "bad" : connection === "live" && health ? "good" : "wait"}`;
    let words = "up to date";
    if (silent && connection !== "live") words = "stopped: run aforesaid open";
    else if (connection === "away") words = "not connected";
    else if (connection === "connecting") words = "connecting";
    else if (silent) words = "not responding";
    else if (health?.problem) words = "needs attention";
    else if (waiting) words = `${compact(waiting)} pending`;
    if (text.textContent !== words) text.textContent = words;
    line.title = health?.problem ?? `The worker: ${words}`;
    line.setAttribute("aria-label", `Worker: ${words}`);
  };
  const look = () =>
    get("/health")
      .then((found) => {
        health = found;
        silent = false;
      })
      .catch(() => {
        silent = true;
      })
      .finally(draw);
  onState((state) => {
    connection = state;
    draw();
    look();
  });
  onQuiet(["captured", "turn", "fault"], look, 1000);
  setInterval(look, 30_000);
  return line;
}

const THEMES = { system: "auto", light: "sun", dark: "moon" };

/** System, light, dark, and system again. */
function themeButton() {
  const root = document.documentElement;
  const button = h("button", { class: "ghost", onclick: () => setTheme(next()) });
  const current = () => root.dataset.theme ?? "system";
  const next = () => ({ system: "light", light: "dark", dark: "system" })[current()];
  const draw = () => {
    replace(button, icon(THEMES[current()]));
    button.title = `Theme: ${current()}`;
    button.ariaLabel = `Theme: ${current()}. Switch to ${next()}`;
  };
  const setTheme = (theme) => {
    if (theme === "system") {
      delete root.dataset.theme;
      localStorage.removeItem("aforesaid.theme");
    } else {
      root.dataset.theme = theme;
      localStorage.setItem("aforesaid.theme", theme);
    }
    draw();
  };
  draw();
  return button;
}

const KEYS = [
  ["/", "search"],
  ["j  k", "next, previous item"],
  ["Enter", "open the item"],
  ["Esc", "leave a field, close a dialog"],
  ["+  −", "zoom in the timeline"],
  ["←  →", "move in the timeline"],
  ["[  ]", "previous, next two weeks"],
  ["e  p  m", "edit, pin, merge"],
  ["Shift x", "hide an observation, retire a memory"],
  ["c", "new memory"],
  ["u", "undo the last action"],
  ["?", "this help"],
];

export function showHelp() {
  if (document.querySelector("dialog.help")) return;
  const rows = (all) => h("dl", {}, all.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]));
  const letters = h("input", {
    type: "checkbox",
    prop: { checked: lettersAreOn() },
    onchange: () => turnLetters(letters.checked),
  });
  const dialog = h("dialog", { class: "help", "aria-labelledby": "help-title" },
    h("h2", { id: "help-title" }, "Keyboard shortcuts"),
    h("div", { class: "columns even" }, rows(VIEWS.map((view) => [`g ${view.key}`, view.name])), rows(KEYS)),
    h("label", { class: "check" }, letters, "Single-key shortcuts (Esc, Enter and arrow keys always work)"),
    h("form", { method: "dialog", class: "row-of-buttons end" }, h("button", { type: "submit", class: "primary" }, "Close")),
  );
  opened(dialog);
}
