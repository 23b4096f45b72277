// The panel's section about one node, and the arrays in the panel.

// The slice that each leading shape shows, as an index. All arrays with this leading shape show the same one.
const shownSlice = new Map();

// An array: a scalar as a number, others as a map, a small one also as numbers. `node` is the one whose value it is.
function arrayView(array, options = {}) {
  if (!array) return element("span", { class: "note" }, "–");
  const { className = "" } = options;
  if (isScalar(array) && array.shape.length === 0) return element("output", { class: `number ${className}` }, numberText(array.values[0], state.digits));
  return tensorFrame([{ title: null, array, className }], options);
}

// A map without its summary, for a place among others; else a number or a shape.
function smallView(array, label) {
  if (!array) return element("span", {}, "–");
  if (isScalar(array)) return element("span", { class: "number" }, numberText(array.values[0], state.digits));
  return tensorFrame([{ title: null, array }], { label, small: true });
}

// Arrays of one shape in one frame: maps side by side, which show the same slice and the same entry, and their summaries.
// choose(flat) is called with the entry that the reader clicks; `chosen` is framed.
function tensorFrame(layers, { label = "", node = null, choose = null, chosen = null, chooseWord = "chooseCell", small = false, show = node === null || graph.nodes[node].weights ? null : graph.nodes[node].show } = {}) {
  const view = show?.shape ?? null;
  const [{ array: first }] = layers;
  const lead = heat.slices(first, view);
  const slice = (shownSlice.get(String(lead)) ?? lead.map(() => 0)).slice();
  const readout = element("output", { class: "readout" });
  const maps = layers.map((layer, i) => ({ ...layer, i, canvas: element("canvas", { tabindex: "0", role: "application", "aria-roledescription": word("map"), "data-key": `map ${label} ${i} ${layer.title}` }) }));
  let cursor = null;

  function draw() {
    const k = nd.strides(lead).reduce((sum, step, axis) => sum + step * slice[axis], 0);
    for (const one of maps) {
      one.map = heat.map(one.array, { view, slice: k });
      if (one.map === null) continue;
      const room = small ? 104 : show?.tokens ? 250 : 320 / layers.length - 8;
      const size = Math.max(1, Math.floor(Math.min(room / one.map.columns, (small ? 104 : 240) / one.map.rows, small ? 13 : 26)));
      const marks = [cursor, one.map.flats.indexOf(chosen)].filter((cell) => cell !== null && cell >= 0);
      heat.paint(one.canvas, one.map, one.array, size, show?.grey && one.i === 0, marks);
      setAttributes(one.canvas, { "aria-label": [label, one.title, shapeText(one.array.shape), word("mapKeys")].filter(Boolean).join(", ") });
    }
  }

  // Show the entry of a cell in all maps.
  function point(cell) {
    cursor = cell;
    draw();
    const said = cell === null ? [] : maps.filter((one) => one.map).map((one) => entryText(one, cell, show));
    const same = said.every(({ index }) => index === said[0].index);
    setText(readout, said.map(({ index, text }, i) => `${i === 0 || !same ? `${index}: ` : ""}${text}`).join(" · "));
  }

  for (const one of maps) {
    const cellAt = ({ offsetX, offsetY }) => Math.min(one.map.rows - 1, Math.max(0, Math.floor((offsetY / one.canvas.clientHeight) * one.map.rows))) * one.map.columns + Math.min(one.map.columns - 1, Math.max(0, Math.floor((offsetX / one.canvas.clientWidth) * one.map.columns)));
    one.canvas.addEventListener("pointermove", (event) => point(cellAt(event)));
    one.canvas.addEventListener("pointerleave", () => point(null));
    one.canvas.addEventListener("click", (event) => choose?.(one.map.flats[cellAt(event)]));
    one.canvas.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -one.map.columns, ArrowDown: one.map.columns }[event.key];
      if (by === undefined && !(event.key === "Enter" && choose && cursor !== null)) return;
      event.preventDefault();
      event.stopPropagation(); // the arrows are the steps' elsewhere
      if (by === undefined) return choose(one.map.flats[cursor]);
      point(cursor === null ? 0 : Math.max(0, Math.min(one.map.values.length - 1, cursor + by)));
      setAttributes(one.canvas, { "aria-label": readout.textContent });
    });
  }
  const sliders = small ? [] : lead.flatMap((size, axis) => (size < 2 ? [] : [sliceSlider(first, lead, slice, axis, view, label, () => {
    shownSlice.set(String(lead), slice);
    point(null);
  })]));
  draw();
  const blocks = maps.find((one) => one.map && Math.max(...one.map.block) > 1);
  const about = word("shape", { shape: shapeText(first.shape), dtype: first.dtype });
  const notes = [about, choose ? word(chooseWord) : "", blocks ? word("blocks", { rows: blocks.map.block[0], columns: blocks.map.block[1] }) : "", first.values || first.cells ? "" : word("noMap")];
  return element("div", { class: `array tensor${choose ? " choose" : ""}${small ? " small" : ""}` },
    element("div", { class: "maps" }, ...maps.map((one) => mapFigure(one, show, small))), ...sliders, small ? null : readout,
    small && !(first.values?.length <= 64) ? null : numbersOrSummary(layers, node, small),
    small ? null : element("div", { class: "note" }, notes.filter(Boolean).join(" · ")));
}

// One map, with its title and tokens, and the histogram below it.
function mapFigure({ canvas, array, title, map, className }, show, small) {
  const tokens = show?.tokens && map && Math.max(map.rows, map.columns) <= 24 ? show.tokens : null;
  const labels = (kind, texts) => element("div", { class: `tokens ${kind}`, "aria-hidden": "true" }, ...texts.map((text) => element("span", {}, text)));
  const shown = tokens === null ? [map && canvas] : [labels("columns", tokens[1]), labels("rows", tokens[0]), canvas];
  if (tokens) canvas.parentNode?.removeChild(canvas);
  return element("figure", { class: `${className ?? ""}${tokens ? " with-tokens" : ""}` }, title && element("figcaption", {}, title), ...shown, small || array.values?.length <= 64 ? null : histogram(array));
}

// "[0, 3]" or "cat → sat", and the number there.
function entryText({ map, array, title }, cell, show) {
  const flat = map.flats[cell];
  const index = indexOf(flat, array.shape);
  const columns = (show?.shape ?? array.shape).at(-1);
  const [row, column] = show?.tokens ? [show.tokens[0][Math.floor(flat / columns) % show.tokens[0].length], show.tokens[1][flat % columns]] : [];
  return { index: row === undefined ? index : `${index} ${row} → ${column}`, text: `${title ? `${title} ` : ""}${numberText(map.values[cell], state.digits)}` };
}

function sliceSlider(array, lead, slice, axis, view, label, changed) {
  const of = (view ?? array.shape)[axis];
  const text = () => word(lead[axis] < of ? "sliceOfFew" : "sliceOf", { at: slice[axis], count: of, few: lead[axis] });
  const said = element("output", {}, text());
  const slider = element("input", { type: "range", min: 0, max: lead[axis] - 1, "aria-label": word("slice", { axis }), "data-key": `slice ${label} ${axis}` });
  slider.value = slice[axis];
  slider.addEventListener("input", () => {
    slice[axis] = Number(slider.value);
    setText(said, text());
    changed();
  });
  return element("label", { class: "slice" }, word("slice", { axis }), slider, said);
}

// The numbers of a small array; min, mean, max, norm and the share of zeros of a large one. NaN and infinity are counted.
function numbersOrSummary(layers, node, small) {
  const text = (x) => numberText(x, state.digits);
  const names = ["min", "mean", "max", "norm"];
  const parts = [];
  if (layers[0].array.values?.length <= 64) {
    for (const { array, className, title } of layers) parts.push(title && element("div", { class: "note" }, title), element("pre", { class: className ?? "", tabindex: "0" }, valuesText(array, state.digits)));
  } else {
    const share = (array) => `${text(((100 * summaryOf(array).zeros) / nd.sizeOf(array.shape)).toPrecision(3))} %`;
    const cells = (array) => [...names.map((name) => text(summaryOf(array)[name])), share(array)].map((one) => element("td", {}, one));
    parts.push(element("table", { class: "summary" },
      element("thead", {}, element("tr", {}, element("td"), ...[...names, "zeros"].map((name) => element("th", { scope: "col" }, word(`stat_${name}`))))),
      element("tbody", {}, ...layers.map(({ array, title }) => element("tr", {}, element("th", { scope: "row" }, title ?? ""), ...cells(array))))));
  }
  for (const { array } of layers) {
    const { nans, infs } = summaryOf(array);
    if (nans + infs > 0) parts.push(element("p", { class: "wrong" }, `✗ ${word("oddCount", { nans, infs })}`));
  }
  return element("div", { class: "facts" }, ...parts, ...(node === null || small ? [] : factsOf(node, layers[0].array)));
}

// What to know of a softmax, whose rows should sum to 1, and of a ReLU, whose zeros pass no gradient.
function factsOf(node, array) {
  const { operation, keywords } = graph.nodes[node];
  const { zeros, dead, sumLeast, sumMost } = summaryOf(array);
  const text = (x) => numberText(Number(x).toPrecision(4));
  const columns = array.shape.at(-1);
  if (operation === "softmax") {
    const axis = nd.axesOf(array.shape.length, keywords.axis ?? -1)[0];
    const last = axis === array.shape.length - 1;
    return [element("p", { class: last ? "right" : "wrong" }, word(last ? "softmaxRows" : "softmaxOther", { axis, least: text(sumLeast), most: text(sumMost) }))];
  }
  if ((operation === "relu" || operation === "maximum") && array.shape.length > 0) {
    const share = ((100 * zeros) / nd.sizeOf(array.shape)).toPrecision(3);
    return [element("p", { class: dead > 0 ? "wrong" : "note" }, word("reluDead", { share: numberText(share), dead, columns }))];
  }
  return [];
}

// How many entries have which size; the line is at zero.
function histogram(array) {
  const { bins, min, max } = summaryOf(array);
  if (!bins || !(max > min)) return null;
  const [width, high] = [150, 30];
  const most = Math.max(...bins);
  const d = bins.map((count, i) => `M${(i * width) / BINS} ${high}v${(-high * count) / most}h${width / BINS - 1}v${(high * count) / most}z`).join("");
  const zero = min < 0 && max > 0 ? [svgElement("path", { class: "zero", d: `M${(-min / (max - min)) * width} 0V${high}` })] : [];
  const label = word("histogram", { min: numberText(min), max: numberText(max) });
  return svgElement("svg", { class: "histogram", viewBox: `0 0 ${width} ${high}`, width, height: high, role: "img", "aria-label": label }, svgElement("title", {}, label), svgElement("path", { d }), ...zero);
}

function labelled(name, array, className = "", choice = {}) {
  const large = array && !isScalar(array) && !(array.values?.length <= 64);
  const shown = large ? tensorFrame([{ title: null, array, className }], { label: word(name), small: !choice.choose, ...choice }) : arrayView(array, { label: word(name), className, ...choice });
  return element("figure", { class: className }, shown, element("figcaption", {}, word(name)));
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

// The section about a node: its value beside its gradient, all contributions, a button to the step that completes it.
function nodeSection(number) {
  const node = graph.nodes[number];
  const list = [];
  const { step } = state;
  if (node.operation !== null) list.push(...term(word("operation"), equation.callText(number)));
  const made = timeline.computed[number];
  const choose = play.aims(number) ? (flat) => play.aim(number, flat) : null;
  node.values.forEach((_, output) => {
    const [value, gradient] = [timeline.value(number, output, step), quiz.hidesGradient(number) ? null : timeline.gradient(number, output, step)];
    const together = value && gradient && !isScalar(value) && nd.sameShape(value.shape, gradient.shape);
    if (together || made !== step || made === 0) {
      const options = { label: labelOf(number), node: number, choose, chooseWord: "aimCell", chosen: choose && (play.at.get(number) ?? 0) };
      const layers = () => [{ title: word("value"), array: value }, { title: equation.derivativeText(number), array: gradient, className: "of-gradient" }];
      const shown = value === null ? element("span", { class: "note" }, word("notYet")) : together ? tensorFrame(layers(), options) : arrayView(value, options);
      list.push(...term(together ? null : word("value") + outputName(node, output), shown));
    }
    const told = timeline.adds(step) && timeline.receiver(step) === number; // the section about the step shows it
    if (node.kind !== "constant" && !told) list.push(...term(word("gradientOf", { name: equation.derivativeText(number) }) + outputName(node, output), ...gradientOf(number, output, together)));
  });
  if (node.weights && graph === original && made <= step) list.push(...term(word("attentionWeights"), tensorFrame([{ title: null, array: node.weights }], { label: word("attentionWeights"), show: node.show })));
  const completed = timeline.completed(number);
  const buttons = [
    made > 0 && made !== step ? button("made", word("jumpMade"), () => go(made)) : null,
    completed > 0 && completed !== step ? button("jump", word("jumpComplete"), () => go(completed)) : null,
  ];
  const kind = element("span", { class: "note" }, ` ${word(`kind_${node.kind}`)}`);
  return [element("h2", {}, labelOf(number), kind), element("dl", {}, ...list), element("p", { class: "buttons" }, ...buttons)];
}

function gradientOf(number, output, isShown) {
  const { step } = state;
  if (quiz.hidesGradient(number)) return ["?"];
  const gradient = timeline.gradient(number, output, step);
  const arrivals = timeline.arrivals(number, output);
  if (arrivals.length === 0) {
    if (gradient !== null) return isShown ? [] : [arrayView(gradient, { className: "total" })];
    return [element("span", { class: "note" }, word(number === graph.end[0] ? "noGradient" : "neverGradient"))];
  }
  const arrived = timeline.arrived(number, output, step);
  if (gradient === null) return [element("span", { class: "note" }, word("noGradient"))];
  const missing = arrivals.length - arrived.length;
  const from = arrived.slice(-6).map(({ step: at, edge }) => button(`from${at}`, `${labelOf(graph.edges[edge].target)}`, () => go(at), { class: "link" }));
  return [
    ...(isShown ? [] : [arrayView(gradient, { label: equation.derivativeText(number), className: missing === 0 ? "total" : "" })]),
    element("div", { class: "note" }, missing > 0 ? word("incomplete", { count: missing }) : word("complete", { count: arrivals.length })),
    element("div", { class: "note" }, `${word("cameFrom")} `, ...from.flatMap((one, i) => (i === 0 ? [one] : [", ", one]))),
  ];
}
