// Builds elements. The only way anything gets onto the page: text is always text.

const SVG = "http://www.w3.org/2000/svg";

// What would move the cursor, ring, or turn the reading direction around is shown instead of done.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const SAID = new Set(["title", "aria-label", "placeholder", "alt", "aria-description"]);
const LINKS = /^https?:\/\//i;

/** @param {unknown} value */
export function shown(value) {
  const text = String(value);
  return text.replace(CONTROL, (c) => {
    const code = c.charCodeAt(0);
    if (code < 32) return String.fromCharCode(0x2400 + code);
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/**
 * @param {string} tag
 * @param {Record<string, any>} [props] `class`, `on…` listeners, `data`, `prop` (DOM properties), attributes
 * @param {...any} children strings, numbers, elements, lists; null and false are left out
 * @returns {any}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  if (tag === "button") element.type = "button"; // else it would send the form that it stands in
  return fill(element, props, children);
}

/** The same for pictures. @returns {any} */
export function s(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if ((value ?? false) === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "prop") Object.assign(element, value);
    else if (name === "css") for (const [key, to] of Object.entries(value)) element.style.setProperty(key, to);
    else if (name === "href") element.setAttribute("href", address(value));
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, SAID.has(name) ? shown(value) : String(value));
  }
  append(element, children);
  return element;
}

/** Our own pages and http(s), nothing else. */
export function address(value) {
  const text = String(value);
  if (text.startsWith("/") && !text.startsWith("//") && !text.startsWith("/\\")) return text;
  return text.startsWith("#") || LINKS.test(text) ? text : "#";
}

export function append(element, children) {
  for (const child of children.flat(9)) {
    if (typeof (child ?? false) === "boolean") continue;
    element.append(child instanceof Node ? child : document.createTextNode(shown(child)));
  }
  return element;
}

export function replace(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

/** A page elsewhere: its address is there to be read before it is followed. */
export function outside(url, text) {
  if (!LINKS.test(url)) return document.createTextNode(shown(text));
  return h("a", { href: url, rel: "noopener noreferrer", target: "_blank", title: url }, text);
}

/** Text with its matches marked: the server puts \u0002 and \u0003 around them. */
export function marked(text) {
  return String(text ?? "")
    .split(/(\u0002[^\u0003]*\u0003?)/)
    .filter(Boolean)
    .map((part) =>
      part.startsWith("\u0002") ? h("mark", {}, part.replace(/[\u0002\u0003]/g, "")) : part.replaceAll("\u0003", ""),
    );
}

/** What stands between backticks, and nothing else: for lines that are links, and for our own words. The parts of an
 * excerpt have " · " between them: one that is not closed ends there. */
export function code(text) {
  return String(text ?? "")
    .split(/(`[^`·]+`)/)
    .map((part, n) => (n % 2 ? h("code", {}, marked(part.slice(1, -1))) : marked(part)));
}

/** A dialog is gone when it is closed. */
export function opened(dialog) {
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** Calls `run` once things have been quiet for a moment; `stop` cancels. */
export function later(run, wait) {
  let timer = 0;
  const stop = () => clearTimeout(timer);
  const soon = () => {
    stop();
    timer = setTimeout(run, wait);
  };
  return Object.assign(soon, { stop });
}

/** Answers come in any order: one that was asked for before another is thrown away as an AbortError. */
export function newest(run) {
  let asked = 0;
  return async (...values) => {
    const mine = ++asked;
    const stale = () => mine !== asked && new DOMException("Asked again meanwhile.", "AbortError");
    const found = await run(...values).catch((error) => {
      throw stale() || error;
    });
    if (stale()) throw stale();
    return found;
  };
}

/** Calls `run` a moment after the first call; all calls until then are one. It is never put off for good. */
export function gathered(run, wait) {
  let timer = 0;
  return () => {
    timer ||= setTimeout(() => {
      timer = 0;
      run();
    }, wait);
  };
}
