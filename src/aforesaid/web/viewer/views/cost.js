// Tokens and money by day, project, model and purpose.
import { get, url } from "../api.js";
import { h, replace } from "../dom.js";
import { dayBars, shareTable } from "../charts.js";
import { compact, localDay, midnight, money, number } from "../format.js";
import { card, nothing, tile } from "../parts.js";
import { chosen, namedProject } from "../projects.js";
import { empty, navigate } from "../router.js";

const SPANS = [7, 30, 90];
const TOKENS = [
  { name: "sent", kind: "bar-sent", of: (day) => Math.max(0, day.sent - day.cached) },
  { name: "from the cache", kind: "bar-cached", of: (day) => day.cached },
  { name: "received", kind: "bar-received", of: (day) => day.received },
];
const MONEY = [{ name: "money", kind: "bar-sent", of: (day) => day.microdollars }];

export default async function cost({ query, signal }) {
  const days = Number(query.get("days")) || 30,
    inMoney = query.get("in") !== "tokens";
  const found = await get("/api/cost", { days, project: chosen() }, signal);
  const all = filled(found.days, days);
  const sum = (part) => found.total[part];
  const holder = h("div", { class: "chart-holder" });
  const draw = () =>
    replace(holder,
      dayBars(all, {
        parts: inMoney ? MONEY : TOKENS,
        words: inMoney ? money : compact,
        width: Math.max(240, holder.clientWidth || 320),
        label: inMoney
          ? `Money by day, ${money(sum("microdollars"))} in total`
          : `Tokens by day, ${compact(sum("sent") + sum("received"))} in total`,
      }),
    );
  const watcher = new ResizeObserver(draw);
  if (!sum("requests")) {
    return {
      title: "Cost",
      element: empty(
        "No cost",
        "No model was used in this period. To write observations with a model:",
        h("pre", {}, "aforesaid config set synthesis.provider claude"),
      ),
    };
  }
  const go = (more) =>
    navigate(url("/cost", { project: namedProject(), days, in: inMoney ? null : "tokens", ...more }), { kept: true });
  return {
    title: "Cost",
    leave: () => watcher.disconnect(),
    shown: () => watcher.observe(holder),
    element: h("div", {},
      h("div", { class: "head" },
        h("h1", {}, "Cost"),
        h("div", { class: "row-of-buttons" },
          pressed(
            "Unit",
            [
              ["money", "Money", inMoney],
              ["tokens", "Tokens", !inMoney],
            ],
            (value) => go({ in: value === "tokens" ? "tokens" : null }),
          ),
          pressed(
            "Period",
            SPANS.map((each) => [each, `${each} days`, each === days]),
            (value) => go({ days: value }),
          ),
        ),
      ),
      h("section", { class: "vitals", "aria-label": "Total" },
        tile("Money", money(sum("microdollars")), limit(found.budget)),
        tile("Sent", `${compact(sum("sent"))} tokens`, `${share(sum("cached"), sum("sent"))} from the cache`),
        tile(
          "Received",
          `${compact(sum("received"))} tokens`,
          `${compact(Math.round(sum("received") / Math.max(1, sum("requests"))))} each`,
        ),
        tile(
          "Requests",
          number(sum("requests")),
          found.total.unpriced
            ? `${number(found.total.unpriced)} of unknown price`
            : `${money(sum("microdollars") / Math.max(1, sum("requests")))} each`,
        ),
      ),
      h("section", { class: "card", "aria-label": "By day" },
        h("div", { class: "card-head" },
          h("h2", {}, "By day"),
          !inMoney &&
            h("div", { class: "legend" },
              TOKENS.map((each) =>
                h("span", { class: "type" }, h("span", { class: `swatch ${each.kind}` }), each.name),
              ),
            ),
        ),
        holder,
      ),
      h("div", { class: "columns three gap-above" },
        [
          ["models", "By model", "Model"],
          ["projects", "By project", "Project"],
          ["purposes", "By purpose", "Purpose"],
        ].map(([part, title, head]) =>
          card(title, table(title, head, found[part], inMoney)),
        ),
      ),
    ),
  };
}

function table(caption, head, rows, inMoney) {
  if (!rows.length) return nothing("Nothing.");
  const size = (each) => (inMoney ? each.microdollars : each.sent + each.received);
  return shareTable(
    caption,
    [head, "Requests", "Tokens", "Money"],
    [...rows]
      .sort((a, b) => size(b) - size(a))
      .map((each) => ({
        label: each.label || "unknown",
        value: size(each),
        cells: [number(each.requests), compact(each.sent + each.received), money(each.microdollars)],
      })),
  );
}

function filled(days, count) {
  const known = new Map(days.map((each) => [each.day, each]));
  const today = localDay(Date.now());
  return Array.from({ length: count }, (_, n) => {
    const day = localDay(midnight(today, n + 1 - count));
    return known.get(day) ?? { day, sent: 0, received: 0, cached: 0, microdollars: 0, requests: 0 };
  });
}

function pressed(label, choices, run) {
  return h("div", { class: "group", role: "group", "aria-label": label },
    choices.map(([value, name, on]) =>
      h("button", { "aria-pressed": String(on), onclick: () => run(value) }, name),
    ),
  );
}

const share = (part, whole) => (whole ? `${Math.round((part / whole) * 100)} %` : "0 %");

function limit(budget) {
  if (budget.daily_cents) return `at most ${money(budget.daily_cents * 10_000)} a day`;
  if (budget.daily_tokens) return `at most ${compact(budget.daily_tokens)} tokens a day`;
  return h("a", { href: "/settings#cost" }, "set a daily limit");
}
