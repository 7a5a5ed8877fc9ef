// A long list, a page at a time: the next page comes before the reader reaches the end of this one.
import { h, replace } from "./dom.js";
import { number } from "./format.js";
import { remember, remembered } from "./view_state.js";

const MOST_RESTORED = 1_000; // rows

/** The first page, or as many as the reader had loaded before a reload or the way back. */
export async function firstPages(load) {
  let page = await load(null);
  const wanted = Math.min(remembered("rows") ?? 0, MOST_RESTORED);
  while (page.next !== null && page.items.length < wanted) {
    const { items, next } = await load(page.next);
    page = { items: [...page.items, ...items], next };
  }
  return page;
}

/**
 * @param {{load: (cursor: any) => Promise<{items: any[], next: any}>, row: (item: any) => Node,
 *   nothing: Node, first?: {items: any[], next: any}, label: string, byHand?: boolean}} how
 *   `byHand`: the next page comes when somebody presses the button, for lists at the side
 */
export function pagedList({ load, row, nothing, first, label, byHand = false }) {
  const list = h("ol", { class: "list long", "aria-label": label });
  const button = h("button", { onclick: () => more() }, "Show more");
  const trouble = h("p", { class: "note bad", role: "alert", hidden: true });
  const foot = h("div", { class: "more" }, button);
  const element = h("div", {}, list, trouble, foot);
  let cursor = null,
    busy = false;
  const watcher = new IntersectionObserver(
    (seen) => {
      if (seen.some((each) => each.isIntersecting)) more();
    },
    { rootMargin: "800px" },
  );

  function add(page) {
    const rows = page.items.map(row);
    const pressed = document.activeElement === button;
    list.append(...rows);
    cursor = page.next;
    foot.hidden = cursor === null;
    if (!list.children.length) replace(element, nothing);
    if (pressed && foot.hidden) rows[0]?.querySelector("a, button, summary")?.focus();
    watcher.unobserve(foot);
    if (!foot.hidden && !byHand) watcher.observe(foot); // asks again whether it can be seen
  }
  async function more() {
    if (busy || foot.hidden) return;
    busy = true;
    button.textContent = `${number(list.children.length)} shown, loading…`;
    try {
      add(await load(cursor));
      if (first && !byHand) remember({ rows: list.children.length });
      trouble.hidden = true;
    } catch (error) {
      replace(trouble, "The rest could not be loaded. ", error.message);
      trouble.hidden = error.name === "AbortError";
      watcher.disconnect();
    }
    button.textContent = trouble.hidden ? "Show more" : "Try again";
    busy = false;
  }
  if (first) add(first);
  else more();
  return { element, list, stop: () => watcher.disconnect() };
}
