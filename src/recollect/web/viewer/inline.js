// Code, emphasis and links within a line. The text is gone through once, whatever is in it: nothing that was stored
// can make a page stand still.
import { h, outside } from "./dom.js";
import { memoryAddress } from "./projects.js";

const BEGINS = /[`*_[]|https?:\/\//g;
const BARE = /https?:\/\/[^\s<>()"'`]+/y;
const WORD = /\w/;
const MOST_DEPTH = 4;
const LONGEST_NAME = 300,
  LONGEST_TARGET = 2_000;

/** @param {string} text @param {number | null} project whose memories `[[name]]` means */
export function inline(text, project, depth = 0) {
  if (depth > MOST_DEPTH) return [text];
  const reading = new Reading(text);
  const out = [];
  let last = 0;
  BEGINS.lastIndex = 0;
  for (let match = BEGINS.exec(text); match; match = BEGINS.exec(text)) {
    const at = match.index;
    const found = reading.at(at);
    if (found) {
      out.push(text.slice(last, at), made(found, project, depth));
      last = found.end;
    }
    BEGINS.lastIndex = found?.end ?? at + reading.skips(at);
  }
  out.push(text.slice(last));
  return out;
}

function made({ kind, text, target }, project, depth) {
  switch (kind) {
    case "code":
      return h("code", {}, text.trim() || text);
    case "memory":
      return h("a", { href: memoryAddress(text, project) }, text);
    case "link":
      return outside(target, text || target);
    default:
      return h(kind, {}, inline(text, project, depth + 1));
  }
}

class Reading {
  #text;
  #next = new Map(); // a sign → where it stands next
  #runs = null; // where a run of backticks begins → where the next one of its length does
  #plain = -1; // a "]" that no link ends with

  constructor(text) {
    this.#text = text;
  }

  /** What begins here, and where it ends. */
  at(at) {
    switch (this.#text[at]) {
      case "`":
        return this.#code(at);
      case "[":
        return this.#link(at);
      case "*":
        return this.#marked(at, "*");
      case "_":
        return WORD.test(this.#text[at - 1] ?? "") ? null : this.#marked(at, "_");
      default:
        return this.#bare(at);
    }
  }

  /** How much of it is text, when nothing begins here. */
  skips(at) {
    return this.#text[at] === "`" ? length(this.#text, at) : 1;
  }

  #code(at) {
    this.#runs ??= runs(this.#text);
    const size = length(this.#text, at);
    const end = this.#runs.get(at);
    return end === undefined ? null : { kind: "code", text: this.#text.slice(at + size, end), end: end + size };
  }

  #marked(at, sign) {
    const size = this.#text[at + 1] === sign ? 2 : 1;
    const begin = at + size;
    const end = this.#find(sign, begin);
    if (end <= begin || (size === 1 && /\s/.test(this.#text[begin]))) return null;
    if (size === 2 && this.#text[end + 1] !== sign) return null;
    if (sign === "_" && WORD.test(this.#text[end + size] ?? "")) return null;
    return { kind: size === 2 ? "strong" : "em", text: this.#text.slice(begin, end), end: end + size };
  }

  #link(at) {
    const close = this.#find("]", at + 1);
    if (close < 0) return null;
    const text = this.#text;
    if (text[at + 1] === "[" && text[close + 1] === "]" && close > at + 2 && close - at < LONGEST_NAME)
      return { kind: "memory", text: text.slice(at + 2, close), end: close + 2 };
    if (text[close + 1] !== "(" || close === this.#plain) return null;
    const target = /^https?:\/\/[^()\s]+(?=\))/i.exec(text.slice(close + 2, close + 2 + LONGEST_TARGET))?.[0];
    if (target) return { kind: "link", text: text.slice(at + 1, close), target, end: close + target.length + 3 };
    this.#plain = close; // whatever begins before it
    return null;
  }

  #bare(at) {
    BARE.lastIndex = at;
    const found = BARE.exec(this.#text)?.[0].replace(/[.,;:!?]+$/, ""); // they end the sentence
    return found ? { kind: "link", text: found, target: found, end: at + found.length } : null;
  }

  /** Looks each stretch over once, however often it is asked. */
  #find(sign, from) {
    const known = this.#next.get(sign);
    if (known !== undefined && (known < 0 || known >= from)) return known;
    const found = this.#text.indexOf(sign, from);
    this.#next.set(sign, found);
    return found;
  }
}

function length(text, at) {
  let end = at;
  while (text[end] === "`") end++;
  return end - at;
}

function runs(text) {
  const next = new Map(),
    last = new Map(); // length → where such a run stood last
  for (const { index, 0: run } of text.matchAll(/`+/g)) {
    if (last.has(run.length)) next.set(last.get(run.length), index);
    last.set(run.length, index);
  }
  return next;
}
