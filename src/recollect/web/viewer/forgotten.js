// What was forgotten, with the way back.
import { get, post } from "./api.js";
import { h } from "./dom.js";
import { short, when } from "./format.js";
import { pagedList } from "./pages.js";
import { nothing } from "./parts.js";
import { chosen, projectName } from "./projects.js";
import { navigate } from "./router.js";
import { safely, toast } from "./toast.js";

export async function forgottenList(signal) {
  const load = (before) => get("/api/forgotten", { project: chosen(), before, limit: 50 }, signal);
  return pagedList({
    load,
    first: await load(null),
    row,
    label: "Forgotten",
    nothing: nothing("Nothing was forgotten. What you forget stays here until you bring it back."),
  });
}

function row(it) {
  const restore = safely(async () => {
    await post(`/api/observations/${it.id}/restore`);
    toast("It is back.");
    await navigate(`/observations/${it.id}`);
  });
  return h("li", { class: "job" },
    h("div", { class: "grow" },
      h("span", { class: "title" }, short(it.title || "Untitled")),
      h("span", { class: "sub block quiet small" }, projectName(it.project_id), " · forgotten ", when(it.at)),
    ),
    h("button", { data: { item: "" }, onclick: restore }, "Restore"),
  );
}
