// Days and sessions as a picture: a band for each session, marks for what was noted, heat for each day.
import { get } from "../api.js";
import { h, replace } from "../dom.js";
import { dayRows, hourRuler, LABEL_WIDTH } from "../bands.js";
import { clock, number, plural, shortDay } from "../format.js";
import { heatMap, localDay } from "../heat.js";
import { icon, typeMark } from "../icons.js";
import { chosen } from "../projects.js";
import { empty } from "../router.js";
import { TYPES, typeLabel } from "../rows.js";
import { failed } from "../toast.js";

const DAY = 86_400_000,
  SPAN = 14,
  ZOOMS = [24, 16, 12, 8, 6, 4, 2, 1];

export default async function timeline({ signal }) {
  const state = { until: Date.parse(`${localDay(Date.now())}T00:00:00`) + DAY, zoom: 0, from: 0, sessions: [] };
  const picture = h("div", { class: "picture" });
  const told = h("p", { class: "readout", "aria-live": "off" });
  const span = h("span", { class: "quiet number" });
  const heatDays = 7 * Math.min(53, Math.max(26, Math.floor((document.getElementById("main").clientWidth - 480) / 16)));
  const activity = await get("/api/activity", { project: chosen(), days: heatDays }, signal);
  const hours = () => ZOOMS[state.zoom];

  async function load() {
    const since = state.until - SPAN * DAY;
    const found = await get("/api/timeline", { project: chosen(), since, until: state.until, limit: 500 }, signal);
    state.sessions = found.sessions;
    draw();
  }
  tellNothing();
  function tellNothing() {
    replace(
      told,
      h(
        "span",
        { class: "quiet" },
        "Point at a band, or walk with j and k. + and − zoom, ← and → move, [ and ] turn the page.",
      ),
    );
  }
  function draw() {
    const width = Math.max(
      160,
      (picture.clientWidth || Math.min(1000, innerWidth - 40)) - (innerWidth < 640 ? 0 : LABEL_WIDTH),
    );
    const how = { from: state.from, hours: hours(), width, tell };
    replace(span, `${shortDay(state.until - SPAN * DAY)} – ${shortDay(state.until - DAY)}`);
    replace(
      picture,
      state.sessions.length
        ? [
            h("div", { class: "ruler-row" }, hourRuler(how)),
            h("ol", { class: "days", "aria-label": "Days" }, dayRows(state.sessions, how)),
          ]
        : h("p", { class: "nothing" }, "No sessions in these days. Go back in time, or choose a day above."),
    );
  }
  function tell(session, mark) {
    replace(
      told,
      mark
        ? [typeLabel(mark.type), h("strong", {}, mark.title), h("span", { class: "quiet" }, clock(mark.at))]
        : [
            h("strong", {}, session.title || "Untitled session"),
            h(
              "span",
              { class: "quiet" },
              `${clock(session.from)}–${clock(session.to)} · ${plural(session.marks.length, "observation")}`,
            ),
          ],
    );
  }
  function zoom(step, middle = state.from + hours() / 2) {
    const share = (middle - state.from) / hours();
    state.zoom = Math.min(ZOOMS.length - 1, Math.max(0, state.zoom + step));
    state.from = middle - share * hours();
    move(0);
  }
  function move(by) {
    state.from = Math.min(24 - hours(), Math.max(0, state.from + by * hours()));
    draw();
  }
  const turn = (days) => {
    state.until = Math.min(state.until + days * DAY, Date.parse(`${localDay(Date.now())}T00:00:00`) + DAY);
    load().catch(failed);
  };
  const goTo = async (day) => {
    state.until = Math.min(
      Date.parse(`${day}T00:00:00`) + 2 * DAY,
      Date.parse(`${localDay(Date.now())}T00:00:00`) + DAY,
    );
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
  const resized = new ResizeObserver(() => draw());
  const button = (name, label, run) =>
    h("button", { type: "button", "aria-label": label, title: label, onclick: run }, icon(name));
  const controls = h(
    "div",
    { class: "row-of-buttons" },
    h(
      "div",
      { class: "group" },
      button("left", "Two weeks back", () => turn(-SPAN)),
      button("right", "Two weeks on", () => turn(SPAN)),
    ),
    h(
      "div",
      { class: "group" },
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
      activity.items.length || state.sessions.length
        ? h(
            "div",
            {},
            h("div", { class: "head" }, h("h1", {}, "Timeline"), span, controls),
            h(
              "section",
              { class: "card activity", "aria-label": "Activity" },
              heatMap(activity.items, heatDays, goTo),
              figures(activity),
            ),
            h(
              "section",
              { class: "card", "aria-label": "Sessions by day" },
              h(
                "div",
                { class: "legend" },
                TYPES.map((type) => h("span", { class: "type" }, typeMark(type), type)),
              ),
              told,
              picture,
            ),
          )
        : empty(
            "No days to show yet",
            "Sessions appear here as bands once your coding agent has worked with recollect installed.",
            h("pre", {}, "recollect install"),
          ),
  };
}

/** A session that goes past midnight is of two days, and one session. */
function figures({ items, sessions }) {
  const busiest = [...items].sort((a, b) => b.observations - a.observations)[0];
  const rows = [
    ["sessions", number(sessions)],
    ["observations", number(items.reduce((total, each) => total + each.observations, 0))],
    ["busiest day", busiest ? shortDay(Date.parse(`${busiest.day}T12:00:00`)) : "none"],
  ];
  return h(
    "dl",
    { class: "figures" },
    rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );
}
