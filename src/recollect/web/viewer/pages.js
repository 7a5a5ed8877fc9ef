// A long list, a page at a time: the next page comes before the reader reaches the end of this one.
import { h, replace } from "./dom.js";
import { number } from "./format.js";
import { failed } from "./toast.js";

/**
 * @param {{load: (cursor: any) => Promise<{items: any[], next: any}>, row: (item: any) => Node,
 *   nothing: Node, first?: {items: any[], next: any}, label: string}} how
 */
export function pagedList({ load, row, nothing, first, label }) {
  const list = h("ol", { class: "list long", "aria-label": label });
  const button = h("button", { type: "button", onclick: () => more() }, "Show more");
  const foot = h("div", { class: "more" }, button);
  const element = h("div", {}, list, foot);
  let cursor = null,
    busy = false;
  const watcher = new IntersectionObserver(
    (seen) => {
      if (seen.some((each) => each.isIntersecting)) more();
    },
    { rootMargin: "800px" },
  );

  function add(page) {
    list.append(...page.items.map(row));
    cursor = page.next;
    foot.hidden = cursor === null || cursor === undefined;
    if (!list.children.length) replace(element, nothing);
    if (foot.hidden) watcher.disconnect();
    else {
      watcher.unobserve(foot);
      watcher.observe(foot);
    } // asks again whether it can be seen
  }
  async function more() {
    if (busy || foot.hidden) return;
    busy = true;
    button.textContent = `${number(list.children.length)} shown, loading…`;
    try {
      add(await load(cursor));
    } catch (error) {
      failed(error);
      watcher.disconnect();
    }
    button.textContent = "Show more";
    busy = false;
  }
  if (first) add(first);
  else {
    foot.hidden = false;
    more();
  }
  return { element, list, stop: () => watcher.disconnect() };
}
