// Days and sessions as a picture: a band for each session, marks for what was noted, heat for each day.
import { get } from "../api.js";
import { h, newest, replace } from "../dom.js";
import { dayRows, hourOf, hourRuler, LABEL_WIDTH } from "../bands.js";
import { clock, day, localDay, midnight, number, plural, shortDay } from "../format.js";
import { heatMap } from "../heat.js";
import { icon, typeMark } from "../icons.js";
import { keep } from "../view_state.js";
import { nothing, pairs } from "../parts.js";
import { chosen, lastAt } from "../projects.js";
import { empty, note } from "../router.js";
import { TYPES, typeLabel } from "../rows.js";
import { failed } from "../toast.js";

const SPAN = 14,
  ZOOMS = [24, 16, 12, 8, 6, 4, 2, 1];

export default async function timeline({ query, signal }) {
  const state = { ...shownIn(query), sessions: [], selected: null };
  const picture = h("div", { class: "picture" });
  const readout = h("p", { class: "readout", "aria-live": "off" });
  const span = h("span", { class: "quiet number" });
  const heatDays = 7 * Math.min(53, Math.max(26, Math.floor((document.getElementById("main").clientWidth - 480) / 16)));
  const activity = await get("/api/activity", { project: chosen(), days: heatDays }, signal);
  const hours = () => ZOOMS[state.zoom];

  const ask = newest(({ until }) =>
    get("/api/timeline", { project: chosen(), since: daysFrom(until, -SPAN), until, limit: 500 }, signal),
  );
  async function load() {
    state.sessions = (await ask(state)).sessions;
    tellNothing();
    draw();
  }
  function tellNothing() {
    state.selected = null;
    replace(readout,
      h("span", { class: "quiet" },
        "Hover over a session, or use j and k. + and − zoom, ← and → move, [ and ] change the weeks.",
      ),
    );
  }
  function draw() {
    const width = Math.max(
      160,
      (picture.clientWidth || Math.min(1000, innerWidth - 40)) - (innerWidth < 640 ? 0 : LABEL_WIDTH),
    );
    const how = { from: state.from, hours: hours(), width, tell };
    const restore = keep(picture);
    const { from, until } = state;
    note("/timeline", {
      until: until < tomorrow() ? localDay(daysFrom(until, -1)) : "",
      hours: hours() < 24 ? hours() : "",
      from: hours() < 24 ? from : "",
    });
    replace(span,
      `${shortDay(daysFrom(until, -SPAN))} – ${shortDay(daysFrom(until, -1))}`,
      hours() < 24 && `, ${time(from)}–${time(from + hours())}`,
    );
    replace(picture,
      state.sessions.length
        ? [
            h("div", { class: "ruler-row" }, hourRuler(how)),
            h("ol", { class: "days", "aria-label": "Days" }, dayRows(state.sessions, how)),
          ]
        : nothing(
            `No sessions in this period. The last one was on ${day(lastAt())}. `,
            h("button", { onclick: () => goTo(localDay(lastAt())) }, "Go there"),
          ),
    );
    restore();
  }
  function tell(session, mark) {
    state.selected = session;
    replace(readout,
      mark
        ? [typeLabel(mark.type), h("strong", {}, mark.title), h("span", { class: "quiet" }, clock(mark.at))]
        : [
            h("strong", {}, session.title || "Untitled session"),
            h("span", { class: "quiet" },
              `${clock(session.from)}–${clock(session.to)} · ${plural(session.marks.length, "observation")}`,
            ),
          ],
    );
  }
  /** Around the pointer, else so that the selected band, or the content, is centred. */
  function zoom(step, pointed) {
    const middle = pointed ?? (state.selected ? middleOf(state.selected) : (step > 0 && present()) || state.from + hours() / 2);
    const share = pointed === undefined ? 0.5 : (pointed - state.from) / hours();
    state.zoom = Math.min(ZOOMS.length - 1, Math.max(0, state.zoom + step));
    state.from = middle - share * hours();
    move(0);
  }
  function present() {
    const seen = state.sessions.map(middleOf).filter((at) => at >= state.from && at <= state.from + hours());
    return seen.sort((a, b) => a - b)[seen.length >> 1];
  }
  function move(by) {
    const from = Math.min(24 - hours(), Math.max(0, state.from + by * hours()));
    state.from = Math.round(from * 4) / 4; // to a quarter of an hour, as displayed
    draw();
  }
  const turn = (days) => {
    state.until = Math.min(daysFrom(state.until, days), tomorrow());
    load().catch(failed);
  };
  const goTo = async (day) => {
    state.until = Math.min(midnight(day, 2), tomorrow());
    await load().catch(failed);
    picture.querySelector(`[data-day="${day}"]`)?.scrollIntoView({ block: "center" });
  };
  // Only over the picture and with a modifier or sideways: the page itself must still scroll.
  picture.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.shiftKey && !event.altKey) return;
      event.preventDefault();
      const box = picture.getBoundingClientRect();
      const at = state.from + ((event.clientX - box.left - LABEL_WIDTH) / (box.width - LABEL_WIDTH)) * hours();
      if (event.shiftKey) move(Math.sign(event.deltaY || event.deltaX) * 0.2);
      else zoom(event.deltaY < 0 ? 1 : -1, Math.min(24, Math.max(0, at)));
    },
    { passive: false },
  );
  await load();
  const resized = new ResizeObserver(draw);
  const button = (name, label, run) =>
    h("button", { "aria-label": label, title: label, onclick: run }, icon(name));
  const controls = h("div", { class: "row-of-buttons" },
    h("div", { class: "group" },
      button("left", "Previous two weeks", () => turn(-SPAN)),
      button("right", "Next two weeks", () => turn(SPAN)),
    ),
    h("div", { class: "group" },
      button("minus", "Zoom out (−)", () => zoom(-1)),
      button("plus", "Zoom in (+)", () => zoom(1)),
    ),
  );
  return {
    title: "Timeline",
    leave: () => resized.disconnect(),
    shown: () => {
      draw();
      for (const each of document.querySelectorAll(".activity .scrolls")) each.scrollLeft = each.scrollWidth;
      resized.observe(document.getElementById("main"));
    },
    keys: {
      "+": () => zoom(1),
      "=": () => zoom(1),
      "-": () => zoom(-1),
      ArrowLeft: () => move(-0.25),
      ArrowRight: () => move(0.25),
      "[": () => turn(-SPAN),
      "]": () => turn(SPAN),
    },
    element:
      lastAt()
        ? h("div", {},
            h("div", { class: "head" }, h("h1", {}, "Timeline"), span, controls),
            h("section", { class: "card activity", "aria-label": "Activity" },
              heatMap(activity.items, heatDays, goTo),
              figures(activity),
            ),
            h("section", { class: "card", "aria-label": "Sessions by day" },
              h("div", { class: "legend" }, TYPES.map((type) => h("span", { class: "type" }, typeMark(type), type))),
              readout,
              picture,
            ),
          )
        : empty(
            "No days to show yet",
            "Sessions appear here as bands once your coding agent has worked with aforesaid installed.",
            h("pre", {}, "aforesaid install"),
          ),
  };
}

/** The days and hours that the address names. */
function shownIn(query) {
  const last = /^\d{4}-\d{2}-\d{2}$/.test(query.get("until") ?? "") ? midnight(query.get("until"), 1) : tomorrow();
  const zoom = Math.max(0, ZOOMS.indexOf(Number(query.get("hours"))));
  const from = Math.min(24 - ZOOMS[zoom], Math.max(0, Number(query.get("from")) || 0));
  return { until: Math.min(last, tomorrow()), zoom, from };
}

const daysFrom = (at, days) => midnight(localDay(at), days);
const tomorrow = () => daysFrom(Date.now(), 1);
const time = (hour) => `${String(Math.floor(hour)).padStart(2, "0")}:${String((hour % 1) * 60).padStart(2, "0")}`;

/** The hour that a band is around. */
function middleOf({ from, to }) {
  const day = localDay(from);
  return (hourOf(from, day) + Math.min(24, hourOf(to, day))) / 2;
}

/** A session that goes past midnight is of two days, and one session. */
function figures({ items, sessions }) {
  const busiest = [...items].sort((a, b) => b.observations - a.observations)[0];
  const rows = [
    ["sessions", number(sessions)],
    ["observations", number(items.reduce((total, each) => total + each.observations, 0))],
    ["busiest day", busiest ? shortDay(Date.parse(`${busiest.day}T12:00:00`)) : "none"],
  ];
  return pairs(rows, "figures");
}
