// What stands beside an observation: its files, what is like it, and where it came from.
import { url } from "./api.js";
import { h } from "./dom.js";
import { absolute, compact } from "./format.js";
import { card, nothing, pairs } from "./parts.js";
import { freshnessChip } from "./rows.js";

/** @param {any} it as `/api/observations/{id}` gives it */
export function aside(it) {
  return h("aside", { class: "stack", "aria-label": "About this observation" },
    h("section", { class: "card" },
      h("div", { class: "card-head" }, h("h2", {}, "Files"), freshnessChip(it.freshness)),
      files(it),
    ),
    card("Related", related(it)),
    card("Origin", origin(it)),
  );
}

function files(it) {
  const changed = new Set(it.freshness.changed),
    gone = new Set(it.freshness.gone);
  const all = [...new Set([...it.files_modified, ...it.files_read])];
  if (!all.length) return nothing("No files.");
  return h("ul", { class: "files" },
    all.map((path) =>
      h("li", {},
        h("a", { class: "mono", href: url("/search", { q: path.split("/").at(-1), file: path }) }, path),
        " ",
        h("span", { class: "chip" }, it.files_modified.includes(path) ? "modified" : "read"),
        changed.has(path) && h("span", { class: "chip bad" }, "changed since"),
        gone.has(path) && h("span", { class: "chip bad" }, "gone"),
      ),
    ),
  );
}

function related(it) {
  const links = [...it.related];
  if (it.follows) links.unshift({ id: it.follows, title: `#${it.follows}`, why: "continues this" });
  return [
    links.length
      ? h("ol", { class: "list" },
          links.map((each) =>
            h("li", { class: "related" },
              h("a", { href: `/observations/${each.id}`, data: { item: "" } }, each.title || `#${each.id}`),
              h("span", { class: "sub block quiet small" }, [each.type, each.why].filter(Boolean).join(" · ")),
            ),
          ),
        )
      : nothing("No related observations."),
    it.duplicates.length > 0 &&
      h("p", { class: "small gap" },
        "Merged into this: ",
        it.duplicates.map((id) => [h("a", { href: `/observations/${id}` }, `#${id}`), " "]),
      ),
  ];
}

function origin(it) {
  const rows = [
    ["Written by", [it.provider, it.model].filter(Boolean).join(" ")],
    ["Source", it.origins.join(", ")],
    ["When", absolute(it.at)],
    ["Prompt", it.prompt_number],
    ["Commit", it.revision ? it.revision.slice(0, 10) : null],
    ["Size", `${compact(it.tokens)} tokens`],
  ];
  return [
    pairs(rows),
    h("p", { class: "gap" }, h("a", { href: `/sessions/${it.session_id}` }, "Open its session")),
  ];
}
