// Numbers, times and money as people read them.
import { h } from "./dom.js";

const MINUTE = 60_000,
  HOUR = 60 * MINUTE,
  DAY = 24 * HOUR;
const NUMBER = new Intl.NumberFormat("en");
const DATE = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", year: "numeric" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const SHORT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

export const number = (value) => NUMBER.format(value ?? 0);
export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;
export const clock = (at) => CLOCK.format(at);
export const day = (at) => DATE.format(at);
export const shortDay = (at) => SHORT.format(at);
export const absolute = (at) => `${DATE.format(at).slice(5)}, ${CLOCK.format(at)}`;

/** 2026-07-04, as the clock on the wall has it. */
export function localDay(at) {
  const date = new Date(at);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((n) => String(n).padStart(2, "0")).join("-");
}

/** When a day of the calendar begins here, or so many after it: not every day has 24 hours. */
export function midnight(name, later = 0) {
  const [year, month, date] = name.split("-").map(Number);
  return new Date(year, month - 1, date + later).getTime();
}

/** 1,234,567 → 1.2M */
export function compact(value) {
  const size = Math.abs(value ?? 0);
  if (size >= 1e6) return `${(value / 1e6).toFixed(size >= 1e7 ? 0 : 1)}M`;
  if (size >= 1e4) return `${(value / 1e3).toFixed(size >= 1e5 ? 0 : 1)}k`;
  return number(value);
}

export function money(microdollars) {
  const dollars = (microdollars ?? 0) / 1e6;
  if (dollars === 0) return "$0";
  return dollars < 0.01 ? `$${dollars.toFixed(4)}` : `$${dollars.toFixed(2)}`;
}

/** A line of a list is no place for a novel; its own page has all of it. */
export function short(text, most = 200) {
  if (text.length <= most) return text;
  const kept = text.slice(0, most);
  return `${kept}…${kept.split("`").length % 2 ? "" : "`"}`; // what was code until there ends there
}

export function bytes(size) {
  if (size >= 1024 * 1024) return `${(size / 1024 / 1024).toFixed(1)} MB`;
  return size >= 1024 ? `${(size / 1024).toFixed(1)} KB` : `${size} B`;
}

function ago(at, now = Date.now()) {
  const past = now - at;
  if (past < 45_000) return "just now";
  if (past < HOUR) return `${Math.max(1, Math.round(past / MINUTE))} min ago`;
  if (past < DAY) return `${Math.round(past / HOUR)} h ago`;
  const days = Math.round((midnight(localDay(now)) - midnight(localDay(at))) / DAY); // of the calendar
  if (days < 7) return `${plural(days, "day")} ago`;
  const same = new Date(at).getFullYear() === new Date(now).getFullYear();
  return same ? SHORT.format(at) : DATE.format(at).slice(5);
}

export function lasting(milliseconds) {
  const minutes = Math.round(milliseconds / MINUTE);
  if (minutes < 1) return "<1\u00a0min";
  return minutes < 60 ? `${minutes}\u00a0min` : `${Math.floor(minutes / 60)}\u00a0h ${minutes % 60}\u00a0min`;
}

/** Relative, with the date on hover. It is kept true by `keepTimes`. */
export function when(at) {
  if (!at) return h("span", { class: "quiet" }, "never");
  return h("time", { class: "when", datetime: new Date(at).toISOString(), title: absolute(at), data: { at } }, ago(at));
}

export function keepTimes() {
  setInterval(() => {
    for (const each of document.querySelectorAll("time[data-at]")) {
      const text = ago(Number(each.dataset.at));
      if (each.textContent !== text) each.textContent = text;
    }
  }, 30_000);
}

export function tokens(count) {
  if ((count ?? null) === null) return null;
  return h("span", { class: "tokens", title: `${number(count)} tokens if injected` },
    `${compact(count)} tokens`,
  );
}
