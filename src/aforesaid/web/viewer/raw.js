// An event as the agent gave it, fetched when somebody wants to see it.
import { get } from "./api.js";
import { h, replace } from "./dom.js";

export async function openRaw(event, place) {
  if (place.childElementCount) return;
  replace(place, h("p", { class: "quiet" }, "Loading…"));
  try {
    const found = await get(`/api/events/${event.id}`);
    replace(place,
      found.text && h("pre", { class: "said" }, found.text),
      h("details", {}, h("summary", {}, "Raw"), h("pre", { class: "said" }, pretty(found.body))),
      found.cut && h("p", { class: "quiet" }, "Truncated at 64 KB."),
    );
  } catch (error) {
    replace(place, h("p", { class: "note bad" }, error.message));
  }
}

function pretty(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
