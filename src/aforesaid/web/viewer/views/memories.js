// What is known for good: the list, what changed recently, and dreams.
import { get, post, url } from "../api.js";
import { confirmDiscard } from "../confirm_dialog.js";
import { code, h, opened, replace } from "../dom.js";
import { dreamCard } from "../dreams.js";
import { plural, tokens, when } from "../format.js";
import { icon } from "../icons.js";
import { historyCard } from "../memory_history.js";
import { nothing } from "../parts.js";
import { Pill } from "../pill.js";
import { memoryAddress, namedProject, one, projectName, whose } from "../projects.js";
import { again, empty, navigate, note } from "../router.js";
import { onQuiet } from "../stream.js";
import { safely, toast } from "../toast.js";

const MEMORY_TYPES = ["user", "feedback", "project", "reference"];

export default async function memories({ query, signal }) {
  const project = one(),
    retired = query.get("retired") === "1";
  if (!project) {
    return {
      title: "Memories",
      element: empty(
        "No project yet",
        "Memories belong to a project. Start a session with aforesaid installed, or add one:",
        h("pre", {}, 'aforesaid remember "We deploy on Tuesdays"'),
      ),
    };
  }
  const asked = { project, retired: retired ? 1 : null };
  const [found, history] = await Promise.all([get("/api/memories", asked, signal), historyCard(project, signal)]);
  const list = h("ol", { class: "list long", "aria-label": "Memories" });
  const state = { q: query.get("q") ?? "", type: query.get("type") ?? "" };
  const draw = () => {
    const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
    const some = found.items.filter(
      (each) =>
        (!state.type || each.type === state.type) &&
        words.every((word) => `${each.name} ${each.description}`.toLowerCase().includes(word)),
    );
    note("/memories", state);
    replace(list, some.map((each) => memoryRow(each, project)));
    count.textContent = plural(some.length, "memory", "memories");
  };
  const count = h("span", { class: "quiet small", role: "status" });
  const filter = h("input", {
    type: "search",
    "aria-label": "Filter memories",
    placeholder: "Filter",
    prop: { value: state.q },
    oninput: () => {
      state.q = filter.value;
      draw();
    },
  });
  const type = h("select", {
      "aria-label": "Type",
      onchange: () => {
        state.type = type.value;
        draw();
      },
    },
    h("option", { value: "" }, "All types"),
    MEMORY_TYPES.map((each) => h("option", { value: each }, each)),
  );
  type.value = state.type;
  draw();
  const pill = new Pill();
  const look = async () => {
    const now = await get("/api/memories", asked).catch(() => found);
    if (JSON.stringify(now) !== JSON.stringify(found)) pill.offer("Memories changed: show", again);
  };
  return {
    title: "Memories",
    leave: onQuiet(["memory", "dream", "changed"], look, 400, (data) => !data.id),
    keys: { c: () => create(project) },
    element: h("div", {},
      pill.element,
      h("div", { class: "head" },
        h("h1", {},
          retired ? "Retired memories" : "Memories",
          h("span", { class: "quiet light" }, ` of ${whose(project)}`),
        ),
        h("div", { class: "row-of-buttons" },
          h("a", { class: "button", href: url("/memories", { retired: retired ? null : 1, project: namedProject() }) },
            retired ? "Active" : "Retired",
          ),
          h("button", { class: "primary", onclick: () => create(project) }, icon("plus"), "New memory"),
        ),
      ),
      broken(found),
      h("div", { class: "columns" },
        h("section", { class: "card flush", "aria-label": "Memories" },
          h("div", { class: "filter" }, filter, type, count),
          found.items.length
            ? list
            : nothing(
                retired
                  ? "No retired memories."
                  : "No memories yet. aforesaid writes them when you correct your agent or ask it to remember something. You can also add one here.",
              ),
        ),
        h("aside", { class: "stack", "aria-label": "Dreams and history" }, dreamCard(project), history),
      ),
    ),
  };
}

function memoryRow(it, project) {
  const flagged = it.flagged ? [...it.flagged.changed, ...it.flagged.gone, ...it.flagged.dead_links] : [];
  return h("li", {},
    h("a", {
        class: "row",
        href: memoryAddress(it.name, project, Boolean(it.because)),
        data: { item: "" },
      },
      h("span", { class: "type quiet" }, it.type),
      h("span", { class: "what" },
        h("span", { class: "title" }, code(it.description || it.name)),
        " ",
        it.pinned && h("span", { class: "chip accent" }, icon("pin"), "pinned"),
        " ",
        it.by_agent && h("span", { class: "chip" }, "noted by the agent"),
        " ",
        flagged.length > 0 && h("span", { class: "chip bad", title: flagged.join(", ") }, "check"),
        it.because && h("span", { class: "sub block" }, `Retired: ${it.because}`),
        h("span", { class: "sub block mono" }, it.name, ["project", it.type].includes(it.scope) ? "" : ` · ${it.scope}`),
      ),
      h("span", { class: "side" }, tokens(it.tokens), it.updated ? when(it.updated) : null),
    ),
  );
}

function broken(found) {
  if (!found.broken.length) return null;
  return h("div", { class: "note bad" },
    h("strong", {}, `${plural(found.broken.length, "file")} cannot be read`),
    h("ul", {}, found.broken.map((each) => h("li", {}, h("code", {}, each.path), ": ", each.why))),
  );
}

function create(project) {
  const text = h("textarea", {
    rows: 6,
    required: true,
    name: "text",
    placeholder: "We deploy on Tuesdays, because support is at work then.",
  });
  const type = h("select", { name: "type" },
    h("option", { value: "" }, "Choose for me"),
    MEMORY_TYPES.map((each) => h("option", { value: each }, each)),
  );
  const pin = h("input", { type: "checkbox", name: "pin" });
  const leave = async () => {
    if (!text.value.trim() || (await confirmDiscard())) dialog.close();
  };
  const dialog = h("dialog", {
      "aria-labelledby": "new-title",
      oncancel: (event) => {
        event.preventDefault();
        leave();
      },
    },
    h("h2", { id: "new-title" }, `New memory of ${projectName(project)}`),
    h("form", {
        onsubmit: safely(async (event) => {
          event.preventDefault();
          const made = await post(
            "/api/memories",
            { text: text.value, ...(type.value && { type: type.value }), ...(pin.checked && { pin: true }) },
            { project },
          );
          dialog.close();
          toast(made.redacted ? "Remembered. Secrets in it were replaced by marks." : "Remembered.");
          await navigate(memoryAddress(made.name, project));
        }),
      },
      h("label", { class: "field" }, h("span", {}, "What to remember"), text),
      h("label", { class: "field" }, h("span", {}, "Type"), type),
      h("label", { class: "check" }, pin, " Pin: include it in every session"),
      h("div", { class: "row-of-buttons end" },
        h("button", { onclick: leave }, "Cancel"),
        h("button", { type: "submit", class: "primary" }, "Remember"),
      ),
    ),
  );
  opened(dialog);
  text.focus();
}
