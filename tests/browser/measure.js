// What is wrong with what the stepper shows, as a list of sentences, and how many labels are seen. See test_camera.py.
() => {
  const found = [];
  const pane = find("graph").getBoundingClientRect();
  const at = timeline.at(state.step);
  const ends = [...document.querySelectorAll("[data-end]")];
  const kinds = new Set(ends.map((end) => end.dataset.end));
  const isLast = state.step === timeline.count; // the whole program is shown, whose closed boxes may hold the ends
  const needed = at === null || isLast ? [] : at.kind === "forward" && operandsOf(at.target).length === 0 ? ["target"] : ["source", "target"];
  for (const kind of needed) if (!kinds.has(kind)) found.push(`no ${kind}`);
  for (const end of ends) {
    const { left, right, top, bottom } = end.querySelector("rect:not(.shadow)").getBoundingClientRect();
    if (left < pane.left - 1 || right > pane.right + 1 || top < pane.top - 1 || bottom > pane.bottom + 1) found.push(`${end.dataset.end} is outside`);
  }
  const seen = (r) => r.right > pane.left && r.left < pane.right && r.bottom > pane.top && r.top < pane.bottom;
  const labels = [...document.querySelectorAll("svg.scene .label")]
    .filter((label) => label.textContent !== "" && getComputedStyle(label).visibility === "visible")
    .map((label) => ({ label, r: label.getBoundingClientRect() })).filter(({ r }) => seen(r));
  const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  labels.forEach((a, i) => labels.slice(i + 1).forEach((b) => {
    if (overlap(a.r, b.r)) found.push(`'${a.label.textContent}' and '${b.label.textContent}' overlap`);
  }));
  for (const { label, r } of labels) {
    const box = label.closest(".box");
    const size = parseFloat(getComputedStyle(label).fontSize) * (box ? camera.scale : 1);
    if (size < 11.99) found.push(`'${label.textContent}' is ${size} px high`);
    if (box === null) continue;
    const shape = box.querySelector(".shape").getBoundingClientRect();
    if (r.left < shape.left - 1 || r.right > shape.right + 1 || r.top < shape.top - 2 || r.bottom > shape.bottom + 2) found.push(`'${label.textContent}' leaves its box`);
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page is wider than the window");
  return [found, labels.length];
}
