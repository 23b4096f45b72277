// The panel's section about one node, and the arrays in the panel.

// The slice that each leading shape shows, as an index. All arrays with this leading shape show the same one.
const shownSlice = new Map();

// Show an array: a scalar as a number, others as a map, a small one also as numbers. `node` is the one whose value it is. `small`
// leaves out the summary, for an array next to others.
function arrayView(array, { className = "", ...options } = {}) {
  if (!array) return element("span", { class: "note" }, "–");
  if (isScalar(array) && (options.small || array.shape.length === 0)) return element("output", { class: `number ${className}` }, numberText(array.values[0], state.digits));
  return tensorFrame([{ title: null, array, className }], options);
}

const WRITTEN = 32; // elements of an array whose numbers the panel writes out; more would push the rest of the step out of sight

// Show an array beside its name. A large one is drawn small unless the reader can choose one of its cells.
function labelled(label, array, { className = "", ...options } = {}) {
  const large = array && !isScalar(array) && !(array.values?.length <= WRITTEN);
  return element("figure", { class: `labelled ${className}` }, arrayView(array, { label, className, small: large && !options.choose, ...options }), element("figcaption", {}, label));
}

// Show arrays of one shape in one frame: maps side by side, which show the same slice and the same element, and their summaries.
// choose(flat) is called with the element that the reader clicks; `chosen` is framed. `room`: the largest width and height of the maps;
// `most`: of their cells.
function tensorFrame(layers, { label = "", node = null, choose = null, chosen = null, chooseWord = "chooseCell", small = false, show = node === null || graph.nodes[node].weights ? null : graph.nodes[node].show, room = small ? [104, 104] : [show?.tokens ? 250 : 312, 240], most } = {}) {
  const [{ array: first }] = layers;
  const shape = show?.shape ?? first.shape;
  const lead = heat.slices(first, shape);
  const usual = show || lead.length === 0 ? null : depends.shown(node, first);
  const slice = (shownSlice.get(String(lead)) ?? nd.unravel(usual ?? heat.fullest(layers.map(({ array }) => array), shape), lead)).slice();
  const readout = small ? null : element("output", { class: "readout" });
  const maps = layers.filter(({ array }) => heat.grid(array) !== null).map((layer, i) => ({ ...layer, grey: show?.grey && i === 0, svg: svgElement("svg", { class: "map", tabindex: "0", role: "application", "aria-roledescription": word("map"), "data-key": `map ${label} ${i}` }) }));
  let cursor = null;

  // Draw the slice, and show the element of the cell under the cursor in all maps.
  function draw(cell) {
    cursor = cell;
    const k = nd.ravel(slice, lead);
    const said = maps.map((one) => {
      one.map = heat.map(one.array, { view: shape, slice: k, most });
      const wide = room[0] / (small ? 1 : layers.length) - (show?.tokens ? 30 : 0);
      const size = Math.max(1, Math.floor(Math.min(wide / one.map.columns, room[1] / one.map.rows, small ? 13 : 26)));
      one.size = size;
      heat.fill(one.svg, one.array, one.map, { size, grey: one.grey, strengths: 12, gap: 0 }, one.map.flats.map((flat, i) => (i === cell || flat === chosen ? "at" : null)));
      one.svg.style.width = `${one.map.columns * size + 2}px`;
      one.svg.style.height = one.map.rows * size < 14 ? "14px" : ""; // so that the pointer can hit a row of small cells
      const flat = one.map.flats[cell];
      const tokens = show?.tokens ? ` ${show.tokens[0][Math.floor(flat / shape.at(-1)) % shape.at(-2)]} → ${show.tokens[1][flat % shape.at(-1)]}` : "";
      return cell === null ? ["", ""] : [`${indexOf(flat, first.shape)}${tokens}: `, `${one.title ?? ""} ${numberText(one.map.values[cell].toPrecision(one.array.cells ? 7 : 17), state.digits)}`];
    });
    if (readout) setText(readout, said.filter(([index]) => index).map(([index, text], i) => `${i === 0 || index !== said[0][0] ? index : ""}${text}`).join(" · "));
    for (const { svg, title } of maps) setAttributes(svg, { "aria-label": said[0]?.[0] && readout ? readout.textContent : [label, title, shapeText(first.shape), word("mapKeys")].filter(Boolean).join(", ") });
  }

  for (const one of maps) {
    const { svg } = one;
    const under = (event) => heat.under(svg.querySelector(".heat"), event);
    svg.addEventListener("pointermove", (event) => draw(under(event).cell));
    svg.addEventListener("pointerleave", () => draw(null));
    svg.addEventListener("click", (event) => choose?.(under(event).flat));
    svg.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -one.map.columns, ArrowDown: one.map.columns, Enter: 0 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation(); // elsewhere the arrows go from step to step
      if (by === 0) return choose?.(one.map.flats[cursor ?? 0]);
      draw(cursor === null ? 0 : Math.max(0, Math.min(one.map.values.length - 1, cursor + by)));
    });
  }

  function slider(axis) {
    const text = () => word(lead[axis] < shape[axis] ? "sliceOfFew" : "sliceOf", { at: slice[axis], count: shape[axis], few: lead[axis] });
    const said = element("output", {}, text());
    const input = element("input", { type: "range", min: 0, max: lead[axis] - 1, value: slice[axis], "aria-label": word("slice", { axis }), "data-key": `slice ${label} ${axis}` });
    input.addEventListener("input", () => {
      slice[axis] = Number(input.value);
      shownSlice.set(String(lead), slice);
      setText(said, text());
      draw(null);
    });
    return element("label", { class: "slice" }, word("slice", { axis }), input, said);
  }

  draw(null);
  const [rows, columns] = maps[0]?.map.block ?? [1, 1];
  const notes = [word("shape", { shape: shapeText(first.shape), dtype: first.dtype }), choose ? word(chooseWord) : "", rows * columns > 1 ? word("blocks", { rows, columns }) : "", maps.length > 0 || isScalar(first) ? "" : word("noMap")];
  return element("div", { class: `array tensor${choose ? " choose" : ""}` },
    element("div", { class: "maps" }, ...maps.map((one) => mapFigure(one, show?.tokens))),
    ...(small ? [] : lead.flatMap((size, axis) => (size > 1 ? [slider(axis)] : []))), readout,
    ...(small && maps.length > 0 ? [] : [...numbersOrSummary(layers), ...factsOf(node, first), element("div", { class: "note" }, notes.filter(Boolean).join(" · "))]));
}

// Show one map with its title, and the tokens of its rows and columns: as many of them as there is room for.
function mapFigure({ svg, title, map, size, className }, tokens) {
  const label = (texts, block) => texts.filter((_, i) => i % block === 0).map((text, i) => element("span", {}, i % Math.ceil(11 / size) === 0 ? text : ""));
  const labels = (kind, axis) => element("div", { class: `tokens ${kind}${tokens[axis].every((text) => text.length < 2) ? " letters" : ""}`, "aria-hidden": "true" }, ...label(tokens[axis], map.block[axis]));
  const parts = [title ? element("figcaption", {}, title) : null, ...(tokens ? [labels("columns", 1), labels("rows", 0)] : []), svg];
  return element("figure", { class: `${className ?? ""}${tokens ? " with-tokens" : ""}` }, ...parts);
}

const LINE = 44; // characters in a line of the panel

// Show the numbers of small arrays, or min, mean, max, norm and the share of zeros of large ones. Count NaN and infinities.
function numbersOrSummary(layers) {
  const text = (x) => numberText(x, state.digits);
  const names = ["min", "mean", "max", "norm", "zeros"];
  const numbers = (array) => names.map((name) => (name === "zeros" ? `${text(((100 * summaryOf(array).zeros) / nd.sizeOf(array.shape)).toPrecision(3))} %` : text(Number(summaryOf(array)[name]).toPrecision(3))));
  const cells = (tag, texts) => texts.map((one) => element(tag, {}, one));
  const parts = layers[0].array.values?.length <= WRITTEN
    ? layers.flatMap(({ array, className, title }) => [title && element("div", { class: "note" }, title), element("pre", { class: className ?? "", tabindex: "0" }, valuesText(array, state.digits, LINE))])
    : [element("table", { class: "summary" }, element("tr", {}, ...cells("th", ["", ...names.map((name) => word(`stat_${name}`))])), ...layers.map(({ array, title }) => element("tr", {}, ...cells("th", [title ?? ""]), ...cells("td", numbers(array)))))];
  const odd = layers.map(({ array }) => summaryOf(array)).filter(({ nans, infs }) => nans + infs > 0);
  return [...parts.filter(Boolean), ...odd.map((counts) => element("p", { class: "wrong" }, `✗ ${word("oddCount", counts)}`))];
}

// Say what the rows of a softmax sum to, which should be 1, and how many elements of a ReLU are zero and pass no gradient.
function factsOf(node, array) {
  const { tells, keywords } = node === null ? {} : graph.nodes[node];
  const { zeros, dead, sumLeast, sumMost } = summaryOf(array);
  const text = (x) => numberText(Number(x).toPrecision(4));
  const [columns, last] = [array.shape.at(-1), array.shape.length - 1];
  if (tells === "rows") {
    const axis = nd.axesOf(last + 1, keywords.axis ?? -1)[0];
    return [element("p", { class: axis === last ? "right" : "wrong" }, word(axis === last ? "softmaxRows" : "softmaxOther", { axis, least: text(sumLeast), most: text(sumMost) }))];
  }
  if (tells !== "zeros" || last < 0) return [];
  const share = text((100 * zeros) / nd.sizeOf(array.shape));
  return [element("p", { class: dead > 0 ? "wrong" : "note" }, word("reluDead", { share, dead, columns }))];
}

function outputName(node, output) {
  return node.values.length > 1 ? ` [${output}]` : "";
}

// Return the section about a node: its value beside its gradient, all contributions, and a button to the step that completes it.
function nodeSection(number) {
  const node = graph.nodes[number];
  const list = [];
  const { step } = state;
  if (node.operation !== null) list.push(...term(word("operation"), node.options === "" ? node.operation : `${node.operation}(${node.options})`));
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
    const told = timeline.adds(step) && timeline.at(step).source === number; // the section about the step shows it
    if (node.kind !== "constant" && !told) list.push(...term(equation.derivativeText(number) + outputName(node, output), ...gradientOf(number, output, together)));
  });
  if (node.weights && graph === original && made <= step) list.push(...term(word("attentionWeights"), tensorFrame([{ title: null, array: node.weights }], { label: word("attentionWeights"), show: node.show })));
  const completed = Math.max(0, ...node.values.map((_, output) => timeline.arrivals(number, output).at(-1)?.step ?? 0));
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
