// Markdown as elements, and only those: HTML in it is text. Enough for memories, no more.
import { h, outside } from "./dom.js";

const INLINE =
  /(`+)([\s\S]+?)\1|\*\*([^*]+?)\*\*|__([^_]+?)__|\*([^*\s][^*]*?)\*|(?<![\w])_([^_\s][^_]*?)_(?![\w])|\[([^\]]*)\]\(([^()\s]+)\)|\[\[([^\]]+)\]\]|(https?:\/\/[^\s<>()"'`]+)/g;
const MOST_DEPTH = 4;

export function markdown(text) {
  return h("div", { class: "prose" }, blocks(String(text).replace(/\r\n?/g, "\n").split("\n"), 0));
}

function blocks(lines, depth) {
  const out = [];
  let n = 0;
  while (n < lines.length) {
    const line = lines[n];
    const fence = /^\s{0,3}(```+|~~~+)\s*(\S*)/.exec(line);
    const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line);
    if (!line.trim()) n++;
    else if (fence) {
      const end = lines.findIndex((each, at) => at > n && each.trim().startsWith(fence[1]));
      out.push(h("pre", { class: "code" }, h("code", {}, lines.slice(n + 1, end < 0 ? lines.length : end).join("\n"))));
      n = end < 0 ? lines.length : end + 1;
    } else if (heading) {
      // one level down: the page has its own first heading
      out.push(h(`h${Math.min(6, heading[1].length + 1)}`, {}, inline(heading[2])));
      n++;
    } else if (/^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) {
      out.push(h("hr"));
      n++;
    } else if (/^\s{0,3}>/.test(line))
      n = gather(lines, n, /^\s{0,3}>/, (part) =>
        out.push(
          h(
            "blockquote",
            {},
            depth < MOST_DEPTH
              ? blocks(
                  part.map((each) => each.replace(/^\s{0,3}>\s?/, "")),
                  depth + 1,
                )
              : part.join("\n"),
          ),
        ),
      );
    else if (item(line) && depth < MOST_DEPTH) n = list(lines, n, depth, out);
    else n = paragraph(lines, n, out);
  }
  return out;
}

function gather(lines, start, pattern, use) {
  let n = start;
  while (n < lines.length && pattern.test(lines[n])) n++;
  use(lines.slice(start, n));
  return n;
}

const item = (line) => /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/.exec(line);

function list(lines, start, depth, out) {
  const first = item(lines[start]);
  const indent = first[1].length,
    ordered = /\d/.test(first[2]);
  const items = [];
  let n = start;
  while (n < lines.length) {
    const found = item(lines[n]);
    if (found && found[1].length <= indent + 1 && found[1].length >= indent && /\d/.test(found[2]) === ordered)
      items.push([found[3]]);
    else if (lines[n].trim() && /^\s/.test(lines[n]) && lines[n].search(/\S/) > indent)
      items.at(-1).push(lines[n].replace(new RegExp(`^\\s{0,${indent + 3}}`), ""));
    else if (!lines[n].trim() && lines[n + 1]?.trim() && lines[n + 1].search(/\S/) > indent) items.at(-1).push("");
    else break;
    n++;
  }
  out.push(
    h(
      ordered ? "ol" : "ul",
      {},
      items.map((part) =>
        h("li", {}, part.length === 1 ? inline(part[0]) : [inline(part[0]), blocks(part.slice(1), depth + 1)]),
      ),
    ),
  );
  return n;
}

function paragraph(lines, start, out) {
  let n = start + 1;
  while (n < lines.length && lines[n].trim() && !/^(#{1,6}\s|\s{0,3}(```|~~~|>))/.test(lines[n]) && !item(lines[n]))
    n++;
  out.push(h("p", {}, inline(lines.slice(start, n).join("\n"))));
  return n;
}

/** Code, emphasis and links within a line. */
export function inline(text, depth = 0) {
  if (depth > MOST_DEPTH) return [text];
  const out = [];
  let last = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, strong, strong2, em, em2, label, target, name, bare] = match;
    out.push(text.slice(last, match.index));
    last = match.index + whole.length;
    if (code !== undefined) out.push(h("code", {}, code.trim() || code));
    else if (strong ?? strong2) out.push(h("strong", {}, inline(strong ?? strong2, depth + 1)));
    else if (em ?? em2) out.push(h("em", {}, inline(em ?? em2, depth + 1)));
    else if (target !== undefined) out.push(/^https?:\/\//i.test(target) ? outside(target, label || target) : whole);
    else if (name !== undefined) out.push(h("a", { href: `/memories/${encodeURIComponent(name)}` }, name));
    else out.push(outside(bare, bare));
  }
  out.push(text.slice(last));
  return out;
}
