// Dreams consolidate memories in the background. A dry run shows the changes.
import { post } from "./api.js";
import { h, opened, replace } from "./dom.js";
import { diffView } from "./diff.js";
import { icon } from "./icons.js";
import { nothing } from "./parts.js";
import { again } from "./router.js";
import { failed, safely, toast } from "./toast.js";

export function dreamCard(project) {
  const run = async (dry, button) => {
    button.disabled = true;
    const label = button.textContent;
    button.textContent = "Dreaming…";
    try {
      report(await post("/api/dream", { dry_run: dry }, { project }), dry, project);
    } catch (error) {
      failed(error);
    }
    button.textContent = label;
    button.disabled = false;
    if (document.activeElement === document.body) button.focus();
  };
  const dry = h("button", { onclick: () => run(true, dry) }, "Dry run");
  const real = h("button", { onclick: () => run(false, real) }, "Dream now");
  return h("section", { class: "card" },
    h("div", { class: "card-head" }, h("h2", {}, "Dream"), icon("sleep")),
    h("p", { class: "quiet gap-below" },
      "Merges duplicates, retires outdated memories, fixes dates and links. Every change can be undone.",
    ),
    h("div", { class: "row-of-buttons" }, dry, real),
  );
}

function report(found, dry, project) {
  const place = h("div", {});
  const dialog = h("dialog", {
      class: "wide",
      "aria-labelledby": "dream-title",
      onclose: () => !dry && found.entry && again(),
    },
    h("h2", { id: "dream-title" }, dry ? "What a dream would change" : "What the dream changed"),
    place,
    h("div", { class: "row-of-buttons end" },
      !dry &&
        found.entry &&
        h("button", {
            onclick: safely(async () => {
              await post(`/api/memories-log/${encodeURIComponent(found.entry)}/undo`, {}, { project });
              dialog.close();
              toast("The dream was undone.");
            }),
          },
          "Undo the dream",
        ),
      h("button", { class: "primary", onclick: () => dialog.close() }, "Close"),
    ),
  );
  replace(place,
    !found.completed && h("p", { class: "note" }, "The dream did not complete."),
    found.lines.length
      ? h("ul", { class: "dream-lines" },
          found.lines.map((each) => h("li", {}, each)),
        )
      : nothing("Nothing to change."),
    found.diff && diffView(found.diff),
  );
  opened(dialog);
}
