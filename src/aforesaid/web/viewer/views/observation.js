// One observation: every level of it, what it rests on, and what can be done with it.
import { get, patch, post, remove, url } from "../api.js";
import { code, h } from "../dom.js";
import { plural, tokens, when } from "../format.js";
import { OpenForm } from "../forms.js";
import { icon } from "../icons.js";
import { markdown } from "../markdown.js";
import { mergeDialog } from "../merge_dialog.js";
import { aside } from "../observation_about.js";
import { editor } from "../observation_editor.js";
import { nothing } from "../parts.js";
import { Pill } from "../pill.js";
import { openRaw } from "../raw.js";
import { again, navigate } from "../router.js";
import { eventRow, typeLabel } from "../rows.js";
import { onQuiet } from "../stream.js";
import { safely, toast } from "../toast.js";
import { Watching } from "../change_watch.js";

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
    gone: "Hidden",
  });

  const actions = {
    async pin() {
      await post(`${path}/pin`, { pinned: !it.pinned });
      toast(it.pinned ? "Unpinned." : "Pinned: it comes first in the brief.", {
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
      toast("Edit undone.");
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
      toast("Merge undone.");
      await again("edit");
    },
    async hide() {
      const { count } = await watching.leaving(() => remove(path));
      toast(count > 1 ? `Hidden, with ${plural(count - 1, "duplicate")}.` : "Hidden.", {
        undo: async () => {
          await post(`${path}/restore`);
          await navigate(`/observations/${id}`);
        },
      });
      await navigate(`/sessions/${it.session_id}`);
    },
  };
  const article = h("article", {}, pill.element, head(it, actions), h("div", { class: "columns" }, body, aside(it)));
  return {
    title: it.title || "Observation",
    leave: onQuiet(["changed", "observation"], watching.look, 400, (data) => data.id === it.id || data.what === "merged"),
    unsaved: form.unsaved,
    keys: form.keys({
      e: safely(actions.edit),
      p: safely(actions.pin),
      m: safely(actions.merge),
      X: safely(actions.hide),
    }),
    element: article,
  };
}

/** What a reader sees of it; what is like it may change with every observation. */
const said = ({ related, freshness, ...rest }) => JSON.stringify(rest);

function head(it, actions) {
  const button = (name, key, deed, more = {}) =>
    h("button", { title: `${name} (${key})`, data: { keep: key }, ...more, onclick: safely(deed) },
      icon({ Hide: "trash", Pinned: "pin" }[name] ?? name.toLowerCase()),
      name,
    );
  return [
    h("div", { class: "crumbs" },
      typeLabel(it.type),
      h("a", { href: `/sessions/${it.session_id}` }, it.project),
      when(it.at),
      it.edited && h("span", { class: "chip" }, "edited"),
      it.edits > 0 &&
        h("button", { class: "link", onclick: safely(actions.unedit) }, "undo edit"),
      it.repeats &&
        h("span", { class: "chip" },
          it.merged ? "merged into " : "repeats ",
          h("a", { href: `/observations/${it.repeats}` }, `#${it.repeats}`),
        ),
      it.merged &&
        h("button", { class: "link", onclick: safely(actions.unmerge) }, "undo merge"),
    ),
    h("div", { class: "head" },
      h("h1", {}, code(it.title || "Untitled")),
      h("div", { class: "row-of-buttons" },
        button("Edit", "e", actions.edit, { data: { keep: "edit" } }),
        button(it.pinned ? "Pinned" : "Pin", "p", actions.pin, { "aria-pressed": String(it.pinned) }),
        button("Merge", "m", actions.merge),
        button("Hide", "Shift+x", actions.hide, { class: "danger" }),
      ),
    ),
  ];
}

function levels(it) {
  const doubts = it.doubts.filter((each) => !each.part.startsWith("facts"));
  return h("section", { class: "card levels", "aria-label": "Content" },
    h("div", { class: "card-head" }, h("h2", {}, "Content"), tokens(it.tokens)),
    it.subtitle && h("p", { class: "subtitle" }, markdown(it.content.subtitle, it.project_id)),
    it.facts.length > 0 &&
      h("ul", { class: "facts" },
        it.facts.map((fact, n) =>
          h("li", { class: "prose" },
            markdown(it.content.facts[n], it.project_id),
            fact.doubt && h("span", { class: "chip bad", title: fact.doubt }, "unverified: ", fact.doubt),
          ),
        ),
      ),
    it.narrative && h("p", { class: "said prose" }, markdown(it.content.narrative, it.project_id)),
    doubts.map((each) => h("p", { class: "note" }, `Not supported by the events: ${each.part}. ${each.reason}`)),
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
      : nothing("Its events are no longer stored."),
  );
}
