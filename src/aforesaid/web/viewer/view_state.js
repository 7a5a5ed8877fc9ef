// Keeps focus and collapsed sections across a redraw.

/** What the browser keeps with this entry of its history, over a reload and for the way back. */
export const remembered = (name) => history.state?.[name];

export function remember(values) {
  history.replaceState({ ...history.state, ...values }, "");
}

const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex]";

/** @returns {(focus?: string) => void} call it when `root` is drawn; `focus`: the `data-keep` of another control */
export function keep(root) {
  const active = document.activeElement;
  const inside = active !== root && root.contains(active);
  const at = inside ? controls(root).indexOf(active) : -1;
  const called = inside ? name(active) : null;
  const walked = inside && active.matches("[data-item]");
  const folds = new Map([...root.querySelectorAll("details")].map((each) => [name(each), each.open]));
  return (focus) => {
    for (const each of root.querySelectorAll("details")) each.open = folds.get(name(each)) ?? each.open;
    if (!inside && !focus) return;
    const now = controls(root);
    const wanted = focus ?? called;
    // Several may be called alike: then it is the one at the same place.
    const same = now[at] && name(now[at]) === wanted ? now[at] : now.find((each) => name(each) === wanted);
    (same || (walked && now[Math.min(at, now.length - 1)]) || root).focus({ preventScroll: true });
  };
}

const controls = (root) => [...root.querySelectorAll(CONTROLS)];

function name(element) {
  if (element.tagName === "DETAILS") return element.querySelector("summary")?.textContent ?? "";
  return (
    element.dataset.keep ||
    element.id ||
    element.getAttribute("href") ||
    `${element.tagName} ${element.getAttribute("aria-label") ?? element.textContent}`
  );
}
