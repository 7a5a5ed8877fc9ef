// What happens in the worker, live. The browser reconnects by itself and says what it had last.
import { gathered } from "./dom.js";

const KINDS = ["captured", "turn", "observation", "summary", "memory", "dream", "fault", "hello"];
const listeners = new Set();
const watchers = new Set();
let state = "connecting";

/** @param {(kind: string, data: any) => void} run @returns {() => void} stops it */
export function onHappening(run) {
  listeners.add(run);
  return () => listeners.delete(run);
}

/** Told at once, and whenever it changes: live, connecting or away. */
export function onState(run) {
  watchers.add(run);
  run(state);
  return () => watchers.delete(run);
}

function be(next) {
  if (next === state) return;
  state = next;
  for (const run of watchers) run(state);
}

export function connect() {
  const source = new EventSource("/api/stream");
  source.onopen = () => be("live");
  source.onerror = () => {
    be(source.readyState === EventSource.CLOSED ? "away" : "connecting");
    // A refused stream (too many, or signed out) is not tried again by the browser.
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 10_000);
  };
  for (const kind of KINDS) {
    source.addEventListener(kind, (event) => {
      be("live");
      let data = {};
      try {
        data = JSON.parse(event.data);
      } catch {
        return;
      }
      for (const run of listeners) run(kind, data);
    });
  }
  addEventListener("pagehide", () => source.close(), { once: true });
}

/** For views that look again: many happenings in a row are one. `about`: whether one matters. */
export function onQuiet(kinds, run, wait = 400, about = () => true) {
  const soon = gathered(run, wait);
  return onHappening((kind, data) => {
    if ((kinds.includes(kind) && about(data)) || (kind === "hello" && data.missed)) soon();
  });
}
