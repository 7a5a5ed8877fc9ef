// The beginning: the frame, then the view that the address names.
import { keepTimes } from "./format.js";
import { remembered } from "./view_state.js";
import { listenToKeys } from "./keys.js";
import { loadProjects } from "./projects.js";
import { listenToLinks, show } from "./router.js";
import { buildShell } from "./shell.js";
import { connect, onQuiet } from "./stream.js";
import { failed } from "./toast.js";

buildShell();
listenToLinks();
listenToKeys();
keepTimes();
connect();
try {
  await loadProjects();
} catch (error) {
  failed(error);
}
await show({ scroll: remembered("scroll") });
// A project that is new to us turns up in the list by itself.
onQuiet(["turn"], () => loadProjects().catch(() => {}), 5_000);
