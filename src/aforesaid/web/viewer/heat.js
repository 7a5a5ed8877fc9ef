// Activity by day, a column for each week.
import { h, s } from "./dom.js";
import { localDay, plural } from "./format.js";

const CELL = 13,
  GAP = 3,
  LEFT = 28,
  TOP = 16;
const WEEKDAYS = ["Mon", "", "Wed", "", "Fri", "", ""];
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "short", timeZone: "UTC" });
const DAY = 86_400_000;

/** @param {{day: string, observations: number, sessions: number, events: number}[]} items @param {(day: string) => void} open */
export function heatMap(items, days, open) {
  const known = new Map(items.map((each) => [each.day, each]));
  const today = Date.parse(`${localDay(Date.now())}T00:00:00Z`);
  let first = today - (days - 1) * DAY;
  first -= ((new Date(first).getUTCDay() + 6) % 7) * DAY; // weeks begin on Monday
  const most = Math.max(1, ...items.map((each) => each.observations));
  const weeks = Math.ceil(((today - first) / DAY + 1) / 7);
  const cells = [],
    months = [];
  for (let at = first, n = 0; at <= today; at += DAY, n++) {
    const name = new Date(at).toISOString().slice(0, 10),
      it = known.get(name);
    const x = LEFT + Math.floor(n / 7) * (CELL + GAP),
      row = n % 7,
      count = it?.observations ?? 0;
    const level = count === 0 ? 0 : Math.min(4, 1 + Math.floor((count / most) * 3.99));
    if (row === 0 && new Date(at).getUTCDate() <= 7)
      months.push(s("text", { x, y: 10 }, MONTH.format(at)));
    const words = `${name}: ${plural(count, "observation")} in ${plural(it?.sessions ?? 0, "session")}`;
    const cell = s("rect", {
        class: `heat-${level}`,
        x,
        y: TOP + row * (CELL + GAP),
        width: CELL,
        height: CELL,
        rx: 3,
      },
      s("title", {}, words),
    );
    if (count) cell.addEventListener("click", () => open(name));
    if (count) cell.classList.add("can");
    cells.push(cell);
  }
  const width = LEFT + weeks * (CELL + GAP),
    height = TOP + 7 * (CELL + GAP);
  const total = items.reduce((sum, each) => sum + each.observations, 0);
  return h("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": "Activity by day" },
    s("svg", {
        class: "heat",
        viewBox: `0 0 ${width} ${height}`,
        width,
        height,
        role: "img",
        "aria-label": `${plural(total, "observation")} on ${plural(items.filter((each) => each.observations).length, "day")} of the last ${days}`,
      },
      months,
      WEEKDAYS.map((name, n) => s("text", { x: 0, y: TOP + n * (CELL + GAP) + 10 }, name)),
      cells,
    ),
  );
}
