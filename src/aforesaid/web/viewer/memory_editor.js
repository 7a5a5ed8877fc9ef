// A memory's whole file, with a preview beside it. Changes saved in between are not overwritten.
import { clash } from "./conflict.js";
import { post } from "./api.js";
import { h, later, newest, replace } from "./dom.js";
import { markdown } from "./markdown.js";
import { failed } from "./toast.js";

/**
 * @param {{project: number | null, cancel: () => void, save: (text: string, checksum: string) => Promise<void>,
 *   reload: () => Promise<any>}} how
 */
export function editing(it, { project, cancel, save, reload }) {
  let checksum = it.checksum;
  const area = h("textarea", {
    class: "mono",
    rows: 22,
    "aria-label": "The memory as Markdown",
    prop: { value: it.text },
    oninput: () => draw(),
  });
  const preview = h("div", { class: "preview", "aria-label": "Preview", role: "region" });
  const conflict = h("div", {});
  const parse = newest(() => post("/api/markdown", { text: area.value.replace(/^---\n[\s\S]*?\n---\n/, "") }));
  const render = async () =>
    replace(preview, h("div", { class: "prose" }, markdown((await parse()).content, project)));
  const draw = later(() => render().catch(failed), 150);
  const button = h("button", { type: "submit", class: "primary" }, "Save ", h("kbd", { "aria-hidden": "true" }, "Ctrl+Enter"));
  const form = h("form", {
      class: "card",
      "aria-label": "Edit the memory",
      onsubmit: async (event) => {
        event.preventDefault();
        button.disabled = true;
        try {
          await save(area.value, checksum);
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
    h("div", { class: "columns even editor" }, area, preview),
    h("div", { class: "row-of-buttons gap" },
      button,
      h("button", { onclick: cancel }, "Cancel"),
      h("span", { class: "quiet small" }, it.path),
    ),
  );
  async function ask() {
    const theirs = await reload();
    clash(conflict, {
      theirs: theirs.text,
      mine: () => {
        checksum = theirs.checksum;
        form.requestSubmit();
      },
      take: () => {
        checksum = theirs.checksum;
        area.value = theirs.text;
        draw();
      },
    });
  }
  draw();
  setTimeout(() => area.focus(), 0);
  return form;
}
