// Draws one scene: boxes, lines, and the highlights of a step. Only this scene is in the document; the picture behind it shows the
// rest of the program. A step changes only the parts that differ.

const GRADIENT = "∂";

// Return the lines in the box of a node. Each line is a list of alternatives, the longest first.
function nodeTexts(number) {
  const node = graph.nodes[number];
  const { step } = state;
  const values = node.values.map((_, output) => timeline.value(number, output, step));
  const known = timeline.known(number, step);
  const hidden = quiz.hidesGradient(number);
  const gradients = node.values.map((_, output) => timeline.gradient(number, output, step));
  const value = (known && values.map(shortText).join(", ")) || "–";
  return {
    names: node.named ? [labelOf(number)] : [labelOf(number), node.operation && equation.brief(number), node.operation].filter(Boolean),
    operation: node.operation !== null && node.operation !== labelOf(number) ? node.operation : "",
    known,
    odd: known && values.some(isOdd),
    oddGradient: gradients.some(isOdd),
    value: [value === labelOf(number) ? "" : value], // a constant has it as its name
    valueArray: values.length === 1 ? values[0] : null,
    slice: values.length === 1 && values[0] ? depends.slice(number) : null,
    gradient: hidden ? [`${GRADIENT} ?`] : gradientTexts(number, gradients),
    gradientArray: hidden || gradients.length !== 1 ? null : gradients[0],
    has: gradients.some((gradient) => gradient !== null),
  };
}

// Return whether an array holds an infinity or NaN.
function isOdd(array) {
  return Boolean(array) && summaryOf(array).nans + summaryOf(array).infs > 0;
}

// Return "∂ 0.61 + 0.22 = 0.83", and "∂ 0.83" in case that is too long. Arrays show the norm. The text is empty before a gradient arrives.
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

// Return whether the reader asks for no motion.
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

class SceneView {
  constructor(host) {
    Object.assign(this, { host, number: null, iteration: 0, whole: false, current: [], shown: null, handle: null });
    this.picture = new Picture(host);
    const group = (name) => (this[name] = svgElement("g", { class: name }));
    this.svg = svgElement("svg", { class: "scene" }, markers(), group("world"), group("tags"), group("cards"));
    this.pulses = svgElement("g", { class: "pulses" });
    host.append(this.svg);
    this.measure();
    new Hand(this);
  }

  // Remember the size of the pane, because reading it makes the browser lay out the page.
  measure() {
    this.pane = { width: this.host.clientWidth, height: this.host.clientHeight };
    const window = `${innerWidth} ${innerHeight} ${document.body.className.includes("projector")} ${find("card").clientWidth}`;
    if (this.window === window) return; // a longer formula makes the pane lower, but moves no box
    this.window = window;
    if (places.fit({ width: this.pane.width, height: Math.min(this.pane.height, innerHeight * 0.55) })) Object.assign(this, { number: null, shown: null });
  }

  get scene() {
    return places.scenes[this.number];
  }

  // Draw a scene if it is not the current one.
  show(number, iteration) {
    this.iteration = iteration;
    if (number === this.number) return;
    this.number = number;
    this.lines = this.scene.lines.map((line) => new LineView(line));
    this.boxes = this.scene.boxes.map((box, i) => new BoxView(box, i));
    this.world.replaceChildren(...this.lines.map((line) => line.group), this.pulses, ...this.boxes.map((box) => box.group));
    camera.scale = 0; // the old position was in another scene
  }

  // Return the boxes at the step's two ends: the operation's box first, then those of its operands or of the receiving operand.
  ends() {
    const at = timeline.at(state.step);
    if (at === null) return [];
    const box = (node) => places.boxOf(this.number, this.iteration, node);
    const others = at.kind === "forward" ? operandsOf(at.target).map((edge) => graph.edges[edge].source) : [at.source];
    const found = [{ node: at.target, box: box(at.target), end: "target" }];
    if (found[0].box < 0) return [];
    for (const node of [...new Set(others)].slice(0, 4)) {
      const line = this.lineWith(at.kind === "forward" ? operandsOf(at.target).filter((edge) => graph.edges[edge].source === node) : [at.edge]);
      const there = line?.about.from ?? box(node);
      if (found.every((end) => end.box !== there)) found.push({ node, box: there, end: "source", line });
    }
    return found;
  }

  // Return what else of a step is worth seeing, the most important first: the boxes of the operands that its formula reads, those of the
  // other operands, and the place of its line. `read` is the number of the first.
  about() {
    const { edge, target } = timeline.at(state.step) ?? { edge: null };
    const boxesOf = (edges) => edges.flatMap((other) => this.lineWith([other])?.about.from ?? []).map((i) => this.scene.boxes[i]);
    const read = edge === null ? [] : boxesOf(operandsOf(target).filter((other) => equation.readsLetter(graph.edges[edge], graph.edges[other].argument)));
    const others = edge === null ? [] : boxesOf(operandsOf(target));
    const lines = this.current.flatMap(({ line }) => line?.parts ?? []);
    return { parts: [...new Set([...read, ...others, ...lines])], read: read.length };
  }

  lineWith(edges) {
    return this.lines.find((line) => edges.some((e) => places.edgesOf(line.about, this.iteration).includes(e)));
  }

  // Write the results of the step, and highlight the values it uses.
  update(look) {
    const at = timeline.at(state.step);
    const ends = (this.current = this.ends());
    const lit = { ...look, receives: at?.source ?? null, applies: at?.target ?? null, active: new Map(ends.map((end) => [end.box, end])) };
    // A name has the round of its loops if another box is called so without it.
    const nodes = this.boxes.map(({ index }) => places.box(this.number, index, this.iteration)).map(({ node, result }) => node ?? result);
    const labels = new Set(nodes.filter((node) => node !== null).map(labelOf));
    const shorts = [...labels].map((label) => label.split(" · ")[0]);
    const isAlone = (short) => shorts.indexOf(short) === shorts.lastIndexOf(short);
    lit.short = (label) => (isAlone(label.split(" · ")[0]) ? label.split(" · ")[0] : label);
    this.setUnit();
    for (const line of this.lines) line.update(this.iteration, at);
    for (const box of this.boxes) box.update(places.box(this.number, box.index, this.iteration), lit);
  }

  setUnit() {
    this.unit = camera.unit;
    this.world.style.fontSize = `${13 * this.unit}px`;
    const size = 8 * this.unit; // as large on the screen at any scale
    for (const marker of this.svg.querySelectorAll("marker")) setAttributes(marker, { markerWidth: size, markerHeight: size });
  }

  // Point the camera at the step's ends, or at a node. Step 0 and the last step show the whole program, and `whole` does.
  aim(node = null, whole = false) {
    Object.assign(this, { current: this.ends(), aimed: [], least: 0 });
    const wanted = node === null ? this.current.map(({ box }) => box) : [places.boxOf(this.number, this.iteration, node)];
    const boxes = wanted.filter((i) => i >= 0).map((i) => this.scene.boxes[i]);
    const isConclusion = node === null && this.number === 0 && state.step === timeline.count; // all gradients of the program at once
    this.whole = whole || isConclusion || (boxes.length === 0 && this.number === 0);
    if (this.whole || boxes.length === 0) return camera.fit(this.scene, this.pane);
    const { parts, read } = node === null ? this.about() : { parts: [], read: 0 };
    this.least = boxes.length;
    parts.forEach((more, i) => {
      if (!boxes.includes(more) && camera.scaleFor([...boxes, more], this.pane) >= 0.34 * camera.full) boxes.push(more); // they show more than their names
      if (i < read) this.least = boxes.length;
    });
    this.aimed = boxes;
    camera.frame(boxes, this.scene, this.pane);
  }

  // If the boxes of the step are too small to be read in the whole scene, go nearer to them, and leave out as few of the others as
  // possible. The operands that the formula reads stay.
  nearer() {
    if (this.whole || camera.wanted !== null) return;
    const { scale, x, y } = camera;
    for (let count = this.aimed.length; camera.scale < camera.near && count >= this.least && !this.isLegible(); count--) camera.frame(this.aimed.slice(0, count), this.scene, this.pane, false);
    if (camera.scale < 1.05 * scale && !this.isLegible()) Object.assign(camera, { scale, x, y }); // going near has not helped
  }

  // Return whether the boxes of the step are readable at this scale.
  isLegible() {
    const boxes = this.aimed.slice(0, this.least).flatMap((about) => this.boxes[this.scene.boxes.indexOf(about)] ?? []);
    this.setUnit();
    for (const box of boxes) box.update(box.now, box.lit);
    return boxes.every((box) => box.isLegible);
  }

  // Fly to the place of the camera.
  fly() {
    cancelAnimationFrame(this.handle);
    const from = this.shown && this.picture.viewOf(this.number, this.iteration, this.shown);
    const to = { scale: camera.scale, x: camera.x, y: camera.y };
    if (from === null || still() || Object.keys(to).every((part) => Math.abs(from[part] - to[part]) < 1e-6)) return this.place();
    this.svg.classList.add("flying");
    let start = null;
    const next = (now) => {
      start ??= now;
      const t = (now - start) / 600; // ms
      if (t >= 1) return this.place();
      this.drawAt(camera.between(from, to, this.pane, t * t * (3 - 2 * t)), true);
      this.handle = requestAnimationFrame(next);
    };
    this.drawAt(from, true);
    this.handle = requestAnimationFrame(next);
  }

  // Go to the place of the camera at once, and write what belongs there.
  place() {
    cancelAnimationFrame(this.handle);
    if (this.unit !== camera.unit) {
      this.setUnit();
      for (const box of this.boxes) box.update(box.now, box.lit);
    }
    this.svg.classList.remove("flying");
    this.drawAt({ scale: camera.scale, x: camera.x, y: camera.y }, false);
    this.pin();
  }

  drawAt(view, flying) {
    this.shown = { number: this.number, iteration: this.iteration, view };
    this.world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
    this.picture.draw(this.shown, this.pane, flying);
  }

  // Write what belongs to a place on the screen: cards for ends that are too small to be read, names in the whole program, the pulse.
  pin() {
    const { pane } = this;
    const taken = [];
    const rects = this.boxes.map(({ about }) => camera.rect(about));
    const cards = (state.whole ? [] : this.current).flatMap((end) => {
      const box = this.boxes[end.box];
      const inside = box !== undefined && camera.isInside(box.about, pane);
      if (box === undefined) return [];
      const text = endText(end.node, end.end === "source");
      const isLast = this.whole && state.step === timeline.count; // the last picture is about all boxes
      const readable = isLast || (inside && box.isReadable && (!text.includes(" + ") || Object.values(box.texts).some((part) => part.textContent.includes(text))));
      if (readable && !isLast) taken.push(camera.rect(box.about));
      setAttributes(box.group, { "data-end": inside ? end.end : null, "data-carded": readable ? null : "" });
      if (readable) return [];
      const made = cardOf([labelOf(end.node), box.cell === null && text].filter(Boolean), end.end, rects[end.box], rects.filter((_, i) => i !== end.box), taken, pane);
      return [{ ...made, about: { "data-end": end.end, "data-box": end.box, role: "button" } }];
    });
    this.cards.replaceChildren();
    const placed = dealt(cards, this.cards, pane, taken);
    for (const { about } of cards.filter((card) => !placed.includes(card))) delete this.boxes[about["data-box"]].group.dataset.carded;
    const covers = cards.length === 0 ? [] : taken;
    for (const { group, about } of this.boxes) {
      const rect = camera.rect(about);
      const covered = covers.some((other) => overlap(other, rect)) && (group.dataset.end === undefined || group.dataset.carded !== undefined);
      setAttributes(group, { "data-mute": covered ? "covered" : this.hasName(rect) ? null : "beyond" });
    }
    this.tag(taken);
    this.showPulses();
  }

  // Return whether the upper part of a box, where its name is, lies in the pane. A box that is larger than the pane may leave it.
  hasName({ left, right, top, bottom, width, height }) {
    const name = { left, right, top, bottom: Math.min(bottom, top + 2 * camera.TEXT) };
    return width > this.pane.width || height > this.pane.height || inSight(name, this.pane);
  }

  // Write a name alone into its box if there is no room for more. If it does not fit in one line, write it beside the box, where it
  // covers neither another box nor a name, and no line if possible; or else into the box in several lines, or further away.
  tag(taken) {
    this.tags.replaceChildren();
    const rects = this.boxes.map(({ about }) => camera.rect(about));
    const lines = this.lines.flatMap((line) => line.parts.map((part) => camera.rect(part)));
    const cut = this.boxes.filter((box) => box.isNamed === false && box.group.dataset.carded === undefined);
    const untagged = (boxes, isFar) => {
      const tags = boxes.map(({ names, index }) => ({ index, ...tagOf(names.at(-1), rects[index], rects.filter((_, i) => i !== index), lines, taken, isFar) }));
      tags.sort((a, b) => b.lines[0].length - a.lines[0].length); // a long one has fewer places
      const placed = new Set(dealt(tags, this.tags, this.pane, taken).map(({ index }) => this.boxes[index]));
      for (const box of placed) box.texts.name.replaceChildren();
      return boxes.filter((box) => !placed.has(box));
    };
    const nameless = untagged(cut.filter((box) => box.isPicture || !box.squeeze({ most: 1 })), false);
    for (const box of untagged(nameless.filter((one) => one.isPicture || !one.squeeze({ ofLetters: false })), true)) box.squeeze();
  }

  // Send the pulse of the step along its line, from the operation to the operand. It travels once: a zoom or a click does not send it
  // again. In the overview the pulses of the steps before travel on.
  showPulses() {
    const key = [state.step, this.number, this.iteration, quiz.hides(state.step)].join();
    if (key !== this.sent || graph !== this.sentIn) {
      if (!state.whole) this.pulses.replaceChildren();
      const edge = timeline.at(state.step)?.edge ?? null;
      const line = edge === null ? undefined : this.lineWith([edge]); // undefined if it is inside a closed box
      if (line) this.pulses.append(svgElement("path", { class: "pulse", d: smooth(line.about.points), pathLength: 100, "data-wide": thickness(amountOrRaw(state.step)) }));
    }
    Object.assign(this, { sent: key, sentIn: graph });
    for (const one of this.pulses.children) setAttributes(one, { "stroke-width": one.dataset.wide / camera.scale });
  }
}

// Return the array that a step carries. "product" carries its raw result, which "fit" changes to the shape of the operand.
const amountOrRaw = (step) => (quiz.hides(step) ? null : timeline.at(step).kind === "fit" ? amountOf(timeline.at(step).edge) : graph.edges[timeline.at(step).edge].raw);

// Return the width of a gradient in px, on a logarithmic scale of six decades below the largest of the run.
function thickness(array) {
  thickness.most ??= original.edges.reduce((most, edge) => (edge.raw && Number.isFinite(norm(edge.raw)) ? Math.max(most, norm(edge.raw)) : most), 0);
  const size = array === null ? thickness.most : norm(array);
  if (!Number.isFinite(size)) return 14;
  return size === 0 ? 1.5 : 3 + 11 * Math.min(1, Math.max(0, 1 + Math.log10(size / thickness.most) / 6));
}

function markers() {
  const marker = (name) => svgElement("marker", { id: `arrow-${name}`, class: `arrow ${name}`, viewBox: "0 0 8 8", refX: "7", refY: "4", markerWidth: "8", markerHeight: "8", orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" }, svgElement("path", { d: "M0 .5L8 4L0 7.5z" }));
  return svgElement("defs", {}, ...["pale", "known", "past", "now-forward", "now-backward"].map(marker));
}
