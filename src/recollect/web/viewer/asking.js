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

let standing = null; // whoever asks while it stands there gets the same answer

export const askToThrowAway = () =>
  (standing ??= ask("Not saved yet", "What you typed is nowhere else.", "Throw it away", "Keep writing").finally(() => {
    standing = null;
  }));
