// A unified diff, coloured and with signs: colour alone would not do.
import { h } from "./dom.js";
import { nothing } from "./parts.js";

const KINDS = { "+": "added", "-": "removed", "@": "place" };

export function diffView(text) {
  const lines = String(text ?? "").split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (!lines.length) return nothing("No difference.");
  return h("div", { class: "diff mono", tabindex: "0", role: "region", "aria-label": "Changes" },
    lines.map((line) => {
      const header = line.startsWith("+++") || line.startsWith("---") || line.startsWith("diff ");
      return h("div", { class: header ? "header" : (KINDS[line[0]] ?? "") }, line || " ");
    }),
  );
}
