// Shows a slider for each leaf and for the selected value, the loss and the gradients that follow from them, and what the gradients
// had predicted. It also takes steps of gradient descent. The rows are made once and then only filled in, so that a slider
// stays under the finger while it is dragged.

const play = {
  losses: [], // from the start of the descent until now
  said: null,
  rows: [], // for each value its slider and the other parts that update() fills in
  made: null, // the language of the rows, and the selected value that has one
  learns: new Map(), // leaf -> whether descent changes it
  at: new Map(), // node -> the element that its slider moves

  // Return the leaves that get a gradient.
  leaves() {
    return original.nodes.flatMap(({ operation }, i) => (operation === null && this.hasGradient(i) ? [i] : []));
  },

  hasGradient(number) {
    const { kind, values, gradients } = original.nodes[number];
    return kind !== "constant" && Boolean(values[0]?.dtype.startsWith("float")) && values[0].values?.length > 0 && Boolean(gradients[0]);
  },

  // Return whether the reader can move a node's value: the page can compute again, and the value is known at this step.
  aims: (number) => editing.cannot === null && play.hasGradient(number) && timeline.known(number, state.step),

  aim(number, i) {
    this.at.set(number, i);
    for (const row of this.rows.filter(({ node }) => node === number)) {
      this.frame(row);
      row.index.value = indexOf(i, original.nodes[number].values[0].shape);
    }
    render();
  },

  loss: (data = graph) => Number(data.nodes[data.end[0]].values[data.end[1]].values[0]),

  // Return whether there is a loss that is one number, which descent needs.
  hasLoss() {
    const [end, output] = original.end;
    const [value, seed] = [original.nodes[end].values[output], original.nodes[end].gradients[output]];
    return value?.values?.length === 1 && Number(seed?.values?.[0]) === 1;
  },

  // Start the history of the loss again.
  begin() {
    this.losses = [];
    this.said = null;
  },

  move(node, i, value) {
    editing.said = null;
    editing.apply({ [node]: editing.changed(node, i, value) });
    this.begin();
    render();
  },

  // Return all changes of values against the program's run: the change of the loss that the run's gradients predict, and the true one.
  nudge() {
    const found = { moved: [], predicted: 0, truth: this.loss() - this.loss(original) };
    for (const [key, edit] of Object.entries(editing.edits)) {
      const node = Number(key);
      const { values: before } = original.nodes[node].gradients[0];
      const from = original.nodes[node].operation === null ? original.nodes[node].values[0].values : null;
      edit.forEach((value, i) => {
        const by = from === null ? value : value - from[i];
        if (by === 0) return;
        found.moved.push({ node, i, by, slope: before[i] });
        found.predicted += before[i] * by;
      });
    }
    return found;
  },

  // Say the same in words, one sentence for each number.
  told({ moved, predicted, truth }) {
    const text = (x) => numberText(x, state.digits);
    const [{ node, by, slope }] = moved;
    const how = moved.length === 1 ? `${equation.derivativeText(node)} · ${word("nudgeName")} = ${text(slope)} · ${text(by)}` : word("nudgeMany", { count: moved.length });
    const gap = truth - predicted;
    return [word("nudgePredicted", { how, x: text(predicted) }), word("nudgeTruth", { name: labelOf(graph.end[0]), x: text(truth) }), word("nudgeGap", { gap: text(Math.abs(gap) < 1e-12 * Math.abs(truth) ? 0 : gap) })];
  },

  descend(times) {
    const rate = typedNumber(find("rate").value);
    this.said = Number.isFinite(rate) ? null : word("notNumber");
    if (this.losses.length === 0) this.losses = [this.loss()];
    for (let i = 0; i < times && this.said === null; i++) {
      const edits = {};
      for (const leaf of this.leaves().filter((one) => this.learns.get(one))) {
        const g = graph.nodes[leaf].gradients[0].values;
        edits[leaf] = editing.values(leaf).map((value, k) => value - rate * Number(g[k]));
      }
      const [before, edited] = [graph, { ...editing.edits }];
      editing.apply(edits);
      if (Number.isFinite(this.loss())) this.losses.push(this.loss());
      else {
        graph = before;
        editing.edits = edited;
        this.said = word("diverged");
      }
    }
    render();
  },

  // --- the parts of the section ---

  render() {
    const { selected } = state;
    const aimed = this.aims(selected) && original.nodes[selected].operation !== null && selected !== original.end[0] ? [selected] : [];
    const wanted = `${words.language} ${aimed}`;
    if (this.made !== wanted) {
      this.made = wanted;
      this.build(aimed);
    }
    if (!find("play-parts").hidden) this.update();
  },

  // Make the rows, or say why there are none. `aimed`: the selected value, if it is not a leaf, in a list.
  build(aimed) {
    const leaves = this.leaves();
    const size = () => leaves.reduce((n, leaf) => n + editing.values(leaf).length, 0);
    const waits = leaves.length > 0 && editing.cannot === undefined && (original.nodes.length > 1000 || size() > 1000);
    const why = leaves.length === 0 || waits ? null : editing.reason();
    find("play-section").hidden = leaves.length === 0;
    find("play-parts").hidden = leaves.length === 0 || waits || why !== null;
    setText(find("play-why"), waits ? word("playWait") : why === null ? "" : word("cannotPlay", { why }));
    if (waits) { // the trial run waits until the page is there
      setTimeout(() => {
        editing.reason();
        this.made = null;
        render();
      });
    }
    if (find("play-parts").hidden) return;
    if (this.learns.size === 0) {
      const parameters = leaves.filter((leaf) => original.nodes[leaf].kind === "parameter");
      leaves.forEach((leaf) => this.learns.set(leaf, parameters.length === 0 || parameters.includes(leaf)));
    }
    this.rows = [...aimed, ...leaves].map((node) => this.row(node));
    find("leaves").replaceChildren(...this.rows.map(({ part }) => part));
    find("descent").hidden = find("play-loss").hidden = !this.hasLoss();
  },

  // Make the parts for one value: its name, a slider, a field, and below them its gradient. An array shows one element at a time.
  row(node) {
    const [{ shape, values }] = original.nodes[node].values;
    const name = labelOf(node);
    const row = { node };
    const isLeaf = original.nodes[node].operation === null;
    const learns = element("input", { type: "checkbox", "aria-label": word("learns", { name }), title: word("learns", { name }) });
    learns.checked = this.learns.get(node);
    learns.addEventListener("change", () => this.learns.set(node, learns.checked));
    row.slider = element("input", { type: "range", step: "any", "aria-label": word("slider", { name }), "data-key": `slider${node}` });
    row.slider.addEventListener("input", () => this.move(node, this.element(node), Number(row.slider.value)));
    row.field = element("input", { size: 7, inputmode: "text", autocomplete: "off", "aria-label": name, "data-key": `field${node}` });
    row.field.addEventListener("change", () => editing.set(node, this.element(node), row.field.value));
    row.gradient = element("div", { class: "live small" });
    row.ghost = element("del", { class: "ghost small", title: word("ghost") });
    row.index = values.length === 1 ? null : element("input", { class: "index", size: 6, autocomplete: "off", "aria-label": word("element", { name }), title: word("element", { name }), "data-key": `index${node}` });
    row.index?.addEventListener("change", () => {
      const index = (row.index.value.match(/-?\d+/g) ?? []).map(Number).map((i, axis) => (i < 0 ? i + shape[axis] : i));
      const fits = index.length === shape.length && index.every((i, axis) => i >= 0 && i < shape[axis]);
      this.aim(node, fits ? nd.ravel(index, shape) : this.element(node));
    });
    this.frame(row);
    const title = element("span", { class: "name" }, this.hasLoss() && isLeaf ? learns : null, element("code", {}, ...breakable(name)), row.index);
    row.part = element("div", { class: "leaf" }, title, row.slider, element("span", { class: "now" }, row.ghost, row.field), row.gradient);
    return row;
  },

  element: (node) => play.at.get(node) ?? 0,

  // Set the range of the slider around the run's value: twice its size to each side, and at least 1.
  frame({ node, slider }) {
    const value = Number(original.nodes[node].values[0].values[this.element(node)]);
    const [middle, reach] = Number.isFinite(value) ? [value, Math.max(1, 2 * Math.abs(value))] : [0, 1];
    Object.assign(slider, { min: middle - reach, max: middle + reach });
  },

  // Write the current number, after the run's number as a ghost if they differ.
  change(target, label, now, before) {
    const parts = [element("span", {}, label), " = "];
    if (now !== before && !Number.isNaN(now)) {
      parts.push(element("del", { class: "ghost", title: word("ghost") }, numberText(before, state.digits)), " → ");
    }
    target.replaceChildren(...parts, element("strong", {}, numberText(now, state.digits)));
  },

  // While the quiz or a lesson asks, a gradient is shown here no sooner than in the graph.
  tells(leaf) {
    const isComplete = timeline.gradient(leaf, 0, state.step) !== null && timeline.missing(leaf, 0, state.step) === 0;
    return (!quiz.on && !lesson.asks) || (isComplete && !quiz.hidesGradient(leaf));
  },

  update() {
    const name = labelOf(graph.end[0]);
    for (const row of this.rows) this.updateRow(row, name);
    find("play-reset").disabled = graph === original;
    setText(find("play-note"), editing.said ?? word(graph === original ? "drag" : "edited"));
    if (!this.hasLoss()) return;
    if (timeline.known(graph.end[0], state.step)) this.change(find("play-loss"), name, this.loss(), this.loss(original));
    else setText(find("play-loss"), `${name} = ?`); // a lesson asks for it first
    const nudge = this.nudge();
    const isShown = nudge.moved.length > 0 && nudge.moved.every(({ node }) => this.tells(node)) && Number.isFinite(nudge.truth);
    find("told").replaceChildren(...(isShown ? this.told(nudge).map((text) => element("p", {}, text)) : []));
    setText(find("descent-said"), this.said ?? "");
    find("loss-plot").replaceChildren(...(this.losses.length > 1 ? [lossPlot(this.losses)] : []));
  },

  updateRow({ node: leaf, slider, field, gradient, ghost, index }, name) {
    const at = this.element(leaf);
    const numbers = (array) => Number(array?.values?.[at]);
    const [now, before] = [graph, original].map(({ nodes }) => numbers(nodes[leaf].values[0]));
    slider.min = Math.min(slider.min, now);
    slider.max = Math.max(slider.max, now);
    slider.value = now;
    slider.setAttribute("aria-valuetext", this.hasLoss() ? `${numberText(now)}, ${name} ${numberText(this.loss())}` : numberText(now));
    if (document.activeElement !== field) field.value = numberText(now, state.digits);
    const { shape, values } = original.nodes[leaf].values[0];
    if (index && document.activeElement !== index) index.value = indexOf(at, shape);
    const label = `${equation.derivativeText(leaf)}${values.length > 1 ? ` ${indexOf(at, shape)}` : ""}`;
    if (this.tells(leaf)) this.change(gradient, label, ...[graph, original].map(({ nodes }) => numbers(nodes[leaf].gradients[0])));
    else gradient.replaceChildren(`${label} = ?`);
    setText(ghost, now === before ? "" : numberText(before, state.digits));
  },
};

find("descend").addEventListener("click", () => play.descend(1));
find("descend10").addEventListener("click", () => play.descend(10));
find("play-reset").addEventListener("click", () => editing.reset());

// Draw the loss over the steps of descent.
function lossPlot(losses) {
  const steps = losses.length - 1;
  const up = [Math.min(...losses), Math.max(...losses)];
  const points = losses.map((loss, i) => [data.px([0, steps], data.LEFT, data.RIGHT)(i), data.px(up, data.BOTTOM, data.TOP)(loss)]);
  const marks = steps < 40 ? points.map(([cx, cy]) => svgElement("circle", { cx, cy, r: 2.5 })) : [];
  const plot = data.plot([0, steps], up, [word("steps", { steps }), ""], [svgElement("polyline", { points: points.join(" ") }), ...marks], word("plot", { steps, from: numberText(losses[0]), to: numberText(losses.at(-1)) }));
  plot.classList.add("loss-plot");
  return plot;
}
