// What a search has found: a line each, with what it costs and why it was found.
import { code, h } from "./dom.js";
import { short, tokens, when } from "./format.js";
import { icon } from "./icons.js";
import { memoryAddress } from "./projects.js";
import { staleChip, typeLabel } from "./rows.js";

const REASONS = 4;
const ICONS = { memory: "memories", summary: "brief", prompt: "sessions", session: "sessions" };

/** @param {any} it as `/api/search` and `/api/observations` list them @param {boolean} asked then it says why */
export function hitRow(it, asked) {
  return h("li", {},
    h("a", { class: "row hit", href: addressOf(it), data: { item: "" } },
      it.kind === "observation" ? typeLabel(it.type) : h("span", { class: "type quiet" }, icon(ICONS[it.kind]), it.kind),
      h("span", { class: "what" }, it.kind === "memory" ? memory(it) : remembered(it, asked)),
      h("span", { class: "side" }, tokens(it.tokens), when(it.at ?? it.updated)),
    ),
  );
}

function addressOf(it) {
  if (it.kind === "memory") return memoryAddress(it.name, it.project_id);
  return it.kind === "observation" ? `/observations/${it.id}` : `/sessions/${it.session_id}`;
}

function memory(it) {
  return [
    h("span", { class: "title" }, code(short(it.description || it.name, 240))),
    " ",
    it.pinned && h("span", { class: "chip accent" }, "pinned"),
    h("span", { class: "excerpt" }, h("span", { class: "mono" }, it.name), " · ", it.why),
  ];
}

function remembered(it, asked) {
  return [
    h("span", { class: "title" }, code(short(it.marked_title || it.title || "Untitled", 240))),
    " ",
    it.pinned && h("span", { class: "chip accent" }, "pinned"),
    " ",
    it.unverified && h("span", { class: "chip" }, "unverified"),
    " ",
    it.superseded && h("span", { class: "chip" }, "superseded"),
    " ",
    staleChip(it.freshness),
    it.excerpt && h("span", { class: "excerpt" }, code(it.excerpt)),
    asked && why(it.reasons.filter((each) => each.points !== 0)),
  ];
}

function why(reasons) {
  if (!reasons.length) return null;
  const sign = (points) => (points > 0 ? "+" : "");
  return h("span", { class: "why" },
    reasons
      .slice(0, REASONS)
      .map((each) =>
        h("span", { class: "reason", title: each.because },
          each.name,
          h("span", { class: "number" }, ` ${sign(each.points)}${round(each.points)}`),
        ),
      ),
  );
}

const round = (points) => (Math.abs(points) >= 10 ? Math.round(points) : Math.round(points * 100) / 100);
