// Keyboard first: g and a letter changes the view, j and k walk through items, a view may have letters of its own.
// Who speaks or has tremor may press letters unawares: all of them can be turned off, and none destroys by itself.
import { navigate } from "./router.js";
import { menuIsOpen, openMenu, showHelp, VIEWS } from "./shell.js";
import { undoLast } from "./toast.js";

const GOING = 1_200; // milliseconds between g and its letter
const KEY = "aforesaid.letters";
let going = 0;
let own = {};

/** @param {Record<string, (event: KeyboardEvent) => any>} keys of the view that is shown now */
export function setKeys(keys) {
  own = keys ?? {};
}

export const lettersAreOn = () => localStorage.getItem(KEY) !== "off";

export function turnLetters(on) {
  if (on) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, "off");
  document.documentElement.classList.toggle("no-letters", !on);
}

export function listenToKeys() {
  turnLetters(lettersAreOn());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return; // it has its own
    if (event.key === "Escape") {
      escape();
      event.preventDefault(); // it would close at once what a view opens now
      return;
    }
    if (isWriting(event.target) || (event.key.length === 1 && !lettersAreOn())) return;
    if (run(event)) event.preventDefault();
  });
}

function run(event) {
  const key = event.key;
  if (Date.now() - going < GOING) {
    going = 0;
    const view = VIEWS.find((each) => each.key === key);
    if (view) navigate(view.path);
    return Boolean(view);
  }
  if (own[key]) {
    own[key](event);
    return true;
  }
  switch (key) {
    case "g":
      going = Date.now();
      return true;
    case "/":
      toSearch();
      return true;
    case "?":
      showHelp();
      return true;
    case "u":
      undoLast();
      return true;
    case "j":
      return walk(1);
    case "k":
      return walk(-1);
    default:
      return false;
  }
}

/** The innermost first: the menu, the view's form, the field. */
function escape() {
  if (menuIsOpen()) {
    openMenu(false);
    document.getElementById("menu").focus();
  } else if (!own.Escape?.() && isWriting(document.activeElement)) document.activeElement.blur();
}

function isWriting(target) {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
    !["checkbox", "radio", "button"].includes(target.getAttribute("type") ?? "")
  );
}

function toSearch() {
  const field = document.querySelector("#main input[type=search]");
  if (field) {
    field.focus();
    field.select();
  } else navigate("/search");
}

function walk(step) {
  const items = [...document.querySelectorAll("#main [data-item]")].filter((each) => each.getClientRects().length);
  if (!items.length) return false;
  const now = items.indexOf(document.activeElement?.closest?.("[data-item]"));
  const next = items[now < 0 ? (step > 0 ? 0 : items.length - 1) : Math.min(items.length - 1, Math.max(0, now + step))];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
  return true;
}
