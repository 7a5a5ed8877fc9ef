// Bars, drawn by hand: a value for each day, and shares of a whole.
import { h, s } from "./dom.js";
import { shortDay } from "./format.js";

const HEIGHT = 176,
  BELOW = 20,
  LEFT = 48;

/**
 * @param {{day: string}[]} days
 * @param {{parts: {name: string, of: (day: any) => number, kind: string}[], words: (value: number) => string, width: number, label: string}} how
 */
export function dayBars(days, { parts, words, width, label }) {
  const totals = days.map((day) => parts.reduce((sum, part) => sum + part.of(day), 0));
  const most = nice(Math.max(...totals, 0));
  const room = (width - LEFT) / Math.max(1, days.length),
    bar = Math.max(2, Math.min(28, room - Math.max(1, room * 0.25)));
  const y = (value) => HEIGHT - (value / most) * (HEIGHT - 12);
  const bars = days.map((day, n) => {
    let below = 0;
    const x = LEFT + n * room + (room - bar) / 2;
    const label = `${shortDay(Date.parse(day.day))}: ${words(totals[n])}`;
    return s("g", { class: "day-bar" },
      s("title", {}, label),
      s("rect", { class: "ground", x: LEFT + n * room, y: 0, width: room, height: HEIGHT }),
      parts.map((part) => {
        const value = part.of(day);
        if (!value) return null;
        const rect = s("rect", {
          class: part.kind,
          x,
          y: y(below + value),
          width: bar,
          height: Math.max(1, y(below) - y(below + value)),
          rx: Math.min(2, bar / 3),
        });
        below += value;
        return rect;
      }),
    );
  });
  const every = Math.max(1, Math.ceil(days.length / Math.max(1, Math.floor((width - LEFT) / 64))));
  return s("svg", {
      class: "chart",
      viewBox: `0 0 ${width} ${HEIGHT + BELOW}`,
      width,
      height: HEIGHT + BELOW,
      role: "img",
      "aria-label": label,
    },
    [0, 0.5, 1].map((share) =>
      s("g", { class: "grid-lines" },
        s("line", { x1: LEFT, x2: width, y1: y(most * share), y2: y(most * share) }),
        s("text", { x: LEFT - 8, y: y(most * share) + 4, "text-anchor": "end" }, words(most * share)),
      ),
    ),
    bars,
    days.map(
      (day, n) =>
        n % every === 0 &&
        s("text", { x: LEFT + n * room + room / 2, y: HEIGHT + 16, "text-anchor": "middle" },
          shortDay(Date.parse(day.day)),
        ),
    ),
  );
}

/** The next round number above. */
function nice(value) {
  if (value <= 0) return 1;
  const step = 10 ** Math.floor(Math.log10(value));
  return [1, 1.2, 1.6, 2, 2.5, 3, 4, 5, 6, 8, 10].map((each) => each * step).find((each) => each >= value);
}

/** A table whose rows carry their share as a bar. @param {{label: string, value: number, cells: any[]}[]} rows */
export function shareTable(caption, heads, rows) {
  const most = Math.max(1, ...rows.map((each) => each.value));
  return h("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": caption },
    h("table", { class: "shares" },
      h("caption", { class: "unseen" }, caption),
      h("thead", {},
        h("tr", {},
          h("th", { scope: "col" }, heads[0]),
          heads.slice(1).map((each) => h("th", { scope: "col", class: "right" }, each)),
        ),
      ),
      h("tbody", {},
        rows.map((each) =>
          h("tr", {},
            h("td", {},
              h("span", { class: "share-name" }, broken(each.label)),
              h("span", { class: "share", css: { width: `${(each.value / most) * 100}%` } }),
            ),
            each.cells.map((cell) => h("td", { class: "right" }, cell)),
          ),
        ),
      ),
    ),
  );
}

/** A long name breaks where people would break it. */
const broken = (label) => label.split(/(?<=\/)/).map((part, n) => [n > 0 && h("wbr"), part]);
