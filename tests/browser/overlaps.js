// The names that stand beside boxes in the whole program, each with the other texts in sight and with all boxes, those of the scenes
// that are drawn small included. All are rectangles in the pane. `head` is the height of a scene's title.
() => {
  const pane = document.querySelector("svg.scene").getBoundingClientRect();
  const rect = (text) => {
    const { left, top, right, bottom } = text.getBoundingClientRect();
    const moved = { left: left - pane.left, top: top - pane.top, right: right - pane.left, bottom: bottom - pane.top };
    return { name: text.textContent, ...moved };
  };
  const rects = [];
  const collect = (number, iteration, view) => places.scenes[number].boxes.forEach((_, i) => {
    const { node, scene, alias, ...about } = places.box(number, i, iteration);
    if ((node === null && scene === null) || alias) return;
    rects.push({ node, ...camera.rect(about, view), head: HEAD * view.scale });
    if (scene === null) return;
    for (let k = 0; k < places.scenes[scene].count; k++) collect(scene, k, camera.inward(view, places.placement(scene, k)));
  });
  collect(0, 0, { scale: camera.scale, x: camera.x, y: camera.y });
  const tags = [...document.querySelectorAll(".tags .card text")].map(rect);
  const texts = [...document.querySelectorAll(".world .box .label, .cards text")].filter((text) => text.textContent !== "").map(rect);
  const named = (name) => original.nodes.findIndex((_, node) => labelOf(node) === name);
  const size = { width: pane.width, height: pane.height };
  return tags.map((tag) => ({ tag, node: named(tag.name), others: [...tags.filter((one) => one !== tag), ...texts], rects, pane: size }));
}
