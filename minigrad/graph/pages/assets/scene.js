// Draws one scene: boxes, lines, and the highlights of a step. Only this scene is in the document. A step changes only the
// parts that differ.

const GRADIENT = "∂";

// The lines in the box of a node. Each line is a list of alternatives, the longest first.
function nodeTexts(number) {
  const node = graph.nodes[number];
  const { step } = state;
  const values = node.values.map((_, output) => timeline.value(number, output, step));
  const known = timeline.known(number, step);
  const hidden = quiz.hidesGradient(number);
  const gradients = node.values.map((_, output) => timeline.gradient(number, output, step));
  const ghost = known ? (editing.ghost(number)) : null;
  return {
    name: labelOf(number),
    operation: node.operation !== null && node.operation !== labelOf(number) ? node.operation : "",
    known,
    odd: known && values.some(isOdd),
    oddGradient: gradients.some(isOdd),
    value: valueTexts(known ? values.map(shortText).join(", ") || "–" : "–", labelOf(number), ghost?.value),
    valueArray: values.length === 1 ? values[0] : null,
    gradient: hidden ? [`${GRADIENT} ?`] : ghosted(gradientTexts(number, gradients), ghost?.gradient),
    gradientArray: hidden || gradients.length !== 1 ? null : gradients[0],
    has: gradients.some((gradient) => gradient !== null),
  };
}

// The value, after the value of the program's run if it was edited. Empty if the name shows it already (a constant).
function valueTexts(text, name, before) {
  if (text === name) return [""];
  return before ? [`${before} → ${text}`, text] : [text];
}

function ghosted(texts, before) {
  return before && texts[0] !== "" ? [`${GRADIENT} ${before} → ${texts.at(-1).replace(`${GRADIENT} `, "")}`, texts.at(-1)] : texts;
}

// Whether an array holds an infinity or NaN.
function isOdd(array) {
  return Boolean(array) && summaryOf(array).nans + summaryOf(array).infs > 0;
}

// "∂ 0.61 + 0.22 = 0.83", or "∂ 0.83" if that is too long. Arrays show the norm. Empty before a gradient has arrived.
function gradientTexts(number, gradients) {
  const known = gradients.filter((gradient) => gradient !== null);
  if (known.length === 0) return [""];
  if (gradients.length > 1 || !isScalar(known[0])) return [`‖${GRADIENT}‖ ${numberText(Math.hypot(...known.map(norm)))}`];
  const total = numberText(known[0].values[0]);
  const arrived = timeline.arrived(number, 0, state.step);
  const before = timeline.before(number, 0, state.step);
  if (before === null || arrived.at(-1).step !== state.step) return [`${GRADIENT} ${total}`];
  const scalar = (array) => numberText(array.values[0]);
  return [`${GRADIENT} ${scalar(before)} + ${scalar(amountOf(arrived.at(-1).edge))} = ${total}`, `${GRADIENT} ${total}`];
}

class SceneView {
  constructor(host, hooks) {
    this.host = host;
    this.hooks = hooks;
    this.number = null;
    this.iteration = 0;
    this.chips = svgElement("g", { class: "chips" });
    this.world = svgElement("g", { class: "world" });
    this.amount = svgElement("g", { class: "amount" });
    this.svg = svgElement("svg", { class: "scene" }, markers(), this.world, this.amount, this.chips);
    host.append(this.svg);
    this.hand = new Hand(this);
  }

  get pane() {
    return { width: this.host.clientWidth, height: this.host.clientHeight };
  }

  get scene() {
    return places.scenes[this.number];
  }

  // Draw a scene if it is not the current one.
  show(number, iteration) {
    this.iteration = iteration;
    if (number === this.number) return;
    this.number = number;
    this.lines = this.scene.lines.map((line, i) => new LineView(line, i));
    this.boxes = this.scene.boxes.map((box, i) => new BoxView(box, i));
    this.world.replaceChildren(...this.lines.map((line) => line.group), ...this.boxes.map((box) => box.group));
    this.far = null;
    camera.scale = 0; // the old position was in another scene
  }

  // The boxes at the step's two ends: the operation's box first, then those of its operands or of the receiving operand.
  ends() {
    const at = timeline.at(state.step);
    if (at === null) return [];
    const box = (node) => places.boxOf(this.number, this.iteration, node);
    const others = at.kind === "forward" ? operandsOf(at.target).map((edge) => graph.edges[edge].source) : [at.source];
    const found = [{ node: at.target, box: box(at.target), end: "target" }];
    if (found[0].box < 0) return [];
    for (const node of [...new Set(others)].slice(0, 4)) {
      let [there, edge] = [box(node), this.lineOf(node, at)];
      if (edge !== undefined) there = edge.about.from;
      if (found.every((end) => end.box !== there)) found.push({ node, box: there, end: "source", line: edge });
    }
    return found;
  }

  lineOf(node, { target, edge, kind }) {
    const wanted = kind === "forward" ? operandsOf(target).filter((e) => graph.edges[e].source === node) : [edge];
    return this.lines.find((line) => wanted.some((e) => places.edgesOf(line.about, this.iteration).includes(e)));
  }

  // Write the results of the step, and highlight the values it uses.
  update(look) {
    const at = timeline.at(state.step);
    const ends = (this.current = this.ends());
    const lit = { ...look, receives: at?.source ?? null, applies: at?.target ?? null, active: new Map(ends.map((end) => [end.box, end])) };
    for (const line of this.lines) line.update(this.iteration, at);
    for (const box of this.boxes) box.update(places.box(this.number, box.index, this.iteration), lit);
    if (this.far !== null) this.sizeNames();
    measured();
  }

  // Bring the step's ends, or a node, into view.
  frame(node = null) {
    const wanted = node === null ? this.current.map(({ box }) => box) : [places.boxOf(this.number, this.iteration, node)];
    const boxes = wanted.filter((i) => i >= 0).map((i) => this.scene.boxes[i]);
    const start = boxes.length === 0 && node === null ? [this.first()].filter(Boolean) : boxes;
    camera.frame(start, this.scene, this.pane);
    this.place();
  }

  // The box that step 0 shows: that of the next step.
  first() {
    const next = timeline.at(state.step + 1);
    return next === null ? undefined : this.scene.boxes[places.boxOf(this.number, this.iteration, next.target)];
  }

  fit() {
    camera.fit(this.scene, this.pane);
    this.place();
  }

  // Apply the camera, and pin the hidden ends to the border.
  place() {
    const { scale, x, y } = camera;
    this.world.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    const far = scale < camera.READABLE - 1e-9 ? scale : null;
    if (far !== this.far) {
      this.far = far;
      this.svg.classList.toggle("far", far !== null);
      this.sizeNames();
    }
    this.pin();
    this.hooks.placed(scale);
  }

  // When zoomed out, show only the names that fit.
  sizeNames() {
    for (const box of this.boxes) box.sizeName(this.far);
    measured();
  }

  pin() {
    const { pane } = this;
    const chips = [];
    for (const end of this.current) {
      const box = this.boxes[end.box];
      const inside = box !== undefined && camera.isInside(box.about, pane);
      if (box) setAttributes(box.group, { "data-end": inside ? end.end : null });
      if (!inside) chips.push(pinnedChip(end, box, this, chips));
    }
    this.chips.replaceChildren(...chips.map((chip) => chip.group));
    if (this.far !== null) this.tag(chips);
    const taken = chips.map(({ rect }) => rect);
    for (const { group, about } of this.boxes) group.classList.toggle("covered", taken.some((rect) => overlap(rect, camera.rect(about))));
    this.showAmount(taken);
  }

  // When the ends' boxes are too small for their names, write the names next to them, where they cover no other box.
  tag(chips) {
    for (const { node, box: index } of this.current) {
      const box = this.boxes[index];
      if (!box?.texts.name.classList.contains("unreadable") || !camera.isInside(box.about, this.pane)) continue;
      const label = svgElement("text", { class: "label" });
      const group = svgElement("g", { class: "tag" }, label);
      this.chips.append(group);
      shorten(label, labelOf(node), 180);
      const width = label.getComputedTextLength() + 10;
      const { left, right, top, bottom } = camera.rect(box.about);
      const y = (top + bottom) / 2;
      const beside = [right + 5, left - width - 5].map((x) => ({ left: x, right: x + width, top: y - 10, bottom: y + 10 }));
      const fits = (rect) => rect.left > 2 && rect.right < this.pane.width - 2 && !chips.some((chip) => overlap(chip.rect, rect));
      const rect = beside.find(fits);
      if (rect === undefined || y < 12 || y > this.pane.height - 12) {
        group.remove();
        continue;
      }
      chips.push({ group, rect });
      setAttributes(label, { x: rect.left + 5, y: y + 4.5 });
      group.prepend(svgElement("rect", { x: rect.left, y: rect.top, width, height: 20, rx: 5 }));
    }
  }

  // Write the result of the step at its line if it fits.
  showAmount(taken) {
    this.amount.replaceChildren();
    const at = timeline.at(state.step);
    if (at === null || at.kind === "forward" || this.far !== null) return;
    const line = this.current.find((end) => end.line)?.line;
    if (!line) return;
    const text = amountText(state.step);
    const label = svgElement("text", { class: "label", "text-anchor": "middle" }, text);
    this.amount.append(label);
    const width = label.getComputedTextLength() + 10;
    const boxes = this.boxes.map((box) => camera.rect(box.about));
    const place = freePlace(line.about.points.map((p) => camera.point(p)), width, 20, [...boxes, ...taken], this.pane);
    if (place === null) return this.amount.replaceChildren();
    const [x, y] = place;
    setAttributes(label, { x, y: y + 4.5 });
    this.amount.prepend(svgElement("rect", { x: x - width / 2, y: y - 10, width, height: 20, rx: 10 }));
  }
}

// A short text for the result of a step.
function amountText(step) {
  if (quiz.hides(step)) return "?";
  const { kind, edge } = timeline.at(step);
  return shortText(kind === "fit" ? graph.edges[edge].amount : graph.edges[edge].raw);
}

function overlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// The point of a line, nearest to its middle, where a label of this size covers nothing; null if there is none.
function freePlace(points, width, height, taken, pane) {
  for (const t of [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9]) {
    for (const side of [0, 1, -1]) {
      const [px, y] = along(points, t);
      const x = px + side * (width / 2 + 6);
      const rect = { left: x - width / 2 - 1, right: x + width / 2 + 1, top: y - height / 2 - 1, bottom: y + height / 2 + 1 };
      if (rect.left < 2 || rect.top < 2 || rect.right > pane.width - 2 || rect.bottom > pane.height - 2) continue;
      if (!taken.some((other) => overlap(rect, other))) return [x, y];
    }
  }
  return null;
}

// The point at the share t of a polyline's length.
function along(points, t) {
  const lengths = points.slice(1).map(([x, y], i) => Math.hypot(x - points[i][0], y - points[i][1]));
  let rest = t * lengths.reduce((a, b) => a + b, 0);
  for (let i = 0; i < lengths.length; i++) {
    if (rest <= lengths[i] || i === lengths.length - 1) {
      const part = lengths[i] === 0 ? 0 : rest / lengths[i];
      return [points[i][0] + part * (points[i + 1][0] - points[i][0]), points[i][1] + part * (points[i + 1][1] - points[i][1])];
    }
    rest -= lengths[i];
  }
  return points[0];
}

function markers() {
  const marker = (name) => svgElement("marker", { id: `arrow-${name}`, class: `arrow ${name}`, viewBox: "0 0 8 8", refX: "7", refY: "4", markerWidth: "8", markerHeight: "8", orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" }, svgElement("path", { d: "M0 .5L8 4L0 7.5z" }));
  return svgElement("defs", {}, ...["pale", "known", "past", "now-forward", "now-backward"].map(marker));
}
