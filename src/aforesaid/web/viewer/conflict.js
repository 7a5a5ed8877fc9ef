// Somebody else saved what is being edited: whose words stand is the reader's to say.
import { h, replace } from "./dom.js";

/** @param {Element} place @param {{theirs: string, mine: () => void, take: () => void}} how */
export function clash(place, { theirs, mine, take }) {
  const button = (words, run) =>
    h("button", {
      onclick: () => {
        replace(place);
        run();
      },
    }, words);
  replace(place,
    h("div", { class: "note bad", role: "alert" },
      h("p", {}, h("strong", {}, "It was changed meanwhile."), " Your text is still here."),
      h("details", {}, h("summary", {}, "Show the other version"), h("pre", { class: "said" }, theirs)),
      h("div", { class: "row-of-buttons gap" }, button("Overwrite with mine", mine), button("Use theirs", take)),
    ),
  );
}
