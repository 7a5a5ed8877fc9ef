// Messages that come and go. Those that can be undone stay longer, and `u` undoes the newest.
import { code, h } from "./dom.js";
import { onState } from "./stream.js";

const SHORT = 6_000,
  LONG = 20_000;
let undoNewest = null;
const away = new Set(); // closes the messages shown while the server is unavailable

/** @param {string} text @param {{undo?: () => any, bad?: boolean}} [more] */
export function toast(text, { undo, bad } = {}) {
  const place = document.getElementById("toasts");
  const close = () => {
    const had = element.contains(document.activeElement);
    element.remove();
    if (had) (before?.isConnected ? before : document.getElementById("main")).focus({ preventScroll: true });
    if (undoNewest === run) undoNewest = null;
  };
  const run =
    undo &&
    (async () => {
      close();
      try {
        await undo();
        toast(`Undone: ${text}`);
      } catch (error) {
        failed(error);
      }
    });
  let before = null; // what had the focus before it came in here
  const entered = (event) => {
    if (!element.contains(event.relatedTarget)) before = event.relatedTarget;
  };
  const element = h("div", { class: bad ? "toast bad" : "toast", role: bad ? "alert" : "status", onfocusin: entered },
    h("span", { class: "grow" }, code(text)),
    run && h("button", { class: "link", onclick: run }, "Undo ", h("kbd", {}, "u")),
    h("button", { class: "link", "aria-label": "Close this message", onclick: close }, "×"),
  );
  place.append(element);
  while (place.children.length > 3) place.firstElementChild.remove();
  if (run) undoNewest = run;
  setTimeout(close, bad || undo ? LONG : SHORT);
  return close;
}

export function failed(error) {
  if (error?.name === "AbortError") return;
  const close = toast(error?.message ?? String(error), { bad: true });
  if (error?.code === "away") away.add(close);
}

export const safely = (deed) => (...given) => Promise.resolve(deed(...given)).catch(failed);

export function undoLast() {
  if (undoNewest) undoNewest();
  else toast("Nothing to undo.");
}

onState((state) => {
  if (state !== "live") return;
  for (const close of away) close();
  away.clear();
});

/** For those who listen rather than look. */
export function say(text) {
  document.getElementById("live").textContent = text;
}
