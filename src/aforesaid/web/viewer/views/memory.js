// One memory: as it reads, as it is written, where it came from.
import { get, post, put, remove } from "../api.js";
import { code, h, replace } from "../dom.js";
import { absolute, tokens, when } from "../format.js";
import { OpenForm } from "../forms.js";
import { icon } from "../icons.js";
import { markdown } from "../markdown.js";
import { editing } from "../memory_editor.js";
import { historyCard } from "../memory_history.js";
import { card, nothing, pairs } from "../parts.js";
import { Pill } from "../pill.js";
import { memoryAddress, one } from "../projects.js";
import { again, navigate } from "../router.js";
import { onQuiet } from "../stream.js";
import { safely, toast } from "../toast.js";
import { Watching } from "../change_watch.js";

export default async function memory({ id, query, signal }) {
  const project = query.has("project") ? Number(query.get("project")) || null : one();
  const path = `/api/memories/${encodeURIComponent(id)}`;
  const asked = { project, retired: query.get("retired") === "1" ? 1 : null };
  const [it, history] = await Promise.all([get(path, asked, signal), historyCard(project, signal, id)]);
  const retired = Boolean(asked.retired);
  const body = h("div", { class: "stack" }, reading(it, project));
  const form = new OpenForm();
  const pill = new Pill();
  const watching = new Watching({
    pill,
    read: () => get(path, asked),
    same: (now) => now.checksum === it.checksum,
    gone: "No longer here",
  });
  const actions = {
    edit() {
      const element = editing(it, {
        project,
        cancel: form.cancel,
        save: async (text, checksum) => {
          await put(path, { text, checksum }, { project });
          form.done();
          toast("Saved. The previous version is in the history.");
          await again("e");
        },
        reload: () => get(path, { project }),
      });
      article.classList.add("at-work");
      replace(body, element);
      form.open(element, () => {
        article.classList.remove("at-work");
        replace(body, reading(it, project));
        article.querySelector("[data-keep=e]").focus();
      });
    },
    async pin() {
      await put(path, { pinned: !it.pinned, checksum: it.checksum }, { project });
      await again();
    },
    async retire() {
      await watching.leaving(() => remove(path, { project }));
      toast("Retired: no longer injected.", {
        undo: async () => {
          await post(`${path}/restore`, {}, { project });
          await navigate(memoryAddress(id, project));
        },
      });
      await navigate("/memories");
    },
    async restore() {
      await post(`${path}/restore`, {}, { project });
      toast("Restored.");
      await navigate(memoryAddress(id, project));
    },
  };
  const article = h("article", {},
    pill.element,
    h("div", { class: "crumbs" },
      h("a", { href: "/memories" }, "Memories"),
      h("span", { class: "mono quiet" }, id),
      retired && h("span", { class: "chip bad" }, "retired"),
      it.by_agent && h("span", { class: "chip" }, "noted by the agent"),
    ),
    h("div", { class: "head" }, h("h1", {}, code(it.description || id)), it.ours && buttons(it, retired, actions)),
    h("div", { class: "columns" },
      body,
      h("aside", { class: "stack", "aria-label": "About this memory" }, about(it, project), evidence(it), history),
    ),
  );
  return {
    title: it.description || id,
    leave: onQuiet(["memory", "dream", "changed"], watching.look, 400, (data) => !data.id),
    unsaved: form.unsaved,
    keys:
      it.ours && !retired
        ? form.keys({ e: safely(actions.edit), p: safely(actions.pin), X: safely(actions.retire) })
        : {},
    element: article,
  };
}

function buttons(it, retired, actions) {
  const button = (key, deed, more, ...words) =>
    h("button", { data: { keep: key }, onclick: safely(deed), ...more }, words);
  return h("div", { class: "row-of-buttons" },
    retired
      ? button("r", actions.restore, {}, icon("undo"), "Restore")
      : [
          button("e", actions.edit, { title: "Edit (e)" }, icon("edit"), "Edit"),
          button(
            "p",
            actions.pin,
            { title: "Pin (p)", "aria-pressed": String(it.pinned) },
            icon("pin"),
            it.pinned ? "Pinned" : "Pin",
          ),
          button("X", actions.retire, { class: "danger", title: "Retire (Shift+x)" }, icon("trash"), "Retire"),
        ],
  );
}

function reading(it, project) {
  return h("section", { class: "card", "aria-label": "Content" },
    h("div", { class: "card-head" },
      h("span", { class: "chip" }, it.type),
      h("span", { class: "grow" }),
      tokens(it.tokens),
    ),
    h("div", { class: "prose" }, markdown(it.content, project)),
  );
}

const FLAGS = { changed: "Changed since", gone: "Gone", dead_links: "Dead links" };

function about(it, project) {
  const named = (names) => names.map((each) => [h("a", { href: memoryAddress(each, project) }, each), " "]);
  const rows = [
    ["Scope", it.scope],
    ["Written", it.created ? absolute(it.created) : null],
    ["Changed", it.updated ? when(it.updated) : null],
    ["Retired", it.because],
    ["Replaces", it.replaces.join(", ")],
    ["Replaced by", it.replaced_by && named([it.replaced_by])],
  ];
  return card("About",
    pairs(rows),
    it.flagged &&
      Object.entries(FLAGS)
        .filter(([name]) => it.flagged[name].length)
        .map(([name, words]) => h("p", { class: "note bad gap" }, `${words}: ${it.flagged[name].join(", ")}`)),
  );
}

function evidence(it) {
  return card("Evidence",
    it.evidence.length
      ? h("ul", { class: "files" }, it.evidence.map(rest))
      : nothing("No evidence recorded."),
    it.files.length > 0 && [
      h("h3", { class: "gap" }, "Files"),
      h("ul", { class: "files" }, it.files.map((each) => h("li", { class: "mono" }, each))),
    ],
  );
}

/** What a memory rests on is a text; one that names an observation leads there. */
function rest(text) {
  const found = /^observation (\d+)$/.exec(text);
  return h("li", {}, found ? h("a", { href: `/observations/${found[1]}` }, `Observation ${found[1]}`) : text);
}
