// The words of an observation, as a form. Only what was changed is sent.
import { clash } from "./conflict.js";
import { h } from "./dom.js";
import { failed } from "./toast.js";
import { TYPES } from "./rows.js";

const lines = (text) =>
  text
    .split("\n")
    .map((each) => each.trim())
    .filter(Boolean);
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/**
 * @param {{save: (changed: any) => Promise<void>, cancel: () => void, done: () => void, reload: () => Promise<any>,
 *   take: (theirs: any) => void}} how `done`: there is nothing to save
 */
export function editor(it, { save, cancel, done, reload, take }) {
  let version = it.version;
  const conflict = h("div", {});
  const before = {
    type: it.type,
    title: it.title ?? "",
    subtitle: it.subtitle ?? "",
    facts: it.facts.map((each) => each.text),
    narrative: it.narrative ?? "",
    concepts: it.concepts,
  };
  const type = h("select", { name: "type" }, TYPES.map((each) => h("option", { value: each }, each)));
  type.value = it.type;
  const text = (name, value) => h("input", { name, prop: { value: value ?? "" } });
  const area = (name, value, rows) => h("textarea", { name, rows, prop: { value } });
  const parts = {
    title: text("title", it.title),
    subtitle: text("subtitle", it.subtitle),
    facts: area("facts", before.facts.join("\n"), Math.max(3, before.facts.length + 1)),
    narrative: area("narrative", it.narrative ?? "", 5),
    concepts: text("concepts", it.concepts.join(", ")),
  };
  const field = (name, element) => h("label", { class: "field" }, h("span", {}, name), element);
  const button = h("button", { type: "submit", class: "primary" }, "Save");
  const form = h("form", {
      class: "card",
      "aria-label": "Edit the observation",
      onsubmit: async (event) => {
        event.preventDefault();
        const now = {
          type: type.value,
          title: parts.title.value.trim(),
          subtitle: parts.subtitle.value.trim(),
          facts: lines(parts.facts.value),
          narrative: parts.narrative.value.trim(),
          concepts: parts.concepts.value
            .split(",")
            .map((each) => each.trim())
            .filter(Boolean),
        };
        const names = Object.keys(now).filter((name) => !same(now[name], before[name]));
        if (!names.length) {
          done();
          return;
        }
        button.disabled = true;
        try {
          await save({ ...Object.fromEntries(names.map((name) => [name, now[name]])), version });
        } catch (error) {
          if (error.code === "edited_meanwhile") await ask().catch(failed);
          else failed(error);
          button.disabled = false;
        }
      },
      onkeydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
      },
    },
    conflict,
    h("h2", {}, "Edit"),
    field("Type", type),
    field("Title", parts.title),
    field("Subtitle", parts.subtitle),
    field("Facts, one per line", parts.facts),
    field("Narrative", parts.narrative),
    field("Concepts, separated by commas", parts.concepts),
    h("div", { class: "row-of-buttons" }, button, h("button", { onclick: cancel }, "Cancel")),
  );
  async function ask() {
    const theirs = await reload();
    clash(conflict, {
      theirs: [theirs.type, theirs.title, theirs.subtitle, ...theirs.facts.map((each) => `- ${each.text}`),
        theirs.narrative, theirs.concepts.join(", ")].filter(Boolean).join("\n"),
      mine: () => {
        version = theirs.version;
        form.requestSubmit();
      },
      take: () => take(theirs),
    });
  }
  return form;
}
