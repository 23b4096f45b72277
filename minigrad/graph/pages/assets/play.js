// A slider for each leaf, with the loss and the gradients that follow from it, and gradient descent, one step at a time.
// The parts are made once and then only filled in, so that a slider stays under the finger while it is dragged.

const play = {
  rate: "0.1",
  losses: [], // from the start of the descent until now
  said: null,
  parts: null, // the parts that update() fills in
  learns: new Map(), // leaf -> whether descent changes it

  // The leaves that get a gradient.
  leaves() {
    const isLeaf = ({ operation, kind, values, gradients }) =>
      operation === null && kind !== "constant" && values[0]?.dtype.startsWith("float") && values[0].values?.length > 0 && gradients[0] !== null;
    return original.nodes.flatMap((node, i) => (isLeaf(node) ? [i] : []));
  },

  loss: (data = graph) => Number(data.nodes[data.end[0]].values[data.end[1]].values[0]),

  // Descent needs a loss that is one number.
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

  move(leaf, i, value) {
    editing.said = null;
    editing.apply({ [leaf]: editing.changed(leaf, i, value) });
    this.begin();
    render();
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

  // --- the parts ---

  render() {
    const section = document.getElementById("play-section");
    if (this.parts?.language !== words.language) this.build(section);
    this.update();
  },

  build(section) {
    this.parts = { language: words.language, rows: [] };
    const leaves = this.leaves();
    section.hidden = leaves.length === 0;
    const title = element("h2", {}, word("playTitle"));
    if (section.hidden || editing.reason() !== null) {
      section.replaceChildren(title, element("p", { class: "note" }, word("cannotPlay", { why: editing.reason() ?? "" })));
      return;
    }
    if (this.learns.size === 0) {
      const parameters = leaves.filter((leaf) => original.nodes[leaf].kind === "parameter");
      leaves.forEach((leaf) => this.learns.set(leaf, parameters.length === 0 || parameters.includes(leaf)));
    }
    this.parts.loss = element("p", { class: "live", id: "play-loss", "aria-live": "off" });
    const rows = element("div", { class: "leaves" }, ...leaves.map((leaf) => this.row(leaf)));
    section.replaceChildren(title, ...(this.hasLoss() ? [this.parts.loss, rows, ...this.descent()] : [rows]), this.foot());
  },

  // One leaf: its name, a slider, a field, and below them its gradient. An array shows one element at a time.
  row(leaf) {
    const [{ shape, values }] = original.nodes[leaf].values;
    const name = labelOf(leaf);
    const row = { leaf, at: 0 };
    const learns = element("input", { type: "checkbox", "aria-label": word("learns", { name }), title: word("learns", { name }) });
    learns.checked = this.learns.get(leaf);
    learns.addEventListener("change", () => this.learns.set(leaf, learns.checked));
    row.slider = element("input", { type: "range", step: "any", "aria-label": word("slider", { name }), "data-key": `slider${leaf}` });
    row.slider.addEventListener("input", () => this.move(leaf, row.at, Number(row.slider.value)));
    row.field = element("input", { size: 7, inputmode: "text", autocomplete: "off", "aria-label": name, "data-key": `field${leaf}` });
    row.field.addEventListener("change", () => editing.set(leaf, row.at, row.field.value));
    row.gradient = element("div", { class: "live small" });
    row.ghost = element("del", { class: "ghost small", title: word("ghost") });
    const pick = values.length === 1 ? null : element("select", { "aria-label": word("element", { name }) });
    pick?.append(...values.map((_, i) => element("option", { value: i }, indexOf(i, shape))));
    pick?.addEventListener("change", () => {
      row.at = Number(pick.value);
      this.frame(row);
      this.update();
    });
    this.frame(row);
    this.parts.rows.push(row);
    const title = element("span", { class: "name" }, this.hasLoss() ? learns : null, element("code", { title: name }, name), pick);
    return element("div", { class: "leaf" }, title, row.slider, element("span", { class: "now" }, row.ghost, row.field), row.gradient);
  },

  // The range of the slider around the run's value: twice its size to each side, and at least 1.
  frame(row) {
    const value = Number(original.nodes[row.leaf].values[0].values[row.at]);
    const reach = Number.isFinite(value) ? Math.max(1, 2 * Math.abs(value)) : 1;
    row.slider.min = (Number.isFinite(value) ? value : 0) - reach;
    row.slider.max = (Number.isFinite(value) ? value : 0) + reach;
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

  // The current number, after the run's number as a ghost if they differ.
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
    if (this.hasLoss()) this.change(this.parts.loss, name, this.loss(), this.loss(original));
    for (const row of this.parts.rows) this.updateRow(row, name);
    this.parts.reset.disabled = graph === original;
    this.parts.note.textContent = editing.said ?? (graph === original ? word("drag") : word("edited"));
    if (this.parts.plot === undefined) return;
    this.parts.said.textContent = this.said ?? "";
    this.parts.plot.hidden = this.losses.length < 2;
    if (this.losses.length > 1) this.parts.plot.replaceChildren(lossPlot(this.losses));
  },

  updateRow({ leaf, at, slider, field, gradient, ghost }, name) {
    const numbers = (array) => Number(array?.values?.[at]);
    const [now, before] = [graph, original].map(({ nodes }) => numbers(nodes[leaf].values[0]));
    slider.min = Math.min(slider.min, now);
    slider.max = Math.max(slider.max, now);
    slider.value = now;
    slider.setAttribute("aria-valuetext", this.hasLoss() ? `${numberText(now)}, ${name} ${numberText(this.loss())}` : numberText(now));
    if (document.activeElement !== field) field.value = numberText(now, state.digits);
    const { shape, values } = original.nodes[leaf].values[0];
    const label = `${equation.derivativeText(leaf)}${values.length > 1 ? ` ${indexOf(at, shape)}` : ""}`;
    if (this.tells(leaf)) this.change(gradient, label, ...[graph, original].map(({ nodes }) => numbers(nodes[leaf].gradients[0])));
    else gradient.replaceChildren(`${label} = ?`);
    setText(ghost, now === before ? "" : numberText(before, state.digits));
  },
};

// The loss over the steps of descent, as a small picture.
function lossPlot(losses) {
  const [width, height, left, right, top, bottom] = [320, 120, 52, 10, 14, 24];
  const svg = svgElement;
  const [least, most] = [Math.min(...losses), Math.max(...losses)];
  const x = (i) => left + ((width - left - right) * i) / (losses.length - 1);
  const y = (loss) => (most === least ? (top + height - bottom) / 2 : top + ((height - top - bottom) * (most - loss)) / (most - least));
  const points = losses.map((loss, i) => `${x(i).toFixed(1)},${y(loss).toFixed(1)}`);
  const dots = losses.length > 40 ? [] : losses.map((loss, i) => svg("circle", { cx: x(i), cy: y(loss), r: 2.5 }));
  const label = (text, at, anchor) => svg("text", { x: at[0], y: at[1], "text-anchor": anchor, class: "axis" }, text);
  const steps = losses.length - 1;
  const said = word("plot", { steps, from: numberText(losses[0]), to: numberText(losses.at(-1)) });
  return svg(
    "svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said, class: "loss-plot" },
    svg("path", { class: "frame", d: `M${left} ${top}V${height - bottom}H${width - right}` }),
    svg("polyline", { points: points.join(" ") }),
    ...dots,
    label(numberText(most), [left - 5, top + 4], "end"),
    ...(most === least ? [] : [label(numberText(least), [left - 5, height - bottom], "end")]),
    label("0", [left, height - 7], "middle"),
    label(word("steps", { steps }), [width - right, height - 7], "end"),
  );
}
