// Markdown as elements, and only those: HTML in it is text. Enough for memories, no more.
import { h } from "./dom.js";
import { inline } from "./inline.js";

const MOST_DEPTH = 4;
const MOST = 50_000; // characters; who writes more is read as it is written, so that no page stands still

/** @param {number | null} project whose memories `[[name]]` means */
export function markdown(text, project) {
  const all = String(text).replace(/\r\n?/g, "\n");
  const end = all.length > MOST ? Math.max(all.lastIndexOf("\n", MOST), MOST / 2) : all.length;
  return h("div", { class: "prose" },
    blocks(all.slice(0, end).split("\n"), 0, project),
    end < all.length && h("pre", { class: "code" }, all.slice(end).replace(/^\n/, "")),
  );
}

function blocks(lines, depth, project) {
  const out = [];
  let n = 0;
  while (n < lines.length) {
    const line = lines[n];
    const fence = /^\s{0,3}(```+|~~~+)\s*(\S*)/.exec(line);
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (!line.trim()) n++;
    else if (fence) {
      let end = n + 1;
      while (end < lines.length && !lines[end].trim().startsWith(fence[1])) end++;
      out.push(h("pre", { class: "code" }, h("code", {}, lines.slice(n + 1, end).join("\n"))));
      n = end + 1;
    } else if (heading) {
      // one level down: the page has its own first heading
      out.push(h(`h${Math.min(6, heading[1].length + 1)}`, {}, inline(unhashed(heading[2]), project)));
      n++;
    } else if (/^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) {
      out.push(h("hr"));
      n++;
    } else if (/^\s{0,3}>/.test(line))
      n = gather(lines, n, /^\s{0,3}>/, (part) =>
        out.push(
          h("blockquote", {},
            depth < MOST_DEPTH
              ? blocks(
                  part.map((each) => each.replace(/^\s{0,3}>\s?/, "")),
                  depth + 1,
                  project,
                )
              : part.join("\n"),
          ),
        ),
      );
    else if (item(line) && depth < MOST_DEPTH) n = list(lines, n, depth, project, out);
    else n = paragraph(lines, n, project, out);
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

function list(lines, start, depth, project, out) {
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
        h("li", {}, inline(part[0], project), part.length > 1 && blocks(part.slice(1), depth + 1, project)),
      ),
    ),
  );
  return n;
}

function paragraph(lines, start, project, out) {
  let n = start + 1;
  while (n < lines.length && lines[n].trim() && !/^(#{1,6}\s|\s{0,3}(```|~~~|>))/.test(lines[n]) && !item(lines[n]))
    n++;
  out.push(h("p", {}, inline(lines.slice(start, n).join("\n"), project)));
  return n;
}

/** A heading may end in the signs it begins with. */
function unhashed(text) {
  const whole = text.trimEnd();
  let end = whole.length;
  while (end > 0 && whole[end - 1] === "#") end--;
  return whole.slice(0, end).trimEnd();
}
