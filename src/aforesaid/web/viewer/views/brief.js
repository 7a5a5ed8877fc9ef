// The exact brief of the next session of a project, with live controls.
import { get, put } from "../api.js";
import { h, later, newest, replace } from "../dom.js";
import { compact, number, plural } from "../format.js";
import { card, nothing } from "../parts.js";
import { Pill } from "../pill.js";
import { memoryAddress, one, whose } from "../projects.js";
import { empty } from "../router.js";
import { onQuiet } from "../stream.js";
import { failed, safely, toast } from "../toast.js";

const MOST = 2400;

export default async function brief({ signal }) {
  const project = one();
  if (!project)
    return {
      title: "Brief",
      element: empty(
        "No project yet",
        "The brief is injected when a session starts. It appears after the first session.",
        h("pre", {}, "aforesaid install"),
      ),
    };
  const text = h("pre", { class: "said brief-text", tabindex: "0", "aria-label": "The brief" });
  const parts = h("div", {}),
    total = h("span", { class: "number" });
  const state = { tokens: 0, memories: true, work: true };
  let shown = "";
  const meter = h("div", { class: "meter", role: "img" });
  const draw = (found) => {
    shown = found.text;
    replace(text, found.text || "The brief is empty: it is turned off, or nothing is recorded yet.");
    replace(total, `${number(found.tokens)} of ${number(found.options.tokens)} tokens`);
    replace(meter,
      found.parts
        .filter((each) => each.tokens > 0)
        .map((each) => h("span", { class: `part-${partClass(each.kind)}`, css: { "flex-grow": String(each.tokens) } })),
    );
    meter.setAttribute("aria-label", `${number(found.tokens)} tokens`);
    replace(parts, partsList(found.parts, project));
  };
  const read = () =>
    get(
      "/api/brief",
      { project, tokens: state.tokens, memories: state.memories ? 1 : 0, work: state.work ? 1 : 0 },
      signal,
    );
  const ask = newest(read);
  const look = async () => draw(await ask());
  const first = await get("/api/brief", { project }, signal);
  state.tokens = first.options.tokens;
  draw(first);
  const soon = later(() => look().catch(failed), 80);
  const output = h("output", { class: "number" }, number(state.tokens));
  const slider = h("input", {
    type: "range",
    min: 0,
    max: MOST,
    step: 50,
    "aria-label": "Token limit",
    prop: { value: String(state.tokens) },
    oninput: () => {
      state.tokens = Number(slider.value);
      output.textContent = number(state.tokens);
      soon();
    },
  });
  const box = (name, words) =>
    h("label", { class: "check" },
      h("input", {
        type: "checkbox",
        name,
        prop: { checked: true },
        onchange: (event) => {
          state[name] = event.target.checked;
          soon();
        },
      }),
      words,
    );
  const keep = h("button", {
      onclick: safely(async () => {
        const kept = await put("/api/settings/brief.tokens", { value: Number(slider.value) });
        const since = kept.restart ? "after the worker restarts" : "from now on";
        const ticks = state.memories && state.work ? "" : " The checkboxes only affect this preview.";
        toast(`brief.tokens is ${kept.value} ${since}.${ticks}`);
      }),
    },
    "Save the token limit",
  );
  // A reader is not interrupted: it is redrawn on request.
  const pill = new Pill();
  const offer = async () => {
    const now = await read().catch(() => null);
    if (now && now.text !== shown) pill.offer("Changed: reload", () => look().catch(failed));
  };
  return {
    title: "Brief",
    leave: onQuiet(["observation", "summary", "memory", "dream", "changed"], offer, 1500),
    element: h("div", {},
      pill.element,
      h("div", { class: "head" },
        h("h1", {}, "Brief", h("span", { class: "quiet light" }, ` for the next session of ${whose(project)}`)),
      ),
      h("div", { class: "columns" },
        h("section", { class: "card", "aria-label": "The brief" },
          h("div", { class: "card-head" }, h("h2", {}, "Preview"), total),
          meter,
          text,
        ),
        h("aside", { class: "stack", "aria-label": "Options and parts" },
          card("Options",
            h("label", { class: "field" }, h("span", { class: "knob" }, "Token limit ", output), slider),
            box("memories", "Memories"),
            box("work", "Current work"),
            h("p", { class: "quiet small gap" }, "A preview: nothing is injected or stored. Only the token limit can be saved."),
            h("div", { class: "row-of-buttons gap" }, keep),
            others(first.options.settings),
          ),
          card("Parts", parts),
        ),
      ),
    ),
  };
}

const partClass = (kind) => (["observation", "summary", "memory"].includes(kind) ? kind : "other");

function partsList(parts, project) {
  if (!parts.length) return nothing("Nothing.");
  const sums = new Map();
  for (const each of parts) sums.set(each.kind, (sums.get(each.kind) ?? 0) + each.tokens);
  return [
    h("div", { class: "chips gap-below" },
      [...sums].map(([kind, sum]) =>
        h("span", { class: "chip" }, h("span", { class: `swatch part-${partClass(kind)}` }), `${kind} ${compact(sum)}`),
      ),
    ),
    h("ol", { class: "list" },
      parts.map((each) =>
        h("li", { class: "related" },
          addressOf(each, project)
            ? h("a", { href: addressOf(each, project), data: { item: "" } }, each.title)
            : h("span", {}, each.title || each.kind),
          h("span", { class: "sub block quiet small" }, `${each.reason} · ${plural(each.tokens, "token")}`),
        ),
      ),
    ),
  ];
}

function addressOf(part, project) {
  if (part.kind === "memory") return memoryAddress(part.name, project);
  return part.kind === "observation" ? `/observations/${part.id}` : null;
}

function others(settings) {
  const rest = Object.entries(settings).filter(([name]) => name !== "brief.tokens");
  return h("details", { class: "gap" },
    h("summary", {}, "Related settings"),
    h("dl", { class: "pair small gap" },
      rest.map(([name, value]) => [h("dt", { class: "mono" }, name), h("dd", {}, String(value))]),
    ),
    h("p", { class: "gap small" }, h("a", { href: "/settings" }, "Edit settings")),
  );
}
