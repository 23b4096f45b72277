// Shows a slider for each leaf and for the selected value, the loss and the gradients that follow from them, and what the gradients
// had predicted. It also takes steps of gradient descent. The parts are made once and then only filled in, so that a slider
// stays under the finger while it is dragged.

const play = {
  rate: "0.1",
  losses: [], // from the start of the descent until now
  said: null,
  parts: null, // the parts that update() fills in
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
    for (const row of this.parts.rows.filter(({ node }) => node === number)) {
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
    const rate = typedNumber(this.rate);
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
      if (Number.isFinite(this.loss())) {
        this.losses.push(this.loss());
      } else {
        graph = before;
        editing.edits = edited;
        this.said = word("diverged");
      }
    }
    render();
  },

  // --- the parts of the section ---

  render() {
    const section = find("play-section");
    const { selected } = state;
    const aimed = this.aims(selected) && original.nodes[selected].operation !== null && selected !== original.end[0] ? [selected] : [];
    if (this.parts?.language !== words.language || this.parts.aimed !== String(aimed)) this.build(section, aimed);
    this.update();
  },

  // `aimed`: the selected value, if it is not a leaf, in a list.
  build(section, aimed) {
    this.parts = { language: words.language, aimed: String(aimed), rows: [] };
    const leaves = this.leaves();
    section.hidden = leaves.length === 0;
    const title = element("h2", {}, word("playTitle"));
    const large = () => original.nodes.length > 1000 || leaves.reduce((n, leaf) => n + editing.values(leaf).length, 0) > 1000;
    if (!section.hidden && editing.cannot === undefined && large()) { // the trial run waits until the page is there
      setTimeout(() => {
        editing.reason();
        this.parts = null;
        render();
      });
      return section.replaceChildren(title, element("p", { class: "note" }, word("playWait")));
    }
    if (section.hidden || editing.reason() !== null) {
      section.replaceChildren(title, element("p", { class: "note" }, word("cannotPlay", { why: editing.reason() ?? "" })));
      return;
    }
    if (this.learns.size === 0) {
      const parameters = leaves.filter((leaf) => original.nodes[leaf].kind === "parameter");
      leaves.forEach((leaf) => this.learns.set(leaf, parameters.length === 0 || parameters.includes(leaf)));
    }
    this.parts.loss = element("p", { class: "live", id: "play-loss", "aria-live": "off" });
    this.parts.told = element("div", { class: "told" });
    const rows = element("div", { class: "leaves" }, ...[...aimed, ...leaves].map((node) => this.row(node)));
    section.replaceChildren(title, ...(this.hasLoss() ? [this.parts.loss, this.parts.told, rows, ...this.descent()] : [rows]), this.foot());
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
      this.aim(node, fits ? nd.strides(shape).reduce((sum, step, axis) => sum + step * index[axis], 0) : this.element(node));
    });
    this.frame(row);
    this.parts.rows.push(row);
    const title = element("span", { class: "name" }, this.hasLoss() && isLeaf ? learns : null, element("code", {}, ...wordsOf(name).flatMap((part) => [part, element("wbr")])), row.index);
    return element("div", { class: "leaf" }, title, row.slider, element("span", { class: "now" }, row.ghost, row.field), row.gradient);
  },

  element: (node) => play.at.get(node) ?? 0,

  // Return the range of the slider around the run's value: twice its size to each side, and at least 1.
  reach(node, i) {
    const value = Number(original.nodes[node].values[0].values[i]);
    return Number.isFinite(value) ? Math.max(1, 2 * Math.abs(value)) : 1;
  },

  frame({ node, slider }) {
    const i = this.element(node);
    const value = Number(original.nodes[node].values[0].values[i]);
    slider.min = (Number.isFinite(value) ? value : 0) - this.reach(node, i);
    slider.max = (Number.isFinite(value) ? value : 0) + this.reach(node, i);
  },

  descent() {
    const rate = element("input", { id: "rate", size: 6, inputmode: "text", autocomplete: "off", value: this.rate });
    rate.addEventListener("input", () => (this.rate = rate.value));
    const label = element("label", {}, word("learningRate"), " ", rate);
    const one = button("descend", word("descend"), () => this.descend(1));
    const ten = button("descend10", word("descend10"), () => this.descend(10));
    this.parts.plot = element("div", { id: "loss-plot", hidden: "" });
    this.parts.said = element("p", { class: "wrong", role: "status" });
    return [element("div", { class: "row" }, label, one, ten), this.parts.said, this.parts.plot];
  },

  foot() {
    this.parts.reset = button("play-reset", word("reset"), () => editing.reset());
    this.parts.note = element("span", { class: "note" });
    return element("div", { class: "row" }, this.parts.reset, this.parts.note);
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
    if (!quiz.on && !lesson.asks) return true;
    if (quiz.hidesGradient(leaf)) return false;
    return timeline.gradient(leaf, 0, state.step) !== null && timeline.missing(leaf, 0, state.step) === 0;
  },

  update() {
    if (this.parts.reset === undefined) return;
    const name = labelOf(graph.end[0]);
    if (this.hasLoss() && timeline.known(graph.end[0], state.step)) this.change(this.parts.loss, name, this.loss(), this.loss(original));
    else this.parts.loss.textContent = `${name} = ?`; // a lesson asks for it first
    for (const row of this.parts.rows) this.updateRow(row, name);
    if (this.hasLoss()) this.updateTold();
    this.parts.reset.disabled = graph === original;
    this.parts.note.textContent = editing.said ?? (graph === original ? word("drag") : word("edited"));
    if (this.parts.plot === undefined) return;
    this.parts.said.textContent = this.said ?? "";
    this.parts.plot.hidden = this.losses.length < 2;
    if (this.losses.length > 1) this.parts.plot.replaceChildren(lossPlot(this.losses));
  },

  // Write what the gradients predicted, and how far the truth is from it.
  updateTold() {
    const nudge = this.nudge();
    const { moved, truth } = nudge;
    const shown = moved.length > 0 && moved.every(({ node }) => this.tells(node)) && Number.isFinite(truth);
    this.parts.told.replaceChildren(...(shown ? this.told(nudge).map((text) => element("p", {}, text)) : []));
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

// Draw the loss over the steps of descent.
function lossPlot(losses) {
  const steps = losses.length - 1;
  const [least, most] = [Math.min(...losses), Math.max(...losses)];
  const up = most > least ? [least, most] : [least - 1, most + 1];
  const points = losses.map((loss, i) => [data.px([0, steps], data.LEFT, data.RIGHT)(i), data.px(up, data.BOTTOM, data.TOP)(loss)]);
  const marks = steps < 40 ? points.map(([cx, cy]) => svgElement("circle", { cx, cy, r: 2.5 })) : [];
  const plot = data.plot([0, steps], up, [word("steps", { steps }), ""], [svgElement("polyline", { points: points.join(" ") }), ...marks], word("plot", { steps, from: numberText(losses[0]), to: numberText(losses.at(-1)) }));
  plot.classList.add("loss-plot");
  return plot;
}
