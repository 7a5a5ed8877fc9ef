// Hidden observations, which can be restored.
import { get, post } from "./api.js";
import { h } from "./dom.js";
import { short, when } from "./format.js";
import { firstPages, pagedList } from "./pages.js";
import { nothing } from "./parts.js";
import { chosen, projectName } from "./projects.js";
import { navigate } from "./router.js";
import { safely, toast } from "./toast.js";

export async function hiddenList(signal) {
  const load = (before) => get("/api/hidden", { project: chosen(), before, limit: 50 }, signal);
  return pagedList({
    load,
    first: await firstPages(load),
    row,
    label: "Hidden",
    nothing: nothing("No hidden observations. Hidden observations stay here until you restore them."),
  });
}

function row(it) {
  const restore = safely(async () => {
    await post(`/api/observations/${it.id}/restore`);
    toast("Restored.");
    await navigate(`/observations/${it.id}`);
  });
  return h("li", { class: "job" },
    h("div", { class: "grow" },
      h("span", { class: "title" }, short(it.title || "Untitled")),
      h("span", { class: "sub block quiet small" }, projectName(it.project_id), " · hidden ", when(it.at)),
    ),
    h("button", { data: { item: "" }, onclick: restore }, "Restore"),
  );
}
