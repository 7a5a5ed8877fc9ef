// Small pictures, drawn with strokes in the colour of the text. Decoration: the words stand beside them.
import { s } from "./dom.js";

const PATHS = {
  now: "M3 12h4l3-8 4 16 3-8h4",
  timeline: "M3 6h10M7 12h12M5 18h8",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14m5 12 5 5",
  sessions: "M4 5h16v11H9l-5 4z",
  memories: "M6 3h11a2 2 0 0 1 2 2v16l-7-4-7 4V4a1 1 0 0 1 1-1z",
  brief: "M6 3h9l4 4v14H6zM14 3v5h5M9 13h7M9 17h5",
  cost: "M5 20V11M12 20V4M19 20v-6",
  settings: "M4 7h9m4 0h3M4 17h3m4 0h9M15 5v4M9 15v4",
  pin: "M9 3h6l-1 6 4 4H6l4-4zM12 13v8",
  edit: "M4 20l1-5L16 4l4 4L9 19z",
  merge: "M6 4v6a4 4 0 0 0 4 4h8m-4-4 4 4-4 4",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
  undo: "M9 6 4 11l5 5M4 11h10a6 6 0 0 1 6 6v1",
  help: "M9 9a3 3 0 1 1 4 3c-1 .6-1 1-1 2m0 3v.5",
  menu: "M4 7h16M4 12h16M4 17h16",
  plus: "M12 5v14M5 12h14",
  left: "M15 5l-7 7 7 7",
  right: "M9 5l7 7-7 7",
  up: "M5 15l7-7 7 7",
  minus: "M5 12h14",
  moon: "M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M5 19l1.5-1.5M17.5 6.5L19 5",
  auto: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 3v18M12 7h6M12 11h8.5M12 15h8",
  sleep: "M5 6h6l-6 7h6M14 12h5l-5 6h5",
};

export function icon(name) {
  return s("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, s("path", { d: PATHS[name] }));
}

/** A shape for each type: colour alone would not do. Around 0,0, about 8 across. */
export const SHAPES = {
  decision: "M0-4.5 4.5 0 0 4.5-4.5 0z",
  bugfix: "M-3.5-3.5h7v7h-7z",
  feature: "M0-4.2 4.2 3.4H-4.2z",
  refactor: "M-2-4H2L4 0 2 4H-2L-4 0z",
  discovery: "M0-4a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
  change: "M-4-1.5h8v3h-8z",
};

export function typeMark(type) {
  return s(
    "svg",
    { class: `mark type-${SHAPES[type] ? type : "change"}`, viewBox: "-6 -6 12 12", "aria-hidden": "true" },
    s("path", { d: SHAPES[type] ?? SHAPES.change }),
  );
}
