// Choosing what to merge an observation into: the likeliest are offered first.
import { get } from "./api.js";
import { code, h, later, newest, opened, replace } from "./dom.js";
import { failed, safely } from "./toast.js";

/** @param {any} it @param {(target: {id: number, title: string}) => Promise<void>} chosen */
export function mergeDialog(it, chosen) {
  const list = h("ol", { class: "list picks", "aria-label": "Merge into" });
  const pick = safely(async (target) => {
    dialog.close();
    await chosen(target);
  });
  const show = (found) => {
    const targets = found.filter((each) => each.id !== it.id);
    replace(list,
      !targets.length && h("li", { class: "nothing" }, "Nothing found in this project."),
      targets
        .slice(0, 8)
        .map((each) =>
          h("li", {},
            h("button", {
                class: "pick",
                onclick: () => pick({ id: each.id, title: (each.title || "Untitled").replace(/[\u0002\u0003]/g, "") }),
              },
              h("span", { class: "title" }, code(each.title || "Untitled")),
              h("span", { class: "quiet small" }, each.why ?? each.type ?? ""),
            ),
          ),
        ),
    );
  };
  const find = newest(async (q) => {
    if (!q) return it.related;
    const { hits } = await get("/api/search", { q, project: it.project_id, limit: 20 });
    return hits.filter((each) => each.kind === "observation");
  });
  const look = later(() => find(field.value.trim()).then(show, failed), 150);
  const field = h("input", {
    type: "search",
    "aria-label": "Search for the observation to keep",
    placeholder: "Search for the observation to keep",
    oninput: look,
  });
  const dialog = h("dialog", { "aria-labelledby": "merge-title" },
    h("h2", { id: "merge-title" }, "Merge into another"),
    h("p", { class: "lead" }, "This observation becomes a duplicate of the other one. You can undo this."),
    field,
    list,
    h("div", { class: "row-of-buttons end" }, h("button", { onclick: () => dialog.close() }, "Cancel")),
  );
  show(it.related);
  opened(dialog);
  field.focus();
}
