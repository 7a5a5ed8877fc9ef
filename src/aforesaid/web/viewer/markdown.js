// Markdown as elements. The worker parses it (`web/markdown.py`) and sends a tree: a node is a text or
// [tag, attributes?, ...children]. Only these tags become elements.
import { h, outside } from "./dom.js";
import { memoryAddress } from "./projects.js";

const TAGS = new Set(
  "p h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong hr br table thead tbody tr th td".split(" "),
);

/** @param {any[]} nodes @param {number | null} project whose memories `[[name]]` means */
export const markdown = (nodes, project) => nodes.map((node) => element(node, project));

function element(node, project) {
  if (!Array.isArray(node)) return String(node);
  const [tag, ...rest] = node;
  const attributes = typeof rest[0] === "object" && !Array.isArray(rest[0]) ? rest.shift() : {};
  const children = markdown(rest, project);
  if (attributes.memory) return h("a", { href: memoryAddress(attributes.memory, project) }, children);
  if (attributes.href) return outside(attributes.href, children);
  if (!TAGS.has(tag)) return children;
  return h(tag, { class: tag === "pre" && "code", start: attributes.start }, children);
}
