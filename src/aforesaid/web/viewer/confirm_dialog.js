// A question that must be answered before something is lost.
import { h, opened } from "./dom.js";

/** @returns {Promise<boolean>} Esc is no */
export function ask(title, text, yes, no) {
  return new Promise((answer) => {
    const button = (value, words, kind) => h("button", { type: "submit", value, class: kind }, words);
    const dialog = h("dialog", {
        class: "ask",
        "aria-labelledby": "ask-title",
        onclose: () => answer(dialog.returnValue === "yes"),
      },
      h("h2", { id: "ask-title" }, title),
      h("p", { class: "quiet" }, text),
      h("form", { method: "dialog", class: "row-of-buttons end" },
        button("no", no, "primary"),
        button("yes", yes, "danger"),
      ),
    );
    opened(dialog);
  });
}

let standing = null; // callers that ask while it is open get the same answer

export const confirmDiscard = () =>
  (standing ??= ask("Unsaved changes", "Your changes will be lost.", "Discard", "Keep editing").finally(() => {
    standing = null;
  }));
