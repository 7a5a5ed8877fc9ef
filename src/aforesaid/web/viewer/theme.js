// A plain script in the head, so that the first paint already has the chosen colours.
(() => {
  const kept = localStorage.getItem("aforesaid.theme");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
})();
