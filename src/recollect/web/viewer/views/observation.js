// One observation: every level of it, what it rests on, and what can be done with it.
import { get, patch, post, remove, url } from "../api.js";
import { code, h } from "../dom.js";
import { plural, tokens, when } from "../format.js";
import { OpenForm } from "../forms.js";
import { icon } from "../icons.js";
import { inline } from "../inline.js";
import { mergeDialog } from "../merging.js";
import { aside } from "../observation_about.js";
import { editor } from "../observation_editor.js";
import { nothing } from "../parts.js";
import { Pill } from "../pill.js";
import { openRaw } from "../raw.js";
import { again, navigate } from "../router.js";
import { eventRow, typeLabel } from "../rows.js";
import { onQuiet } from "../stream.js";
import { safely, toast } from "../toast.js";
import { Watching } from "../watching.js";

export default async function observation({ id, signal }) {
  const path = `/api/observations/${id}`;
  const it = await get(path, {}, signal);
  const body = h("div", { class: "stack" }, levels(it), evidence(it));
  const form = new OpenForm();
  const pill = new Pill();
  const watching = new Watching({
    pill,
    read: () => get(path),
    same: (now) => said(now) === said(it),
    gone: "It was forgotten",
  });

  const deeds = {
    async pin() {
      await post(`${path}/pin`, { pinned: !it.pinned });
      toast(it.pinned ? "No longer pinned." : "Pinned: it is told first.", {
        undo: async () => {
          await post(`${path}/pin`, { pinned: it.pinned });
          await again();
        },
      });
      await again();
    },
    edit() {
      const element = editor(it, {
        cancel: form.cancel,
        done: () => form.done(),
        reload: () => get(path),
        take: async () => {
          form.done();
          await again("edit");
        },
        save: async (changed) => {
          await patch(path, changed);
          form.done();
          toast("Saved.", {
            undo: async () => {
              await post(`${path}/unedit`);
              await again();
            },
          });
          await again("edit");
        },
      });
      body.firstElementChild.replaceWith(element);
      form.open(element, () => {
        element.replaceWith(levels(it));
        article.querySelector("[data-keep=edit]").focus();
      });
      element.querySelector("input").focus();
    },
    async unedit() {
      await post(`${path}/unedit`);
      toast("It says again what it said before.");
      await again("edit");
    },
    merge: () =>
      mergeDialog(it, async (target) => {
        const { into } = await post(`${path}/merge`, { into: target.id });
        toast(`Merged into “${target.title}”.`, {
          undo: async () => {
            await post(`${path}/unmerge`);
            await navigate(`/observations/${id}`);
          },
        });
        await navigate(`/observations/${into}`);
      }),
    async unmerge() {
      await post(`${path}/unmerge`);
      toast("It stands by itself again.");
      await again("edit");
    },
    async forget() {
      const { count } = await watching.leaving(() => remove(path));
      toast(count > 1 ? `Forgotten, and ${plural(count - 1, "other")} that it stood for.` : "Forgotten.", {
        undo: async () => {
          await post(`${path}/restore`);
          await navigate(`/observations/${id}`);
        },
      });
      await navigate(`/sessions/${it.session_id}`);
    },
  };
  const article = h("article", {}, pill.element, head(it, deeds), h("div", { class: "columns" }, body, aside(it)));
  return {
    title: it.title || "Observation",
    leave: onQuiet(["changed", "observation"], watching.look, 400, (data) => data.id === it.id || data.what === "merged"),
    unsaved: form.unsaved,
    keys: form.keys({
      e: safely(deeds.edit),
      p: safely(deeds.pin),
      m: safely(deeds.merge),
      X: safely(deeds.forget),
    }),
    element: article,
  };
}

/** What a reader sees of it; what is like it may change with every observation. */
const said = ({ related, freshness, ...rest }) => JSON.stringify(rest);

function head(it, deeds) {
  const button = (name, key, deed, more = {}) =>
    h("button", { title: `${name} (${key})`, data: { keep: key }, ...more, onclick: safely(deed) },
      icon({ Forget: "trash", Pinned: "pin" }[name] ?? name.toLowerCase()),
      name,
    );
  return [
    h("div", { class: "crumbs" },
      typeLabel(it.type),
      h("a", { href: `/sessions/${it.session_id}` }, it.project),
      when(it.at),
      it.edited && h("span", { class: "chip" }, "edited"),
      it.edits > 0 &&
        h("button", { class: "link", onclick: safely(deeds.unedit) }, "take the edit back"),
      it.repeats &&
        h("span", { class: "chip" },
          it.merged ? "merged into " : "repeats ",
          h("a", { href: `/observations/${it.repeats}` }, `#${it.repeats}`),
        ),
      it.merged &&
        h("button", { class: "link", onclick: safely(deeds.unmerge) }, "take the merge back"),
    ),
    h("div", { class: "head" },
      h("h1", {}, code(it.title || "Untitled")),
      h("div", { class: "row-of-buttons" },
        button("Edit", "e", deeds.edit, { data: { keep: "edit" } }),
        button(it.pinned ? "Pinned" : "Pin", "p", deeds.pin, { "aria-pressed": String(it.pinned) }),
        button("Merge", "m", deeds.merge),
        button("Forget", "Shift+x", deeds.forget, { class: "danger" }),
      ),
    ),
  ];
}

function levels(it) {
  const doubts = it.doubts.filter((each) => !each.part.startsWith("facts"));
  return h("section", { class: "card levels", "aria-label": "What it says" },
    h("div", { class: "card-head" }, h("h2", {}, "What it says"), tokens(it.tokens)),
    it.subtitle && h("p", { class: "subtitle" }, inline(it.subtitle, it.project_id)),
    it.facts.length > 0 &&
      h("ul", { class: "facts" },
        it.facts.map((fact) =>
          h("li", { class: "prose" },
            inline(fact.text, it.project_id),
            fact.doubt && h("span", { class: "chip bad", title: fact.doubt }, "doubted: ", fact.doubt),
          ),
        ),
      ),
    it.narrative && h("p", { class: "said prose" }, inline(it.narrative, it.project_id)),
    doubts.map((each) => h("p", { class: "note" }, `Not borne out by the events: ${each.part}. ${each.reason}`)),
    it.concepts.length > 0 &&
      h("div", { class: "chips" },
        it.concepts.map((each) => h("a", { class: "chip", href: url("/search", { concept: each }) }, each)),
      ),
  );
}

function evidence(it) {
  return h("section", { class: "card" },
    h("div", { class: "card-head" },
      h("h2", {}, "Evidence"),
      h("span", { class: "quiet small" }, plural(it.evidence.length, "event"), it.evidence_of === "turn" && ": the events of its turn"),
    ),
    it.evidence.length
      ? h("ol", { class: "list events" },
          it.evidence.map((each) => eventRow(each, openRaw)),
        )
      : nothing("The events it came from are not kept."),
  );
}
