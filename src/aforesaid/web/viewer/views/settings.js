// Every setting with its help. A secret goes in and never comes out.
import { get, put, remove } from "../api.js";
import { code, h, replace } from "../dom.js";
import { number, plural } from "../format.js";
import { again, note } from "../router.js";

const NAMES = {
  synthesis: "Writing observations",
  cost: "Cost limits",
  capture: "Capture",
  privacy: "Privacy",
  retention: "Retention",
  backup: "Backups",
  limits: "Limits",
  brief: "Brief",
  recall: "Recall",
  memory: "Memories",
  worker: "Worker",
  web: "Viewer",
};

export default async function settings({ query, signal }) {
  const found = await get("/api/settings", {}, signal);
  const sections = Map.groupBy(found.items, (each) => each.key.split(".")[0]);
  const changed = found.items.filter((each) => each.source !== "default").length;
  const filter = h("input", {
    type: "search",
    "aria-label": "Filter settings",
    placeholder: "Filter",
    prop: { value: query.get("q") ?? "" },
    oninput: () => narrow(),
  });
  const narrow = () => {
    const words = filter.value.toLowerCase();
    note("/settings", { q: filter.value });
    for (const row of element.querySelectorAll(".setting")) row.hidden = !row.dataset.words.includes(words);
    for (const card of element.querySelectorAll("section.card"))
      card.hidden = !card.querySelector(".setting:not([hidden])");
  };
  const element = h("div", { class: "settings" },
    h("div", { class: "head" },
      h("h1", {}, "Settings"),
      h("span", { class: "quiet small" },
        changed ? `${plural(changed, "setting")} changed from the default` : "all at their defaults",
      ),
      h("div", { class: "filter-field" }, filter),
    ),
    [...sections].map(([section, items]) =>
      h("section", { class: "card", id: section, "aria-labelledby": `s-${section}` },
        h("h2", { id: `s-${section}` }, NAMES[section] ?? section),
        h("div", {}, items.map(row)),
      ),
    ),
  );
  narrow();
  const unsaved = () => element.querySelector("button.save:not([hidden])") !== null;
  // There is no event for settings changed elsewhere: they are read again when the page is shown.
  const look = async () => {
    if (document.hidden || unsaved() || filter.value) return;
    const now = await get("/api/settings", {}, signal).catch(() => found);
    if (JSON.stringify(now) !== JSON.stringify(found) && !unsaved()) await again();
  };
  document.addEventListener("visibilitychange", look);
  return {
    title: "Settings",
    element,
    unsaved,
    leave: () => document.removeEventListener("visibilitychange", look),
    shown: () => location.hash && document.getElementById(location.hash.slice(1))?.scrollIntoView(),
  };
}

function row(it) {
  const line = h("form", {
    class: "setting",
    data: { words: `${it.key} ${it.help}`.toLowerCase() },
    "aria-label": it.key,
  });
  draw(line, it);
  return line;
}

function draw(line, it, text = "") {
  const id = `set-${it.key.replace(".", "-")}`;
  const field = input(it, id);
  const fixed = it.source === "env";
  const said = h("p", { class: "small good-text", role: "status" }, text);
  const send = async (run, done) => {
    try {
      draw(line, await run(), done);
      line.querySelector("input, select, textarea")?.focus();
    } catch (error) {
      said.className = "small bad-text";
      replace(said, error.message);
      field.setAttribute("aria-invalid", "true");
    }
  };
  const save = h("button", { type: "submit", class: "save", hidden: true }, "Save");
  const before = field.value;
  if (fixed) field.disabled = true;
  for (const kind of ["input", "change"])
    field.addEventListener(kind, () => {
      save.hidden = field.value === before;
      replace(said);
      field.removeAttribute("aria-invalid");
    });
  line.onsubmit = (event) => {
    event.preventDefault();
    send(() => put(`/api/settings/${encodeURIComponent(it.key)}`, { value: read(it, field) }), "Saved.");
  };
  const changed = it.source !== "default" && !fixed;
  replace(line,
    h("div", { class: "about" },
      h("label", { for: id, class: "key" }, label(it.key)),
      " ",
      h("code", { class: "quiet" }, it.key),
      " ",
      fixed && h("span", { class: "chip" }, `from ${it.env}`),
      it.restart && h("span", { class: "chip" }, "applies after the worker restarts"),
      changed && h("span", { class: "chip accent" }, "changed"),
      h("p", { class: "quiet", id: `${id}-help` }, code(it.help), bounds(it)),
    ),
    h("div", { class: "control" },
      field,
      h("div", { class: "row-of-buttons" },
        save,
        changed &&
          h("button", {
              class: "link",
              onclick: () => send(() => remove(`/api/settings/${encodeURIComponent(it.key)}`), "Reset."),
            },
            "Reset to default",
          ),
      ),
      said,
    ),
  );
}

/** @param {string} key such as `brief.tokens` @returns {string} such as "Tokens" */
function label(key) {
  const words = key.slice(key.indexOf(".") + 1).replaceAll("_", " ");
  return words[0].toUpperCase() + words.slice(1);
}

const bounds = (it) =>
  it.kind === "number" && it.most !== null && ` From ${number(it.least)} to ${number(it.most)}.`;

function input(it, id) {
  const more = { id, "aria-describedby": `${id}-help` };
  if (it.kind === "choice") {
    const select = h("select", more, it.choices.map((each) => h("option", { value: each }, each)));
    select.value = it.value;
    return select;
  }
  if (it.secret)
    return h("input", {
      ...more,
      type: "password",
      autocomplete: "off",
      placeholder: it.set ? "set; type to replace it" : "not set",
    });
  if (it.kind === "names")
    return h("textarea", {
      ...more,
      rows: Math.min(6, Math.max(2, it.value.length)),
      placeholder: "one per line",
      prop: { value: it.value.join("\n") },
    });
  return h("input", {
    ...more,
    ...(it.kind === "number" && { inputmode: "numeric" }),
    placeholder: String(it.default) || "empty",
    prop: { value: String(it.value) },
  });
}

function read(it, field) {
  const text = field.value;
  if (it.kind === "names")
    return text
      .split("\n")
      .map((each) => each.trim())
      .filter(Boolean);
  return it.kind === "number" && /^-?\d+$/.test(text.trim()) ? Number(text) : text;
}
