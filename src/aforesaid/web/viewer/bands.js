// Sessions as bands over the hours of a day: a row for each day, marks for what was noted.
import { h, s } from "./dom.js";
import { clock, localDay, midnight, plural, shortDay } from "./format.js";
import { SHAPES } from "./icons.js";

export const LABEL_WIDTH = 88;
const LANE = 26,
  ROOM_FOR_MARKS = 5;
const WEEKDAY = new Intl.DateTimeFormat("en-GB", { weekday: "short" });

/**
 * @param {any[]} sessions as `/api/timeline` gives them
 * @param {{from: number, hours: number, width: number, tell: (session: any, mark?: any) => void}} how `from`: first hour that is shown
 */
export function dayRows(sessions, how) {
  const days = Map.groupBy(sessions, (each) => localDay(each.from));
  return [...days].sort(([a], [b]) => b.localeCompare(a)).map(([day, all]) => dayRow(day, all, how));
}

/** Where it stands on the clock of its session's first day: a day that the clocks change on has 24 hours, too. */
export function hourOf(at, day) {
  const date = new Date(at);
  return date.getHours() + date.getMinutes() / 60 + (localDay(at) === day ? 0 : 24);
}

function dayRow(day, sessions, how) {
  const start = midnight(day);
  const lanes = [];
  for (const each of [...sessions].sort((a, b) => a.from - b.from)) {
    let lane = lanes.findIndex((end) => end <= each.from);
    if (lane < 0) lane = lanes.push(0) - 1;
    lanes[lane] = Math.max(each.to, each.from + 10 * 60_000);
    each.lane = lane;
  }
  const height = lanes.length * LANE + 6;
  const scale = (at) => (hourOf(at, day) - how.from) * (how.width / how.hours);
  return h("li", { class: "day", data: { day } },
    h("h2", { class: "day-name" }, WEEKDAY.format(start), h("span", { class: "quiet" }, ` ${shortDay(start)}`)),
    s("svg", { class: "bands", width: how.width, height, viewBox: `0 0 ${how.width} ${height}` },
      grid(how, height),
      sessions.map((each) => band(each, scale, how)),
    ),
  );
}

function grid(how, height) {
  const step = how.hours > 12 ? 6 : how.hours > 4 ? 2 : 1;
  const lines = [];
  for (let hour = Math.ceil(how.from / step) * step; hour <= how.from + how.hours; hour += step) {
    const x = (hour - how.from) * (how.width / how.hours);
    lines.push(s("line", { x1: x, x2: x, y1: 0, y2: height }));
  }
  return s("g", { class: "grid-lines" }, lines);
}

function band(it, scale, how) {
  const x = scale(it.from),
    width = Math.max(8, scale(it.to) - x),
    y = it.lane * LANE + 3;
  if (x + width < 0 || x > how.width) return null;
  const counts = {};
  for (const mark of it.marks) counts[mark.type] = (counts[mark.type] ?? 0) + 1;
  const words = Object.entries(counts)
    .map(([type, count]) => `${count} ${type}`)
    .join(", ");
  const link = s("a", {
      href: `/sessions/${it.id}`,
      class: "band",
      "data-item": "",
      "aria-label": `${it.title || "Untitled session"}, ${clock(it.from)} to ${clock(it.to)}, ${plural(it.marks.length, "observation")}${words ? `: ${words}` : ""}`,
      onfocus: () => how.tell(it),
      onmouseenter: () => how.tell(it),
    },
    s("rect", { x, y, width, height: LANE - 6, rx: 5, class: it.status === "active" ? "body active" : "body" }),
  );
  const roomy = it.marks.length * ROOM_FOR_MARKS <= width;
  link.append(...(roomy ? marks(it, scale, y, how) : strips(it, counts, x, y, width)));
  return link;
}

function marks(it, scale, y, how) {
  return it.marks.map((mark) =>
    s("path", {
      d: SHAPES[mark.type] ?? SHAPES.change,
      class: `type-${SHAPES[mark.type] ? mark.type : "change"}`,
      transform: `translate(${Math.max(5, scale(mark.at))} ${y + (LANE - 6) / 2})`,
      onmouseenter: (event) => {
        event.stopPropagation();
        how.tell(it, mark);
      },
    }),
  );
}

/** Too narrow for marks: how much of each type there is. */
function strips(it, counts, x, y, width) {
  const inner = width - 4;
  let left = x + 2;
  return Object.keys(SHAPES)
    .filter((type) => counts[type])
    .map((type) => {
      const part = (counts[type] / it.marks.length) * inner;
      const strip = s("rect", { x: left, y: y + 5, width: part, height: LANE - 16, class: `type-${type}` });
      left += part;
      return strip;
    });
}

export function hourRuler(how) {
  const step = how.hours > 12 ? (how.width < 500 ? 6 : 3) : how.hours > 4 ? 2 : 1;
  const texts = [];
  for (let hour = Math.ceil(how.from / step) * step; hour < how.from + how.hours; hour += step) {
    texts.push(
      s("text", { x: (hour - how.from) * (how.width / how.hours) + 2, y: 12 }, `${String(hour).padStart(2, "0")}:00`),
    );
  }
  return s("svg", { class: "ruler", width: how.width, height: 16, "aria-hidden": "true" }, texts);
}
