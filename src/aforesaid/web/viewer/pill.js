// What is new waits here until the reader asks for it: nothing moves under anybody's eyes.
import { h, replace } from "./dom.js";
import { say } from "./toast.js";

export class Pill {
  element = h("div", { class: "pill-holder" });

  /** @param {() => void} run when it is pressed */
  offer(text, run) {
    const press = () => {
      this.clear();
      run();
    };
    replace(this.element, h("button", { class: "pill", onclick: press }, text));
    say(text);
  }

  clear() {
    replace(this.element);
  }
}
