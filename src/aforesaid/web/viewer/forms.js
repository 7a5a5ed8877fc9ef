// The one form that a view may have open. While it is open, the view's letters do nothing under it.
import { confirmDiscard } from "./confirm_dialog.js";

export class OpenForm {
  #form = null;
  #before = "";
  #close = null;

  /** @param {HTMLFormElement} form @param {() => void} close takes it off the page */
  open(form, close) {
    this.#form = form;
    this.#before = written(form);
    this.#close = close;
  }

  unsaved = () => this.#form !== null && written(this.#form) !== this.#before;

  /** It was saved, or is not wanted any more. */
  done() {
    this.#form = null;
    this.#close?.();
    this.#close = null;
  }

  cancel = async () => {
    if (!this.unsaved() || (await confirmDiscard())) this.done();
  };

  /** `e` leads back into a form that is open, Esc closes it. */
  keys(own) {
    const guarded = Object.entries(own).map(([key, run]) => [key, () => (this.#form ? this.#back(key) : run())]);
    return { ...Object.fromEntries(guarded), Escape: () => (this.#form ? (this.cancel(), true) : false) };
  }

  #back(key) {
    if (key === "e") this.#form.querySelector("input, textarea").focus();
  }
}

/** Whatever the fields hold, as one text. */
export const written = (form) =>
  JSON.stringify([...form.querySelectorAll("input, select, textarea")].map((each) => each.checked || each.value));
