// What views are put together from.
import { h } from "./dom.js";

/** What stands in a list that is empty. */
export const nothing = (...words) => h("p", { class: "nothing" }, words);

export const card = (title, ...children) => h("section", { class: "card" }, h("h2", {}, title), children);

/** Names and values; one that is not known is left out. */
export const pairs = (rows, kind = "pair") =>
  h("dl", { class: kind },
    rows
      .filter(([, value]) => (value ?? "") !== "")
      .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );

/** One figure with its name and a word on it. */
export function tile(name, value, more, kind = "") {
  return h("div", { class: "tile" },
    h("span", { class: "quiet small" }, name),
    h("span", { class: `tile-value ${kind}` }, value),
    h("span", { class: "quiet small" }, more),
  );
}
