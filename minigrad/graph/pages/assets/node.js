// The panel's section about one node, and the arrays in the panel.

// An array: a scalar as a number, a small matrix as cells with its numbers, a large one as a summary.
function arrayView(array, { label = "", className = "", choose = null, chosen = null } = {}) {
  if (!array) return element("span", { class: "note" }, "–");
  if (isScalar(array) && array.shape.length === 0) return element("output", { class: `number ${className}` }, numberText(array.values[0], state.digits));
  const about = word("shape", { shape: shapeText(array.shape), dtype: array.dtype });
  if (array.values === undefined || array.values.length > 64) return element("div", { class: className }, element("span", { class: "note" }, about), summary(array));
  const cells = heat.grid(array) ? heat.picture(array, `${label} ${about}`, { choose, chosen }) : null;
  const numbers = element("pre", { class: className, tabindex: "0" }, valuesText(array, state.digits));
  return element("div", { class: "array" }, cells, numbers, element("div", { class: "note" }, choose ? `${about} · ${word("chooseCell")}` : about));
}

// A small matrix as cells (the pointer shows their numbers); else a number or a shape.
function smallView(array, label) {
  if (!array) return element("span", {}, "–");
  if (isScalar(array)) return element("span", { class: "number" }, numberText(array.values[0], state.digits));
  return heat.grid(array) ? heat.picture(array, `${label} ${shapeText(array.shape)}`, { most: 13 }) : element("span", {}, shapeText(array.shape));
}

function summary(array) {
  const numbers = array.values?.map(Number);
  const all = numbers === undefined ? array : {
    min: Math.min(...numbers),
    max: Math.max(...numbers),
    mean: numbers.reduce((a, b) => a + b) / numbers.length,
  };
  const text = { norm: numberText(norm(array), state.digits) };
  for (const name of ["min", "mean", "max"]) if (name in all) text[name] = numberText(all[name], state.digits);
  const which = "min" in text ? "summary" : "normOnly"; // complex numbers have no order
  return element("div", {}, word(which, text));
}

function labelled(name, array, className = "", choice = {}) {
  return element("figure", { class: className }, arrayView(array, { label: word(name), className, ...choice }), element("figcaption", {}, word(name)));
}

function outputName(node, output) {
  return node.values.length > 1 ? ` [${output}]` : "";
}

// Broadcasting a small shape to a large one, or summing back: the small cells, an arrow, the large cells.
function folding(small, large, kind) {
  const two = (shape) => (shape.length === 0 ? [1, 1] : shape.length === 1 ? [1, shape[0]] : shape.slice(-2));
  const [a, b] = [two(small), two(large)].map(([rows, columns]) => [Math.min(rows, 6), Math.min(columns, 8)]);
  const size = 13;
  const wide = (a[1] + b[1]) * size + 84;
  const high = Math.max(a[0], b[0]) * size + 22;
  const block = ([rows, columns], x, shape, copies) => {
    const y = (high - 18 - rows * size) / 2;
    const cells = nd.range(rows * columns).map((place) => {
      const [i, j] = [Math.floor(place / columns), place % columns];
      const isCopy = copies && (i >= a[0] || j >= a[1]);
      return svgElement("rect", { class: isCopy ? "copy" : "own", x: x + j * size + 1, y: y + i * size + 1, width: size - 2, height: size - 2 });
    });
    return [...cells, svgElement("text", { class: "label", x: x + (columns * size) / 2, y: high - 4, "text-anchor": "middle" }, shapeText(shape))];
  };
  const [first, second] = kind === "stretch" ? [[a, small, false], [b, large, true]] : [[b, large, true], [a, small, false]];
  const start = 18;
  const middle = start + first[0][1] * size;
  const y = (high - 18) / 2;
  const sign = kind === "stretch" ? word("copies") : "Σ";
  const parts = [
    ...block(first[0], start, first[1], first[2]),
    svgElement("path", { class: "way", d: `M${middle + 8} ${y}h30m-6 -5l6 5l-6 5` }),
    svgElement("text", { class: "label", x: middle + 23, y: y - 7, "text-anchor": "middle" }, sign),
    ...block(second[0], middle + 48, second[1], second[2]),
  ];
  const label = word(kind === "stretch" ? "stretchPicture" : "foldPicture", { from: shapeText(first[1]), to: shapeText(second[1]) });
  return svgElement("svg", { class: "folding", width: wide + 36, height: high, viewBox: `0 0 ${wide + 36} ${high}`, role: "img", "aria-label": label }, ...parts);
}

// The section about a node: its value, its gradient with all contributions, a button to the step that completes it.
function nodeSection(number) {
  const node = graph.nodes[number];
  const list = [];
  const { step } = state;
  if (node.operation !== null) list.push(...term(word("operation"), equation.callText(number)));
  const made = timeline.computed[number];
  if (made !== step || made === 0) node.values.forEach((_, output) => {
    const value = timeline.value(number, output, step);
    const shown = value === null ? element("span", { class: "note" }, word("notYet")) : arrayView(value, { label: labelOf(number) });
    list.push(...term(word("value") + outputName(node, output), shown));
  });
  const told = timeline.adds(step) && timeline.receiver(step) === number; // the section about the step shows it
  if (node.kind !== "constant" && !told) node.gradients.forEach((_, output) => list.push(...term(word("gradientOf", { name: equation.derivativeText(number) }) + outputName(node, output), ...gradientOf(number, output))));
  const completed = timeline.completed(number);
  const buttons = [
    made > 0 && made !== step ? button("made", word("jumpMade"), () => go(made)) : null,
    completed > 0 && completed !== step ? button("jump", word("jumpComplete"), () => go(completed)) : null,
  ];
  const kind = element("span", { class: "note" }, ` ${word(`kind_${node.kind}`)}`);
  return [element("h2", {}, labelOf(number), kind), element("dl", {}, ...list), element("p", { class: "buttons" }, ...buttons)];
}

function gradientOf(number, output) {
  const { step } = state;
  if (quiz.hidesGradient(number)) return ["?"];
  const gradient = timeline.gradient(number, output, step);
  const arrivals = timeline.arrivals(number, output);
  if (arrivals.length === 0) {
    if (gradient !== null) return [arrayView(gradient, { className: "total" })];
    return [element("span", { class: "note" }, word(number === graph.end[0] ? "noGradient" : "neverGradient"))];
  }
  const arrived = timeline.arrived(number, output, step);
  if (gradient === null) return [element("span", { class: "note" }, word("noGradient"))];
  const missing = arrivals.length - arrived.length;
  const from = arrived.slice(-6).map(({ step: at, edge }) => button(`from${at}`, `${labelOf(graph.edges[edge].target)}`, () => go(at), { class: "link" }));
  return [
    arrayView(gradient, { label: equation.derivativeText(number), className: missing === 0 ? "total" : "" }),
    element("div", { class: "note" }, missing > 0 ? word("incomplete", { count: missing }) : word("complete", { count: arrivals.length })),
    element("div", { class: "note" }, `${word("cameFrom")} `, ...from.flatMap((one, i) => (i === 0 ? [one] : [", ", one]))),
  ];
}
