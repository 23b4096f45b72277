// Draws the parts of a scene: a box, a line, and a card for a box that is too small to be read.

const [ROW, TIGHT] = [18, 16]; // the height of a line of text, and of one of many lines, in units of camera.unit
const CLOSE = 14.5; // the height of a line of a name above a map that is low
const INSET = 8;
const MOST_CELL = 18; // the largest cell of a map in a box, in units of camera.unit
const GROWN = 1.4; // how much larger the end of the program is, as in scenes.py

class BoxView {
  constructor(about, index) {
    Object.assign(this, { about, index });
    const { x, y, w, h } = about;
    const left = x - w / 2;
    const top = y - h / 2;
    this.group = svgElement("g", { class: "box", role: "button", tabindex: "-1", "data-box": index });
    this.shape = svgElement("rect", { class: "shape", x: left, y: top, width: w, height: h, rx: about.scene === undefined ? 5 : 7 });
    this.title = svgElement("title");
    const text = (name) => [name, svgElement("text", { class: `label ${name}` })];
    this.texts = Object.fromEntries(["name", "operation", "value", "gradient", "flag"].map(text));
    this.heats = svgElement("g");
    this.group.append(this.title, this.shape, ...Object.values(this.texts), this.heats);
  }

  update(box, lit) {
    const isEnd = (box.node ?? box.result) === graph.end[0] && !box.alias;
    Object.assign(this, { now: box, lit, isEnd });
    this.group.style.fontSize = `${this.unit / camera.unit}em`;
    const node = box.node ?? box.result; // a scene with a single result shows it
    if (node !== null) this.updateNode({ ...box, node }, lit);
    else if (box.scene !== null) this.updateScene(box, lit);
    else setAttributes(this.group, { class: "box absent" }); // not in this iteration
    setAttributes(this.group, { "data-end": null, "data-carded": null, tabindex: this.group.classList.contains("selected") ? "0" : "-1" });
  }

  updateNode({ node, alias, scene, more }, lit) {
    const texts = { ...nodeTexts(node), ...(scene === null ? {} : { names: [this.isEnd ? labelOf(node) : sceneTitle(places.scenes[scene])], operation: "" }) };
    texts.names = [lit.short(texts.names[0]), ...texts.names.slice(1)];
    if (more) texts.names = texts.names.map((name) => word("andMore", { name, count: more }));
    const { kind, bad, badGradient } = graph.nodes[node];
    const end = lit.active.get(this.index);
    const flags = {
      alias, opens: scene !== null, known: texts.known, pale: !texts.known, has: texts.has, selected: lit.selected === node, hover: lit.hover === node,
      match: lit.matches.has(node), receives: end !== undefined && lit.receives === node, applies: end !== undefined && lit.applies === node,
      operand: end !== undefined && lit.receives === null && lit.applies !== node,
      within: end?.end === "target" && lit.applies !== node, // the step happens inside of this closed box
      culprit: (bad === "culprit" && texts.odd) || (badGradient === "culprit" && (texts.oddGradient || panel.spoiling(node) <= state.step)), victim: (bad === "victim" && texts.odd) || (badGradient === "victim" && texts.oddGradient),
    };
    if (end?.end === "target" && scene !== null) texts.operation = this.inside(scene, lit.applies);
    this.setClass(`kind-${kind}`, flags);
    const flag = flags.culprit ? "✗" : flags.victim ? "!" : "";
    this.layOut(texts, flag);
    const spoken = [texts.names[0], texts.operation, texts.value[0], texts.gradient[0]].filter(Boolean).join("; ");
    setText(this.title, flags.alias ? word("aliasOf", { text: spoken }) : spoken);
  }

  // Return what happens inside of this closed box: the operation of the step, and how many of its steps are done.
  inside(scene, node) {
    const { forward, backward, of } = places.progress(scene, state.step);
    return `${graph.nodes[node].operation} ${state.step > timeline.turn ? `${backward}/${of.backward}` : `${forward}/${of.forward}`}`;
  }

  setClass(kind, flags) {
    setAttributes(this.group, { class: ["box", kind, ...Object.keys(flags).filter((name) => flags[name])].join(" ") });
  }

  // Write name, operation, value and gradient below each other. If space is short, the operation is left out first.
  layOut(texts, flag, { w, h, x, y } = this.about) {
    const { unit } = this;
    const room = w - INSET * unit;
    const rows = Math.floor((h - 2 * unit) / (TIGHT * unit));
    const called = [...partTexts(texts, this.heatSpace(texts, rows, 1, CLOSE * unit)?.grid, rows), ...texts.names];
    const inLines = (names) => named(names, (w - 3 * unit - (flag === "" ? 0 : 18 * unit)) / unit, rows);
    const bare = inLines(texts.names);
    const inside = inLines(called).length > bare.length && rows < 5 ? bare : inLines(called); // the shape takes no line from a low map
    const cellBelow = (count) => Math.min(...(this.heatSpace(texts, rows, count, CLOSE * unit)?.size ?? [0])) * camera.scale;
    const lines = inside.length > 1 && cellBelow(inside.length) < camera.TEXT / 4 && cellBelow(0) >= camera.TEXT / 4 ? [] : inside; // beside the box it takes no room from the map
    const [high, heats] = [ROW, CLOSE].map((row) => [row * unit, this.heatSpace(texts, rows, lines.length, row * unit)]).find((one) => one[1] !== null) ?? [ROW * unit, null];
    const [names, left] = [lines.map(() => "name"), rows - lines.length];
    const shared = heats === null && left === 1 && texts.has ? this.shared(texts, lines, room / unit) : {};
    if (shared.line) called.push((lines[0] = shared.line));
    if (texts.operation !== "" && texts.operation !== lines.join("") && widthOf(texts.operation, "operation") <= room / unit && (heats === null ? left >= 3 || (left === 2 && !texts.has) : heats.rest > ROW * unit)) names.push("operation");
    const last = texts.has && !shared.pair && !this.isEnd ? "gradient" : "value"; // the gradient of the end is 1
    if (heats === null) names.push(...(left > 1 ? ["value", "gradient"] : [last]).slice(0, Math.max(0, rows - names.length)));
    const row = Math.min(high, heats === null ? (h - 2 * unit) / Math.max(1, names.length) : Infinity);
    const top = y - Math.min(h, names.length * row + (heats?.height ?? 0)) / 2 + row / 2;
    Object.assign(this, { names: texts.names, called: called.map((one) => [one].flat().join("")) });
    this.cell = heats === null ? null : Math.min(...heats.size);
    this.isNamed = this.called.includes(lines.join(""));
    this.writeLines(lines, x, top + 4.5 * unit, row);
    for (const name of ["operation", "value", "gradient"]) {
      const at = names.indexOf(name);
      this.write(name, at < 0 ? [""] : name === "operation" ? [texts.operation] : texts[name], x, top + at * row + 4.5 * unit, room);
    }
    if (shared.pair) this.texts.value.replaceChildren(`${shared.pair[0]} `, svgElement("tspan", { class: "gradient" }, shared.pair[1]));
    this.write("flag", [rows < 1 ? "" : flag], x + w / 2 - 10 * unit, y - h / 2 + 15 * unit, 16 * unit);
    this.drawHeats(heats, texts, top + names.length * row - row / 2);
    const told = (texts.has && !this.isEnd ? texts.gradient : texts.value).at(-1);
    this.isTold = heats !== null ? inside.length > 0 : this.isNamed && [this.texts.name, this.texts.value, this.texts.gradient].some((part) => [told, fewDigits(told)].some((text) => part.textContent.includes(text)));
  }

  // Return how value and gradient share a box with one line for both: as a pair in this line, or with the value in the line of the name.
  // A pair with fewer digits comes last.
  shared({ value: [value], gradient, valueArray }, lines, room) {
    const pairs = gradient.map((one) => [value, one]);
    const fits = ([a, b]) => widthOf(`${a} `, "value") + widthOf(b, "gradient") <= room;
    const line = `${lines[0]} = ${value}`;
    const hasRoom = valueArray && value !== "" && lines.length === 1 && widthOf(line, "name") <= room;
    return hasRoom && !pairs.some(fits) ? { line } : { pair: [...pairs, ...pairs.map((one) => one.map(fewDigits))].find(fits) };
  }

  // Return whether the box shows the picture of a scene, which a name in its middle would cover.
  get isPicture() {
    return this.now.scene !== null && this.now.result === null;
  }

  // Return whether the lines of the box are readable here: name and value or gradient, or the name of a scene. If not, a card shows them.
  get isReadable() {
    if (!this.isPicture) return this.isTold;
    return HEAD >= ROW * camera.unit && this.about.w >= 85 * camera.unit;
  }

  // Return whether a class can read it, too: the cells are no smaller than a quarter of a letter.
  get isLegible() {
    return this.isReadable && (this.cell === null || this.cell * camera.scale >= camera.TEXT / 4);
  }

  // Return the space for value and gradient as cells, side by side; null if there is none or the cells would be too small.
  heatSpace(texts, rows, above, row) {
    const height = this.about.h - above * row - 6;
    const width = (this.about.w - 2 * INSET - 10) / (texts.gradientArray ? 2 : 1);
    const room = [height, width].map((size) => Math.floor((size * camera.scale) / 3)); // cells of 3 px; those of a larger array stand for several elements
    const whole = heat.grid(texts.valueArray, texts.slice);
    const grid = rows < 1 || Math.min(...room) < 1 ? null : heat.grid(texts.valueArray, texts.slice, room);
    if (grid === null || grid.flats.length < whole.flats.length / 4) return null;
    const sizeIn = (high) => heat.cellSize(grid, width, high, MOST_CELL * this.unit);
    const both = sizeIn(height - (texts.operation !== "" && rows - above >= 3 ? row : 0));
    const size = Math.min(...both) >= 4 ? both : sizeIn(height);
    return { grid, room, size, height: size[1] * grid.rows + 4, rest: height - size[1] * grid.rows };
  }

  // Return the size of text in the box. The end of the program is larger, if its name, value and gradient fit.
  get unit() {
    const grown = GROWN * camera.unit;
    const { w, h } = this.about;
    return this.isEnd && (3 * TIGHT + 2) * grown <= h && widthOf(nodeTexts(graph.end[0]).value[0], "value") * grown <= w - INSET * grown ? grown : camera.unit;
  }

  drawHeats(heats, { valueArray, gradientArray, slice }, top) {
    const wanted = [valueArray, gradientArray, top, String(heats?.size)];
    if (this.drawn?.every((one, i) => one === wanted[i])) return;
    this.drawn = wanted;
    if (heats === null) return this.heats.replaceChildren();
    const [wide, high] = [heats.size[0] * heats.grid.columns, heats.size[1] * heats.grid.rows];
    const { x } = this.about;
    const second = gradientArray && heat.grid(gradientArray, slice, heats.room);
    const parts = [heat.cells(valueArray, second ? x - wide - 5 : x - wide / 2, top, heats.size, heats.grid)];
    if (second) {
      parts.push(heat.cells(gradientArray, x + 5, top, heats.size, second));
      parts[1].classList.add("of-gradient");
      parts[1].append(svgElement("path", { class: "divider", d: `M${x} ${top}v${high}` }));
    }
    this.heats.replaceChildren(...parts);
  }

  updateScene({ scene }, lit) {
    const about = places.scenes[scene];
    const { forward, backward, of } = places.progress(scene, state.step);
    const end = lit.active.get(this.index);
    const inBackward = state.step > timeline.turn;
    const done = inBackward ? backward : forward;
    const all = inBackward ? of.backward : of.forward;
    const flags = { folder: true, known: forward === of.forward, pale: forward === 0, has: backward > 0, receives: end !== undefined && lit.receives !== null, operand: end !== undefined && lit.receives === null };
    this.setClass(`scene-${about.kind}`, flags);
    const title = sceneTitle(about);
    const what = about.kind === "loop" ? word("times", { count: about.count }) : about.of && about.of !== title ? about.of : word(`scene_${about.kind}`);
    const progress = word(inBackward ? "progressBackward" : "progressForward", { done, all });
    const through = end === undefined ? "" : `${labelOf(end.node)} ${endText(end.node)}`;
    const { x, y, h, w } = this.about;
    this.layOut({ names: [`▸ ${title}`], operation: what, value: [progress], gradient: [through], has: through !== "", valueArray: null }, "", { x, y: y - h / 2 + HEAD / 2 - 3, w, h: HEAD });
    this.names = [title];
    setText(this.title, `${word("openScene", { name: title })}: ${what}. ${progress}${through && `. ${through}`}`);
  }

  write(name, options, x, y, room) {
    setAttributes(this.texts[name], { x, y });
    setText(this.texts[name], fitting(options, name, room / this.unit));
  }

  // Write nothing but the name, in lines of words or else of any letters. Return whether it fits in `most` lines.
  squeeze({ most = Infinity, ofLetters = true } = {}) {
    const { w, h, x, y } = this.about;
    const { unit } = camera;
    const [name, row] = [this.names.at(-1), ROW * unit * 0.8];
    const fits = (lines) => lines.length <= most && lines.length * row <= h && lines.every((line) => widthOf(line.trimEnd(), "name") * unit <= w);
    const lines = [wordsOf(name), ...(ofLetters ? [[...name]] : [])].map((parts) => broken(parts, w / unit - 3)).find(fits);
    if (lines === undefined) return false;
    for (const part of [...Object.values(this.texts), this.heats]) part.replaceChildren();
    this.drawn = null;
    this.writeLines(lines, x, y - ((lines.length - 1) * row) / 2 + 4.5 * unit, row);
    return true;
  }

  writeLines(lines, x, y, row) {
    const { name } = this.texts;
    setAttributes(name, { x, y });
    if (lines.length < 2 && name.childElementCount === 0) setText(name, lines.join(""));
    else name.replaceChildren(...(lines.length < 2 ? lines : lines.map((line, i) => svgElement("tspan", { x, y: y + i * row }, line))));
  }
}

// Return the name of a box with what its map shows of the array, in a list: the shape of an array that has more elements than the map
// cells, and the index of a slice. The list is empty if the map shows all elements. In a box of one line and without a map, the number follows.
function partTexts({ names: [name], valueArray, slice, value, gradient, has }, grid, rows) {
  const told = has ? gradient.at(-1) : `${valueArray && isScalar(valueArray) ? "= " : ""}${value[0]}`;
  if (!grid) return rows > 1 || !valueArray || told === "" ? [] : [told, fewDigits(told)].map((text) => [`${name} `, text]);
  if (grid.flats.length === nd.sizeOf(valueArray.shape)) return [];
  const shape = shapeText(valueArray.shape);
  const index = slice === null ? "" : heat.sliceText(valueArray, slice);
  return slice === null ? [[`${name} `, shape]] : [[`${name} `, word("partOf", { index, shape })], [`${name} `, index]];
}

// Return a name in lines: the first one that fits in one line, or in two if there is room for more than those; or else in several. A line
// is broken after a dot, a "_", a space or a bracket (or a name is a list, and is broken between its parts); if this is not enough,
// anywhere. If all are too long, it is left out, and SceneView.tag() finds a place for it.
function named(names, room, rows) {
  if (rows < 1) return [];
  const wrapped = names.map((name) => broken(Array.isArray(name) ? name : wordsOf(name), room));
  const fits = (lines, most) => lines.length <= most && lines.every((line) => widthOf(line.trimEnd(), "name") <= room);
  return wrapped.find((lines) => fits(lines, rows > 3 ? 2 : 1)) ?? wrapped.find((lines) => fits(lines, rows)) ?? [];
}

// Return the parts of a name in lines, as many parts in each line as there is room for.
function broken(parts, room) {
  const lines = [""];
  for (const part of parts) {
    if (lines.at(-1) === "" || widthOf(lines.at(-1) + part.trimEnd(), "name") <= room) lines.push(lines.pop() + part);
    else lines.push(part);
  }
  return lines;
}

// Return the first text that is not wider than the room. If there is none, the numbers have fewer digits, or else the last text is cut,
// and a number left out: a part of it would be another number.
function fitting(options, kind, room) {
  const isNumber = kind === "value" || kind === "gradient";
  const shorter = kind === "name" || kind === "operation" ? [] : options.map(fewDigits);
  return [...options, ...shorter].find((text) => widthOf(text, kind) <= room) ?? (isNumber ? "" : cut(options.at(-1), kind, room));
}

const fewDigits = (text) => text.replace(/\d+\.\d+(e-?\d+)?/g, (number) => numberText(Number(number).toPrecision(2)));

class LineView {
  constructor(about) {
    this.about = about;
    this.path = svgElement("path", { class: "line", d: smooth(about.points), "marker-end": "url(#arrow-pale)" });
    this.group = svgElement("g", { class: "edge" }, this.path);
  }

  // Return the boxes around the straight parts of the line.
  get parts() {
    const { points } = this.about;
    return points.slice(1).map(([x, y], i) => ({ x: (x + points[i][0]) / 2, y: (y + points[i][1]) / 2, w: Math.abs(x - points[i][0]), h: Math.abs(y - points[i][1]) }));
  }

  update(iteration, at) {
    const edges = places.edgesOf(this.about, iteration);
    const { step } = state;
    const isNow = at !== null && (at.kind === "forward" ? edges.some((edge) => graph.edges[edge].target === at.target) : edges.includes(at.edge));
    const direction = at?.kind === "forward" ? "forward" : "backward";
    const past = edges.some((edge) => timeline.done[edge] > 0 && timeline.done[edge] < step + (isNow ? 0 : 1));
    const known = edges.some((edge) => timeline.known(graph.edges[edge].target, step));
    const look = isNow ? `now-${direction}` : past ? "past" : known ? "known" : "pale";
    const checked = edges.some((edge) => graph.edges[edge].check?.verdict === "wrong" && timeline.done[edge] > 0 && timeline.began[edge] <= step);
    const sent = past ? edges.filter((edge) => timeline.done[edge] > 0 && timeline.done[edge] <= step).map(amountOf).filter(Boolean) : [];
    const widest = sent.reduce((most, array) => (thickness(array) > thickness(most) ? array : most), sent[0] ?? null);
    const wide = look === "past" ? thickness(widest) / 5 : null;
    setAttributes(this.group, { class: `edge ${look}${checked ? " wrong-rule" : ""}` });
    const reversed = look === "now-backward" || look === "past";
    setAttributes(this.path, { "stroke-width": wide, "marker-end": reversed ? null : `url(#arrow-${look})`, "marker-start": reversed ? `url(#arrow-${look})` : null });
  }
}

const ROUND = 16; // how far from a corner of a line its curve begins: further away it would cut the corner of a box

// Return a polyline with its corners rounded.
function smooth(points) {
  const toward = ([x, y], [a, b], share = Math.min(0.5, ROUND / (Math.hypot(a - x, b - y) || 1))) => [x + share * (a - x), y + share * (b - y)];
  const corners = points.slice(1, -1).map((point, i) => `L${toward(point, points[i])}Q${point} ${toward(point, points[i + 2])}`);
  return `M${points[0]}${corners.join("")}L${points.at(-1)}`;
}

// Return a short text for the value and gradient of a node. `whole` adds the sum that has just been made.
function endText(node, whole = false) {
  const { value, gradient, has } = nodeTexts(node);
  return has ? gradient.at(whole ? 0 : -1) : value[0] === "" ? "" : `= ${value[0]}`;
}

// Cards are texts on the screen near a box: {lines, kind, box, sized, ways}. sized(width of the text) gives the size of a card, and
// ways(width, height) lists of places, the best first, each with what these places may not cover.

// Return a card for a box that is too small to be read. It covers its box, or stands beside it, and covers none of the other boxes and
// cards; if there is no such place, it covers boxes.
function cardOf(lines, kind, box, others, taken, pane) {
  const grown = (size, own) => (own < 1.6 * size ? Math.max(size, own) : size); // it covers a box of about its size wholly
  const inPane = (rect) => moved(rect, clamp(0, 4 - rect.left, pane.width - 4 - rect.right), clamp(0, 4 - rect.top, pane.height - 4 - rect.bottom));
  const ways = (w, h) => {
    const [over, near, far] = [[rectAt(...middleOf(box), w, h)], besides(box, w, h), around(box, w, h)].map((rects) => rects.map(inPane));
    return [[over, [...taken, ...others]], [[...near, ...far], [...taken, ...others, box]], [[...over, ...near], taken]];
  };
  return { lines, kind, box, ways, sized: (width) => [grown(width + 1.2 * camera.TEXT, box.width), grown((1.4 * lines.length + 0.5) * camera.TEXT, box.height)] };
}

// Return the name of a box as a card beside it, or (`isFar`) further away, where it covers none of the other boxes and cards,
// and, if possible, no line.
function tagOf(name, box, others, lines, taken, isFar) {
  const [spots, covered] = isFar ? [around, [...others, box]] : [besides, others];
  const ways = (w, h) => [[...covered, ...lines], covered].map((more) => [spots(box, w, h), [...taken, ...more]]);
  return { lines: [name], kind: "tag", box, ways, sized: (width) => [width + 4, 1.3 * camera.TEXT] };
}

const clamp = (at, least, most) => Math.max(least, Math.min(most, at));
const middleOf = ({ left, right, top, bottom }) => [(left + right) / 2, (top + bottom) / 2];
const moved = ({ left, right, top, bottom }, dx, dy) => ({ left: left + dx, right: right + dx, top: top + dy, bottom: bottom + dy });

// Return the places beside a box: above, below, right and left of it, in line with its sides, and at its corners.
function besides(box, w, h) {
  const [dx, dy, aligned] = [(box.width + w) / 2 + 2, (box.height + h) / 2 + 2, (w - box.width) / 2];
  const steps = [[0, -dy], [0, dy], [dx, 0], [-dx, 0], [aligned, -dy], [-aligned, -dy], [aligned, dy], [-aligned, dy], [dx, -dy], [-dx, -dy], [dx, dy], [-dx, dy]];
  return steps.map((step) => moved(rectAt(...middleOf(box), w, h), ...step));
}

// Return the places around a box in twelve directions, further and further away.
function around(box, w, h) {
  const [dx, dy] = [(box.width + w) / 2, (box.height + h) / 2];
  const angles = nd.range(12).map((i) => (i * Math.PI) / 6);
  return nd.range(8).flatMap((i) => angles.map((angle) => moved(rectAt(...middleOf(box), w, h), Math.cos(angle) * (dx + (i + 1) * h), Math.sin(angle) * (dy + (i + 1) * h))));
}

// Add cards to the drawing, the most important first, and return those that have a place. A card away from its box has a line to it.
function dealt(cards, host, pane, taken) {
  const size = camera.TEXT / 13;
  const kindOf = (i) => (i === 0 ? "name" : "more");
  return cards.filter(({ lines, kind, box, ways, sized, about = {} }) => {
    const texts = lines.map((line, i) => fitting([line], kindOf(i), Math.min(pane.width - 40, camera.TEXT * 20) / size));
    const [w, h] = sized(size * Math.max(...texts.map((text, i) => widthOf(text, kindOf(i)))));
    const rect = ways(w, h).reduce((found, [rects, covered]) => found ?? freePlace(rects, covered, pane), null);
    if (rect === null) return false;
    taken.push(rect);
    const [[x, y], [bx, by]] = [rect, box].map(middleOf);
    const leader = { class: "leader", d: `M${clamp(bx, rect.left, rect.right)} ${clamp(by, rect.top, rect.bottom)}L${clamp(x, box.left, box.right)} ${clamp(y, box.top, box.bottom)}` };
    const written = texts.map((text, i) => svgElement("text", { class: `label ${kindOf(i)}`, "text-anchor": "middle", x, y: y + 1.4 * camera.TEXT * (i - texts.length / 2 + 0.74) }, text));
    host.append(svgElement("g", { class: `card ${kind}`, ...about }, svgElement("rect", { x: rect.left, y: rect.top, width: w, height: h, rx: 6 }), overlap(rect, box) ? null : svgElement("path", leader), ...written));
    return true;
  });
}
