// What changed in the memories, when and why; each change opens as a diff and can be undone.
import { get, post } from "./api.js";
import { h, opened, replace } from "./dom.js";
import { diffView } from "./diff.js";
import { plural, when } from "./format.js";
import { pagedList } from "./pages.js";
import { nothing } from "./parts.js";
import { again, unread } from "./router.js";
import { failed, toast } from "./toast.js";

const AT_ONCE = 12;

/** @param {string} [name] of one memory; left out: of all of them */
export async function historyCard(project, signal, name) {
  const load = (before) => get("/api/memories-log", { project, name, before, limit: AT_ONCE }, signal);
  return h("section", { class: "card history" }, h("h2", {}, "History"), await changes(load, project));
}

async function changes(load, project) {
  try {
    const none = nothing("No changes yet. Every change can be undone.");
    const row = (each) => entry(each, project);
    return pagedList({ load, first: await load(null), row, nothing: none, label: "Changes", byHand: true }).element;
  } catch (error) {
    return unread(error);
  }
}

function entry(it, project) {
  return h("li", {},
    h("button", { class: "plain", data: { item: "" }, onclick: () => open(it, project).catch(failed) },
      h("span", {}, it.reason || "changed"),
      h("span", { class: "sub block quiet small" }, when(it.at), " · ", plural(it.files.length, "file")),
    ),
  );
}

async function open(it, project) {
  const path = `/api/memories-log/${encodeURIComponent(it.id)}`;
  const found = await get(path, { project });
  const place = h("div", {}, diffView(found.diff));
  const undo = async (force) => {
    try {
      await post(`${path}/undo`, force ? { force: true } : {}, { project });
      dialog.close();
      toast("Undone. The history shows this, too.");
      await again();
    } catch (error) {
      if (error.status !== 409) {
        failed(error);
        return;
      }
      replace(place,
        h("p", { class: "note bad" }, error.message),
        diffView(found.diff),
        h("button", { class: "danger", onclick: () => undo(true) }, "Undo anyway"),
      );
    }
  };
  const dialog = h("dialog", { class: "wide", "aria-labelledby": "change-title" },
    h("h2", { id: "change-title" }, it.reason || "changed"),
    h("p", { class: "quiet gap-below" }, when(it.at)),
    place,
    h("div", { class: "row-of-buttons end" },
      h("button", { onclick: () => undo(false) }, "Undo this change"),
      h("button", { class: "primary", onclick: () => dialog.close() }, "Close"),
    ),
  );
  opened(dialog);
}
