// The parts of a drawn scene: a box, a line, and a chip at the border for a box that is out of sight.

const ROW = 18; // the height of a line of text in px
const INSET = 8;

class BoxView {
  constructor(about, index) {
    Object.assign(this, { about, index, seen: new Map(), full: {} });
    const { x, y, w, h } = about;
    const left = x - w / 2;
    const top = y - h / 2;
    const folder = about.scene !== undefined;
    this.group = svgElement("g", { class: "box", role: "button", tabindex: "-1", "data-box": index });
    if (folder) this.group.append(svgElement("rect", { class: "shadow", x: left + 4, y: top + 4, width: w, height: h, rx: 7 }));
    this.shape = svgElement("rect", { class: "shape", x: left, y: top, width: w, height: h, rx: folder ? 7 : 5 });
    this.title = svgElement("title");
    const text = (name) => [name, svgElement("text", { class: `label ${name}` })];
    this.texts = Object.fromEntries(["name", "operation", "value", "gradient", "flag"].map(text));
    this.bar = svgElement("g", { class: "progress" });
    this.heats = svgElement("g");
    this.group.append(this.title, this.shape, ...Object.values(this.texts), this.bar, this.heats);
  }

  update(box, lit) {
    this.now = box;
    if (box.node !== null) this.updateNode(box, lit);
    else if (box.scene !== null) this.updateScene(box, lit);
    else setAttributes(this.group, { class: "box absent" }); // not in this iteration
    setAttributes(this.group, { "data-end": null, tabindex: this.group.classList.contains("selected") ? "0" : "-1" });
  }

  updateNode({ node, alias }, lit) {
    const texts = nodeTexts(node);
    const { kind, bad, badGradient } = graph.nodes[node];
    const end = lit.active.get(this.index);
    const flags = {
      alias, known: texts.known, pale: !texts.known, has: texts.has, selected: lit.selected === node, hover: lit.hover === node,
      match: lit.matches.has(node), receives: end !== undefined && lit.receives === node, applies: end !== undefined && lit.applies === node,
      operand: end !== undefined && lit.receives === null && lit.applies !== node,
      culprit: (bad === "culprit" && texts.odd) || (badGradient === "culprit" && (texts.oddGradient || panel.spoiling(node) <= state.step)), victim: (bad === "victim" && texts.odd) || (badGradient === "victim" && texts.oddGradient),
    };
    this.setClass(`kind-${kind}`, flags);
    const flag = flags.culprit ? "✗" : flags.victim ? "!" : "";
    this.layOut(texts, flag);
    const spoken = [texts.name, texts.operation, texts.value[0], texts.gradient[0]].filter(Boolean).join("; ");
    this.describe(flags.alias ? word("aliasOf", { text: spoken }) : spoken);
  }

  setClass(kind, flags) {
    setAttributes(this.group, { class: ["box", kind, ...Object.keys(flags).filter((name) => flags[name])].join(" ") });
  }

  describe(text) {
    setText(this.title, text);
    setAttributes(this.group, { "aria-label": text });
  }

  // Write name, operation, value and gradient below each other. If space is short, the operation is left out first.
  layOut(texts, flag) {
    const { w, h, x, y } = this.about;
    const room = w - 2 * INSET;
    const rows = Math.max(1, Math.floor((h - 5) / ROW));
    const heats = this.heatSpace(texts, rows);
    const names = ["name"];
    if (texts.operation !== "" && (rows >= 4 || (heats === null && rows === 3 && !texts.has) || (heats !== null && heats.rowsLeft > 1))) names.push("operation");
    if (heats === null) names.push(...(rows === 2 ? ["value"] : ["value", "gradient"]).slice(0, rows - names.length));
    const used = heats === null ? names.length : heats.rowsTaken + names.length;
    const top = y - (Math.min(rows, used) * ROW) / 2 + ROW / 2;
    const wide = { name: flag === "" ? room : room - 16 };
    for (const name of ["name", "operation", "value", "gradient"]) {
      const at = names.indexOf(name);
      const both = rows === 2 && name === "value" && texts.has && heats === null;
      const options = at < 0 ? [""] : name === "name" || name === "operation" ? [texts[name]] : both ? texts.gradient.map((g) => `${texts.value[0]}  ${g}`) : texts[name];
      this.write(name, options, x, top + at * ROW + 4.5, wide[name] ?? room);
    }
    this.write("flag", [flag], x + w / 2 - 10, y - h / 2 + 15, 16);
    this.drawHeats(heats, texts, top + names.length * ROW - ROW / 2);
  }

  // The space for value and gradient as cells, side by side; null if there is none or the cells would be too small.
  heatSpace(texts, rows) {
    const grid = texts.valueArray && heat.grid(texts.valueArray);
    if (!grid || rows < 3) return null;
    const height = (rows - 1) * ROW - 4;
    const width = (this.about.w - 2 * INSET - 10) / 2;
    const both = heat.cellSize(grid, width, height - (texts.operation !== "" && rows >= 4 ? ROW : 0));
    const size = both >= 4 ? both : heat.cellSize(grid, width, height);
    if (size < 4) return null;
    const rowsTaken = Math.ceil((Math.min(size, 14) * grid.rows) / ROW);
    return { grid, size: Math.min(size, 14), rowsTaken, rowsLeft: rows - rowsTaken };
  }

  drawHeats(heats, { valueArray, gradientArray }, top) {
    if (this.seen.get("value array") === valueArray && this.seen.get("gradient array") === gradientArray && this.seen.get("top") === top) return;
    this.seen.set("value array", valueArray).set("gradient array", gradientArray).set("top", top);
    if (heats === null) return this.heats.replaceChildren();
    const wide = heats.size * heats.grid.columns;
    const { x } = this.about;
    const second = gradientArray && heat.grid(gradientArray) ? gradientArray : null;
    const parts = [heat.cells(valueArray, second ? x - wide - 5 : x - wide / 2, top, heats.size)];
    if (second) {
      parts.push(heat.cells(second, x + 5, top, heats.size));
      parts[1].classList.add("of-gradient");
      parts[1].append(svgElement("path", { class: "divider", d: `M${x} ${top}v${heats.size * heats.grid.rows}` }));
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
    const through = end === undefined ? null : `${labelOf(end.node)} ${endText(end.node)}`;
    const { x, y, h, w } = this.about;
    const rows = Math.max(2, Math.floor((h - 10) / ROW));
    const lines = [["name", `▸ ${title}`], ["operation", what], ["value", progress], ["gradient", through ?? ""]];
    const shown = lines.filter(([name, text]) => text !== "" || name === "name");
    const kept = shown.length <= rows ? shown : shown.filter(([name]) => name === "name" || (through ? name === "gradient" : true)).slice(0, rows);
    const top = y - (kept.length * ROW) / 2 + ROW / 2 - 2;
    for (const [name, text] of lines) {
      const at = kept.findIndex(([one]) => one === name);
      this.write(name, [at < 0 ? "" : text], x, top + at * ROW + 4.5, w - 2 * INSET);
    }
    this.drawProgress(all === 0 ? 0 : done / all, inBackward, x - w / 2 + 8, y + h / 2 - 8, w - 16);
    this.describe(`${word("openScene", { name: title })}: ${what}. ${progress}${through ? `. ${through}` : ""}`);
  }

  drawProgress(part, inBackward, x, y, width) {
    const key = `${part} ${inBackward}`;
    if (this.seen.get("bar") === key) return;
    this.seen.set("bar", key);
    this.bar.replaceChildren(
      svgElement("rect", { class: "track", x, y, width, height: 3, rx: 1.5 }),
      svgElement("rect", { class: inBackward ? "done backward" : "done", x, y, width: width * part, height: 3, rx: 1.5 }),
    );
  }

  // The first text that fits, or else the last one shortened. measured() decides once all boxes are written.
  write(name, options, x, y, room) {
    const part = this.texts[name];
    setAttributes(part, { x, y });
    const key = options.join("\n") + room;
    if (this.seen.get(name) === key) return;
    this.seen.set(name, key);
    this.full[name] = { options, room, y };
    if (part.style.fontSize !== "") part.style.fontSize = "";
    setText(part, options[0]);
    if (options[0] !== "") toMeasure.push({ part, options, room });
  }

  sizeName(scale) {
    const { texts: { name }, about, full } = this;
    if (!full.name) return;
    this.seen.delete("name");
    const { options, room, y } = full.name;
    if (scale === null) {
      name.classList.remove("unreadable");
      return this.write("name", options, about.x, y, room);
    }
    const size = 12.5 / scale;
    name.classList.toggle("unreadable", about.h < size * 1.15 || about.w < size * 2.6);
    if (name.classList.contains("unreadable")) return;
    name.style.fontSize = `${size}px`;
    setAttributes(name, { y: about.y + size * 0.35 });
    setText(name, options[0]);
    toMeasure.push({ part: name, options, room: about.w - 4 });
  }
}

// Texts that were written and may be too long. All are measured before any is changed, because otherwise the browser would
// lay out the drawing again after each change.
const toMeasure = [];

function measured() {
  while (toMeasure.length > 0) {
    const all = toMeasure.splice(0).filter(({ part, room }) => part.getComputedTextLength() > room);
    const cuts = all.map(({ part, options, room }) => (options.length === 1 ? cutAt(part, options[0], room) : null));
    all.forEach(({ part, options, room }, i) => {
      if (options.length === 1) part.textContent = cuts[i];
      else {
        part.textContent = options[1];
        toMeasure.push({ part, options: options.slice(1), room });
      }
    });
  }
}

// The beginning of the text in `part` that fits, with an ellipsis, and its round of the loops if at least half is left.
function cutAt(part, text, room) {
  let dots = parseFloat(getComputedStyle(part).fontSize); // no font's ellipsis is wider
  const at = text.lastIndexOf(" · ");
  const place = at > 0 && part.getSubStringLength(at, text.length - at) < room / 2 ? text.slice(at) : "";
  if (place !== "") dots += part.getSubStringLength(at, place.length);
  let [low, high] = [0, text.length - place.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (part.getSubStringLength(0, middle) + dots <= room) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? "" : `${text.slice(0, low).trimEnd()}…${place}`;
}

function shorten(part, text, room) {
  setText(part, text);
  if (part.getComputedTextLength() <= room) return;
  part.textContent = cutAt(part, text, room);
}

class LineView {
  constructor(about, index) {
    Object.assign(this, { about, index });
    const d = smooth(about.points);
    this.path = svgElement("path", { class: "line", d, "marker-end": "url(#arrow-pale)" });
    this.hit = svgElement("path", { class: "hit", d, "data-line": index });
    this.group = svgElement("g", { class: "edge" }, this.path, this.hit);
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
    const name = `edge ${look}${checked ? " wrong-rule" : ""}`;
    if (this.look === name) return;
    this.look = name;
    setAttributes(this.group, { class: name });
    const reversed = look === "now-backward" || look === "past";
    setAttributes(this.path, { "marker-end": reversed ? null : `url(#arrow-${look})`, "marker-start": reversed ? `url(#arrow-${look})` : null });
  }
}

// A polyline with its corners rounded.
function smooth(points) {
  const [first, ...rest] = points;
  if (rest.length === 1) return `M${first}L${rest[0]}`;
  const parts = [`M${first}`];
  rest.slice(0, -1).forEach((point, i) => {
    const next = rest[i + 1];
    const to = i === rest.length - 2 ? next : [(point[0] + next[0]) / 2, (point[1] + next[1]) / 2];
    parts.push(`Q${point} ${to}`);
  });
  return parts.join("");
}

// A short text for the value and gradient of a node.
function endText(node) {
  const { value, gradient, has } = nodeTexts(node);
  return has ? gradient.at(-1) : `= ${value[0]}`;
}

// A chip at the border of the pane for an end that is out of sight, joined to the visible end of the line: {group, rect}.
function pinnedChip(end, box, view, others) {
  const { pane } = view;
  const group = svgElement("g", { class: `chip ${end.end}`, "data-end": end.end, "data-box": end.box, role: "button" });
  const label = svgElement("text", { class: "label" });
  group.append(label);
  view.chips.append(group);
  const text = `${labelOf(end.node)} ${endText(end.node)}`;
  shorten(label, text, Math.min(pane.width - 40, 240));
  const size = { width: label.getComputedTextLength() + 30, height: 26 };
  const ends = view.current.filter((one) => one !== end && view.boxes[one.box]).map((one) => view.boxes[one.box].about);
  const other = ends.find((about) => camera.isInside(about, pane));
  const [fromX, fromY] = other ? camera.point([other.x, other.y]) : [pane.width / 2, pane.height / 2];
  const [toX, toY] = box ? camera.point([box.about.x, box.about.y]) : [fromX, -100];
  const wish = box && wishedPlace(end.line?.about.points.map((p) => camera.point(p)), camera.rect(box.about), pane);
  const taken = [...ends.map((about) => camera.rect(about)), ...others.map((chip) => chip.rect)];
  const rect = chipPlace([fromX, fromY], [toX, toY], size, taken, pane, wish);
  const arrow = Math.abs(toY - fromY) > Math.abs(toX - fromX) ? (toY < fromY ? "↑" : "↓") : toX < fromX ? "←" : "→";
  setAttributes(label, { x: rect.left + 22, y: rect.top + 17.5 });
  const onLine = end.line && wish && Math.hypot((rect.left + rect.right) / 2 - wish[0], (rect.top + rect.bottom) / 2 - wish[1]) < size.width / 2 + 8;
  group.prepend(
    svgElement("path", { class: "tether", d: onLine ? "" : tether(rect, other && camera.rect(other), [fromX, fromY]) }),
    svgElement("rect", { x: rect.left, y: rect.top, width: size.width, height: size.height, rx: 13 }),
    svgElement("text", { class: "way", x: rect.left + 9, y: rect.top + 17.5 }, arrow),
  );
  group.append(svgElement("title", {}, text));
  return { group, rect };
}

// From the chip to the nearest border of the box.
function tether(rect, box, [x, y]) {
  const [cx, cy] = [(rect.left + rect.right) / 2, (rect.top + rect.bottom) / 2];
  if (!box) return `M${cx} ${cy}L${x} ${y}`;
  const to = [Math.max(box.left, Math.min(cx, box.right)), Math.max(box.top, Math.min(cy, box.bottom))];
  return `M${cx} ${cy}L${to}`;
}

// The best position of a chip: on its box if a part of it is visible, else where the line to it leaves the pane.
function wishedPlace(points, { left, top, right, bottom }, pane) {
  if (right > 20 && left < pane.width - 20 && bottom > 10 && top < pane.height - 10) return [(Math.max(left, 0) + Math.min(right, pane.width)) / 2, (Math.max(top, 0) + Math.min(bottom, pane.height)) / 2];
  const inside = ([x, y]) => x >= 0 && y >= 0 && x <= pane.width && y <= pane.height;
  const places = points ? Array.from({ length: 41 }, (_, i) => along(points, i / 40)).filter(inside) : [];
  const gap = ([x, y]) => Math.min(x, y, pane.width - x, pane.height - y);
  return places.length === 0 ? null : places.reduce((best, place) => (gap(place) < gap(best) ? place : best));
}

// A position at the border, towards the hidden box, where the chip covers neither an end nor another chip.
function chipPlace([fromX, fromY], [toX, toY], { width, height }, taken, pane, wish) {
  const away = 6;
  const most = { x: pane.width - away - width, y: pane.height - away - height };
  const length = Math.hypot(toX - fromX, toY - fromY) || 1;
  const [dx, dy] = [(toX - fromX) / length, (toY - fromY) / length];
  const clamp = (at, high) => Math.max(away, Math.min(high, at));
  const around = ([x, y]) => {
    const [left, top] = [clamp(x - width / 2, most.x), clamp(y - height / 2, most.y)];
    return { left, top, right: left + width, bottom: top + height };
  };
  const reach = Math.max(pane.width, pane.height);
  const atBorder = (turn) => {
    const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
    const [x, y] = [fromX + (dx * cos - dy * sin) * reach, fromY + (dx * sin + dy * cos) * reach];
    const scale = Math.min(1, ...[[x - fromX, fromX, pane.width], [y - fromY, fromY, pane.height]].map(([d, o, high]) => (d === 0 ? 1 : d > 0 ? (high - o) / d : -o / d)));
    return around([fromX + (x - fromX) * scale, fromY + (y - fromY) * scale]);
  };
  const turns = Array.from({ length: 24 }, (_, i) => (i % 2 ? 1 : -1) * Math.ceil(i / 2) * (Math.PI / 12));
  const tries = [...(wish ? [around(wish)] : []), ...turns.map(atBorder)];
  return tries.find((rect) => !taken.some((other) => overlap(rect, other))) ?? atBorder(0);
}
