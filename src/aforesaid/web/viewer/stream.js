// What happens in the worker, live. A browser has six connections to a host, so its tabs share one stream: the tab
// that holds the lock listens and tells the others; when it is closed, the next one does.
import { gathered } from "./dom.js";

const KINDS = ["captured", "turn", "observation", "summary", "memory", "dream", "changed", "fault", "hello"];
const NAME = "aforesaid.stream";
const AGAIN = 10_000; // milliseconds
const listeners = new Set();
const watchers = new Set();
const tabs = new BroadcastChannel(NAME);
let state = "connecting";
let leading = false;
let source = null;

/** @param {(kind: string, data: any) => void} run @returns {() => void} stops it */
export function onHappening(run) {
  listeners.add(run);
  return () => listeners.delete(run);
}

/** Notified of every state change (live, connecting, away) and of every failed attempt. */
export function onState(run) {
  watchers.add(run);
  run(state);
  return () => watchers.delete(run);
}

function be(next) {
  if (next === state && next === "live") return;
  state = next;
  if (leading) tabs.postMessage({ state });
  each(watchers, state);
}

function tell(kind, data) {
  if (leading) tabs.postMessage({ kind, data });
  each(listeners, kind, data);
}

/** One that fails does not keep the others from hearing. */
function each(all, ...said) {
  for (const run of all) {
    try {
      run(...said);
    } catch (error) {
      reportError(error);
    }
  }
}

export async function connect() {
  tabs.onmessage = ({ data: said }) => {
    if (said.state) be(said.state);
    else if (said.kind) tell(said.kind, said.data);
    else if (leading) tabs.postMessage({ state });
  };
  tabs.postMessage({ asks: true });
  await navigator.locks.request(NAME, { ifAvailable: true }, (lock) => lock && lead(false));
  // Another tab held the stream. Events between its end and this start may be missed.
  await navigator.locks.request(NAME, () => lead(true));
}

/** For as long as the page is there: a lock goes back when its promise ends. */
function lead(missed) {
  leading = true;
  state = "connecting"; // whatever the tab before has said
  tabs.postMessage({ state });
  each(watchers, state);
  addEventListener("pagehide", () => source?.close());
  listen(missed);
  return new Promise(() => {});
}

function listen(missed) {
  source = new EventSource("/api/stream");
  source.onopen = () => be("live");
  source.onerror = () => {
    be(source.readyState === EventSource.CLOSED ? "away" : "connecting");
    // A refused stream (too many, or signed out) is not tried again by the browser.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => listen(true), AGAIN);
  };
  for (const kind of KINDS) {
    source.addEventListener(kind, (event) => {
      be("live");
      const data = JSON.parse(event.data);
      if (kind === "hello" && missed) data.missed = true;
      if (kind === "hello") missed = false;
      tell(kind, data);
    });
  }
}

/** For views that look again: many happenings in a row are one. `about`: whether one matters. */
export function onQuiet(kinds, run, wait = 400, about = () => true) {
  const soon = gathered(run, wait);
  return onHappening((kind, data) => {
    if ((kinds.includes(kind) && about(data)) || (kind === "hello" && data.missed)) soon();
  });
}
