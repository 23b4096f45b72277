// Draws the gradient river of a loop: a column for each round, with the sizes of its gradients on a logarithmic scale. The
// size of a gradient is the root of the mean of its squares. The band is from the 10th to the 90th percentile of the round's
// operations, and the mark is the largest. A column fills when its gradients arrive, and a click on it goes to the largest.

const river = (() => {
  const [WIDE, HIGH, FEWEST] = [600, 30, 3];
  let known = { graph: null, scenes: new Map() };

  const sizeOf = (array) => norm(array) / Math.sqrt(array.shape.reduce((a, b) => a * b, 1));

  // Return for each round of a loop its operations with a gradient, the largest first: [{node, size, step}].
  function rounds(scene) {
    if (known.graph !== graph) known = { graph, scenes: new Map() };
    if (known.scenes.has(scene)) return known.scenes.get(scene);
    const found = nd.range(places.scenes[scene].count).map(() => []);
    graph.nodes.forEach(({ operation, gradients }, node) => {
      const gradient = gradients.find((one) => one !== null && one !== undefined);
      const at = operation === null || gradient === undefined ? undefined : places.path(places.ofNode(node), places.iterationOfNode[node]).find((one) => one.scene === scene);
      if (at !== undefined) found[at.iteration].push({ node, size: sizeOf(gradient), step: timeline.completed(node) });
    });
    const rank = ({ size }) => (Number.isFinite(size) ? size : Infinity);
    for (const round of found) round.sort((a, b) => (rank(a) === rank(b) ? 0 : rank(b) - rank(a)));
    known.scenes.set(scene, found);
    return found;
  }

  // Return a function from a size to its height in the drawing. Zero is at the bottom, and a size that is not finite is at the top.
  function scaleOf(all) {
    const logs = all.flat().flatMap(({ size }) => (size > 0 && Number.isFinite(size) ? [Math.log(size)] : []));
    const [low, high] = logs.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, -Infinity]);
    return (size) => (size === 0 ? HIGH : !Number.isFinite(size) ? 1 : 2 + (HIGH - 4) * (high > low ? (high - Math.log(size)) / (high - low) : 0.5));
  }

  function column(round, i, { y, wide, scene }) {
    const [x, width] = [i * wide, Math.max(wide - (wide > 3 ? 1 : 0), 0.5)];
    const sizes = round.map(({ size }) => size);
    const share = (part) => sizes[Math.round((1 - part) * (sizes.length - 1))];
    const [top, bottom, mark] = [y(share(0.9)), y(share(0.1)), y(sizes[0])];
    const text = { round: sceneTitle(places.scenes[scene], i), low: numberText(share(0.1)), high: numberText(share(0.9)), most: numberText(sizes[0]), name: labelOf(round[0].node) };
    return svgElement("g", { onclick: () => go(round[0].step), "data-round": i },
      svgElement("title", {}, word("riverRound", text)),
      svgElement("rect", { x, y: 0, width: wide, height: HIGH, fill: "transparent" }),
      svgElement("rect", { class: "band", x, y: top, width, height: Math.max(1, bottom - top) }),
      svgElement("rect", { class: Number.isFinite(sizes[0]) ? "mark" : "mark odd", x, y: mark - 1, width, height: 2 }));
  }

  // Draw the river of a loop, as far as the gradients have arrived.
  function render(loop, host) {
    const all = loop === undefined ? [] : rounds(loop.scene);
    const step = quiz.hides(state.step) ? state.step - 1 : state.step;
    const seen = all.map((round) => round.filter((one) => one.step <= step));
    host.hidden = all.length < FEWEST || seen.every((round) => round.length === 0);
    if (host.hidden) return;
    const key = `${loop.scene} ${loop.iteration} ${seen.flat().length} ${words.language}`;
    if (host.dataset.key === key && known.drawn === all) return;
    Object.assign(known, { drawn: all });
    host.dataset.key = key;
    const about = { y: scaleOf(all), wide: WIDE / all.length, scene: loop.scene };
    const drawing = host.querySelector("svg");
    setAttributes(drawing, { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img", "aria-label": word("river") });
    drawing.replaceChildren(svgElement("rect", { class: "here", x: loop.iteration * about.wide, y: 0, width: about.wide, height: HIGH }), ...seen.flatMap((round, i) => (round.length === 0 ? [] : [column(round, i, about)])));
  }

  return { render };
})();
