// One observation: every level of it, what it rests on, and what can be done with it.
import { get, patch, post, remove, url } from "../api.js";
import { h } from "../dom.js";
import { absolute, compact, plural, tokens, when } from "../format.js";
import { icon } from "../icons.js";
import { editor } from "../observation_editor.js";
import { inline } from "../markdown.js";
import { mergeDialog } from "../merging.js";
import { openRaw } from "../raw.js";
import { navigate, show } from "../router.js";
import { eventRow, freshnessChip, typeLabel } from "../rows.js";
import { failed, toast } from "../toast.js";

export default async function observation({ id, signal }) {
  const path = `/api/observations/${id}`;
  const it = await get(path, {}, signal);
  const again = () => show({ kept: true });
  const body = h("div", { class: "stack" }, levels(it), evidence(it));

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
      const done = () => body.firstElementChild.replaceWith(levels(it));
      const form = editor(it, {
        cancel: done,
        save: async (changed, before) => {
          await patch(path, changed);
          toast("Saved.", {
            undo: async () => {
              await patch(path, before);
              await again();
            },
          });
          await again();
        },
      });
      body.firstElementChild.replaceWith(form);
      form.querySelector("input").focus();
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
      await again();
    },
    async forget() {
      await remove(path);
      toast("Forgotten.", {
        undo: async () => {
          await post(`${path}/restore`);
          await navigate(`/observations/${id}`);
        },
      });
      await navigate(`/sessions/${it.session_id}`);
    },
  };
  const safely = (deed) => () => Promise.resolve(deed()).catch(failed);
  return {
    title: it.title || "Observation",
    keys: { e: safely(deeds.edit), p: safely(deeds.pin), m: safely(deeds.merge), x: safely(deeds.forget) },
    element: h("article", {}, head(it, deeds, safely), h("div", { class: "columns" }, body, aside(it))),
  };
}

function head(it, deeds, safely) {
  const button = (name, key, deed, more = {}) =>
    h(
      "button",
      { type: "button", title: `${name} (${key})`, ...more, onclick: safely(deed) },
      icon({ Forget: "trash", Pinned: "pin" }[name] ?? name.toLowerCase()),
      name,
    );
  return [
    h(
      "div",
      { class: "crumbs" },
      typeLabel(it.type),
      h("a", { href: `/sessions/${it.session_id}` }, it.project ?? "session"),
      when(it.at),
      it.edited && h("span", { class: "chip" }, "edited"),
      it.repeats &&
        h(
          "span",
          { class: "chip" },
          it.merged ? "merged into " : "repeats ",
          h("a", { href: `/observations/${it.repeats}` }, `#${it.repeats}`),
        ),
      it.merged &&
        h("button", { type: "button", class: "link", onclick: safely(deeds.unmerge) }, "take the merge back"),
    ),
    h(
      "div",
      { class: "head" },
      h("h1", {}, it.title || "Untitled"),
      h(
        "div",
        { class: "row-of-buttons" },
        button("Edit", "e", deeds.edit),
        button(it.pinned ? "Pinned" : "Pin", "p", deeds.pin, { "aria-pressed": String(Boolean(it.pinned)) }),
        button("Merge", "m", deeds.merge),
        button("Forget", "x", deeds.forget, { class: "danger" }),
      ),
    ),
  ];
}

function levels(it) {
  return h(
    "section",
    { class: "card levels", "aria-label": "What it says" },
    h("div", { class: "card-head" }, h("h2", {}, "What it says"), tokens(it.tokens)),
    it.subtitle && h("p", { class: "subtitle" }, it.subtitle),
    it.facts.length > 0 &&
      h(
        "ul",
        { class: "facts" },
        it.facts.map((fact) =>
          h(
            "li",
            { class: "prose" },
            inline(fact.text),
            fact.doubt && h("span", { class: "chip bad", title: fact.doubt }, "doubted: ", fact.doubt),
          ),
        ),
      ),
    it.narrative && h("p", { class: "said prose" }, inline(it.narrative)),
    Array.isArray(it.doubts) &&
      it.doubts
        .filter((each) => !String(each.part).startsWith("facts"))
        .map((each) => h("p", { class: "note" }, `Not borne out by the events: ${each.part}. ${each.reason}`)),
    it.concepts.length > 0 &&
      h(
        "div",
        { class: "chips" },
        it.concepts.map((each) => h("a", { class: "chip", href: url("/search", { concept: each }) }, each)),
      ),
  );
}

function evidence(it) {
  return h(
    "section",
    { class: "card" },
    h(
      "div",
      { class: "card-head" },
      h("h2", {}, "Evidence"),
      h("span", { class: "quiet small" }, plural(it.evidence.length, "event")),
    ),
    it.evidence.length
      ? h(
          "ol",
          { class: "list events" },
          it.evidence.map((each) => eventRow(each, openRaw)),
        )
      : h("p", { class: "nothing" }, "The events it came from are not kept."),
  );
}

function aside(it) {
  return h(
    "aside",
    { class: "stack", "aria-label": "About this observation" },
    h(
      "section",
      { class: "card" },
      h("div", { class: "card-head" }, h("h2", {}, "Files"), freshnessChip(it.freshness)),
      files(it),
    ),
    h("section", { class: "card" }, h("h2", {}, "Related"), related(it)),
    h("section", { class: "card" }, h("h2", {}, "Origin"), origin(it)),
  );
}

function files(it) {
  const changed = new Set(it.freshness?.changed ?? []),
    gone = new Set(it.freshness?.gone ?? []);
  const all = [...new Set([...it.files_modified, ...it.files_read])];
  if (!all.length) return h("p", { class: "nothing" }, "It names no files.");
  return h(
    "ul",
    { class: "files" },
    all.map((path) =>
      h(
        "li",
        {},
        h("a", { class: "mono", href: url("/search", { q: path.split("/").at(-1), file: path }) }, path),
        " ",
        it.files_modified.includes(path) && h("span", { class: "chip" }, "modified"),
        changed.has(path) && h("span", { class: "chip bad" }, "changed since"),
        gone.has(path) && h("span", { class: "chip bad" }, "gone"),
      ),
    ),
  );
}

function related(it) {
  const links = [...it.related];
  if (it.follows) links.unshift({ id: it.follows, title: `#${it.follows}`, why: "it carries this on" });
  return [
    links.length
      ? h(
          "ol",
          { class: "list" },
          links.map((each) =>
            h(
              "li",
              { class: "related" },
              h("a", { href: `/observations/${each.id}`, data: { item: "" } }, each.title ?? `#${each.id}`),
              h("span", { class: "sub block quiet small" }, [each.type, each.why].filter(Boolean).join(" · ")),
            ),
          ),
        )
      : h("p", { class: "nothing" }, "Nothing shares its files or words."),
    it.folded?.length > 0 &&
      h(
        "p",
        { class: "small gap" },
        "Merged into this: ",
        it.folded.map((each) => [h("a", { href: `/observations/${each.id ?? each}` }, `#${each.id ?? each}`), " "]),
      ),
  ];
}

function origin(it) {
  const rows = [
    ["Written by", [it.provider, it.model].filter(Boolean).join(" ")],
    ["When", absolute(it.at)],
    ["Prompt", it.prompt_number],
    ["Commit", it.revision ? it.revision.slice(0, 10) : null],
    ["Costs", `${compact(it.tokens)} tok`],
  ];
  return [
    h(
      "dl",
      { class: "pair" },
      rows
        .filter(([, value]) => value !== null && value !== undefined && value !== "")
        .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
    ),
    h("p", { class: "gap" }, h("a", { href: `/sessions/${it.session_id}` }, "Open its session")),
  ];
}
