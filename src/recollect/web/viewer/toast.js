// Messages that come and go. Those that can be undone stay longer, and `u` undoes the newest.
import { h } from "./dom.js";

const SHORT = 6_000,
  LONG = 20_000;
let undoNewest = null;

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
      } catch (error) {
        failed(error);
      }
    });
  let before = null; // what had the focus before it came in here
  const entered = (event) => {
    if (!element.contains(event.relatedTarget)) before = event.relatedTarget;
  };
  const element = h("div", { class: bad ? "toast bad" : "toast", role: bad ? "alert" : "status", onfocusin: entered },
    h("span", { class: "grow" }, text),
    run && h("button", { class: "link", onclick: run }, "Undo ", h("kbd", {}, "u")),
    h("button", { class: "link", "aria-label": "Close this message", onclick: close }, "×"),
  );
  place.append(element);
  while (place.children.length > 3) place.firstElementChild.remove();
  if (run) undoNewest = run;
  setTimeout(close, bad || undo ? LONG : SHORT);
}

export function failed(error) {
  if (error?.name !== "AbortError") toast(error?.message ?? String(error), { bad: true });
}

export function undoLast() {
  undoNewest?.();
}

/** For those who listen rather than look. */
export function say(text) {
  document.getElementById("live").textContent = text;
}
