// Jobs that failed three times: why, and another try.
import { get, post } from "./api.js";
import { h, opened, replace } from "./dom.js";
import { plural } from "./format.js";
import { nothing } from "./parts.js";
import { safely, toast } from "./toast.js";

export async function showGivenUp() {
  const place = h("div", {});
  const again = safely(async (id) => {
    const done = await post("/api/queue/retry", id === null ? {} : { id });
    toast(`${plural(done.requeued, "job")} will be tried again.`);
    dialog.close();
  });
  const found = await get("/api/queue");
  replace(place,
    found.skipped.length
      ? h("ol", { class: "list" },
          found.skipped.map((each) =>
            h("li", { class: "job" },
              h("div", { class: "grow" },
                h("a", { href: `/sessions/${each.session_id}`, onclick: () => dialog.close() },
                  `${each.kind}, prompt ${each.prompt_number}`,
                ),
                h("span", { class: "sub block quiet small" },
                  `${each.why ?? "no reason recorded"} · ${plural(each.tries, "try", "tries")}`,
                ),
              ),
              h("button", { onclick: () => again(each.id) }, "Try again"),
            ),
          ),
        )
      : nothing("No failed jobs."),
  );
  const dialog = h("dialog", { "aria-labelledby": "given-up" },
    h("h2", { id: "given-up" }, "Failed jobs"),
    h("p", { class: "lead" }, "Nothing is lost: the events are stored, and each job can be retried."),
    place,
    h("div", { class: "row-of-buttons end" },
      found.skipped.length > 1 && h("button", { onclick: () => again(null) }, "Retry all"),
      h("button", { class: "primary", onclick: () => dialog.close() }, "Close"),
    ),
  );
  opened(dialog);
}
