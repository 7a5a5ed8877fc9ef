// One memory: as it reads, as it is written, where it came from.
import { get, post, put, remove, url } from "../api.js";
import { h, replace } from "../dom.js";
import { absolute, tokens, when } from "../format.js";
import { icon } from "../icons.js";
import { markdown } from "../markdown.js";
import { editing } from "../memory_editor.js";
import { historyCard } from "../memory_history.js";
import { one } from "../projects.js";
import { navigate, show } from "../router.js";
import { failed, toast } from "../toast.js";

export default async function memory({ id, query, signal }) {
  const project = Number(query.get("project")) || one();
  const path = `/api/memories/${encodeURIComponent(id)}`;
  const asRetired = query.get("retired") === "1";
  const [it, log] = await Promise.all([
    get(path, { project, retired: asRetired ? 1 : null }, signal),
    get("/api/memories-log", { project, limit: 200 }, signal).catch(() => ({ items: [] })),
  ]);
  const body = h("div", { class: "stack" }, reading(it));
  const again = () => show({ kept: true });
  const retired = asRetired || Boolean(it.because);
  const writable = it.ours !== false;
  const edit = () => {
    article.classList.add("at-work");
    replace(body, form());
  };
  const form = () =>
    editing(it, {
      cancel: () => {
        article.classList.remove("at-work");
        replace(body, reading(it));
      },
      save: async (text, checksum) => {
        await put(path, { text, checksum }, { project });
        toast("Saved. The version before is in the history.");
        await again();
      },
      reload: () => get(path, { project }),
    });
  const deeds = {
    async pin() {
      await put(path, { pinned: !it.pinned, checksum: it.checksum }, { project });
      await again();
    },
    async retire() {
      await remove(path, { project });
      toast("Retired: it is no longer told.", {
        undo: async () => {
          await post(`${path}/restore`, {}, { project });
          await navigate(url(`/memories/${encodeURIComponent(id)}`, { project }));
        },
      });
      await navigate("/memories");
    },
    async restore() {
      await post(`${path}/restore`, {}, { project });
      toast("It is told again.");
      await navigate(url(`/memories/${encodeURIComponent(id)}`, { project }));
    },
  };
  const safely = (deed) => () => Promise.resolve(deed()).catch(failed);
  const mine = log.items.filter(
    (each) =>
      Array.isArray(each.files) &&
      each.files.some(
        (file) =>
          String(file.path ?? file)
            .split("/")
            .at(-1) === `${id}.md`,
      ),
  );
  const article = h(
    "article",
    {},
    h(
      "div",
      { class: "crumbs" },
      h("a", { href: "/memories" }, "Memories"),
      h("span", { class: "mono quiet" }, id),
      retired && h("span", { class: "chip bad" }, "retired"),
      it.by_agent && h("span", { class: "chip" }, "noted by the agent"),
    ),
    h(
      "div",
      { class: "head" },
      h("h1", {}, it.description || id),
      writable &&
        h(
          "div",
          { class: "row-of-buttons" },
          retired
            ? h("button", { type: "button", onclick: safely(deeds.restore) }, icon("undo"), "Restore")
            : [
                h("button", { type: "button", title: "Edit (e)", onclick: edit }, icon("edit"), "Edit"),
                h(
                  "button",
                  {
                    type: "button",
                    title: "Pin (p)",
                    "aria-pressed": String(Boolean(it.pinned)),
                    onclick: safely(deeds.pin),
                  },
                  icon("pin"),
                  it.pinned ? "Pinned" : "Pin",
                ),
                h(
                  "button",
                  { type: "button", class: "danger", title: "Retire (x)", onclick: safely(deeds.retire) },
                  icon("trash"),
                  "Retire",
                ),
              ],
        ),
    ),
    h(
      "div",
      { class: "columns" },
      body,
      h(
        "aside",
        { class: "stack", "aria-label": "About this memory" },
        about(it),
        evidence(it),
        historyCard(mine, project),
      ),
    ),
  );
  return {
    title: it.description || id,
    keys: writable && !retired ? { e: edit, p: safely(deeds.pin), x: safely(deeds.retire) } : {},
    element: article,
  };
}

function reading(it) {
  return h(
    "section",
    { class: "card", "aria-label": "What it says" },
    h(
      "div",
      { class: "card-head" },
      h("span", { class: "chip" }, it.type),
      h("span", { class: "grow" }),
      tokens(it.tokens),
    ),
    markdown(it.body),
  );
}

function about(it) {
  const rows = [
    ["Stands with", it.scope],
    ["Written", it.created ? absolute(it.created) : null],
    ["Changed", it.updated ? when(it.updated) : null],
    ["Replaces", [it.replaces ?? []].flat().join(", ") || null],
    ["Replaced by", it.replaced_by],
  ];
  const flagged = it.flagged ?? {};
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "About"),
    h(
      "dl",
      { class: "pair" },
      rows.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
    ),
    [
      ["changed", "Changed since"],
      ["gone", "Gone"],
      ["dead_links", "Dead links"],
    ].map(
      ([name, words]) =>
        [flagged[name] ?? []].flat().length > 0 &&
        h("p", { class: "note bad" }, `${words}: ${[flagged[name]].flat().join(", ")}`),
    ),
  );
}

function evidence(it) {
  const all = [it.evidence ?? []].flat(),
    files = [it.files ?? []].flat();
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Evidence"),
    all.length
      ? h(
          "ul",
          { class: "files" },
          all.map((each) => {
            const found = /^observation (\d+)$/.exec(each.text ?? each);
            return h(
              "li",
              {},
              found
                ? h("a", { href: `/observations/${found[1]}` }, each.title ?? `Observation ${found[1]}`)
                : String(each.text ?? each),
            );
          }),
        )
      : h("p", { class: "nothing" }, "Nobody noted where it came from."),
    files.length > 0 &&
      h(
        "ul",
        { class: "files gap" },
        files.map((each) => h("li", { class: "mono" }, each.path ?? each[0] ?? each)),
      ),
  );
}
