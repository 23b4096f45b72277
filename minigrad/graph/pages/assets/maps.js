// Who looks where: choose a layer and a head, and ask a token. What is shown follows from `state` alone.

const SVG = "http://www.w3.org/2000/svg";
const ROW = 24; // pixels of a token's row
const WIDE = 160; // of the lines
const FEW = 8; // weights in the table
const LEAST = 0.04; // of the weights shown as lines while no token is asked

const layers = pageData().layers.map((layer) => {
  const text = atob(layer.weights);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return { ...layer, weights: new Float32Array(bytes.buffer) }; // (head, query, key)
});
// head: a number, or -1 for the mean; asked: {side, place} under the pointer or the focus, kept: the one that was clicked
const state = { layer: 0, head: 0, asked: null, kept: null };
const find = (id) => document.getElementById(id);

// The weights of a head as rows: one Float32Array for each query.
function matrix(number, head) {
  const { queries, keys, heads, weights } = layers[number];
  const size = queries.length * keys.length;
  return queries.map((_, i) => {
    const row = (h) => weights.subarray(h * size + i * keys.length, h * size + (i + 1) * keys.length);
    if (head >= 0) return row(head);
    const rows = Array.from({ length: heads }, (_, h) => row(h));
    return Float32Array.from(keys, (_, j) => rows.reduce((sum, weights) => sum + weights[j], 0) / heads);
  });
}

function largestOf(rows) {
  return rows.reduce((most, row) => row.reduce((a, b) => (b > a ? b : a), most), 0) || 1;
}

function numberText(weight) {
  return Number.isNaN(weight) ? "NaN" : weight.toFixed(3);
}

function layerText({ part, number }) {
  const known = words.all[words.language][part] ?? part;
  return words.text("layerOf", { part: part ? `${known}: ` : "", number });
}

// The weights that belong to a token: [place on the other side, weight], the largest first.
function ranked(rows, { side, place }) {
  const weights = side === "query" ? [...rows[place]] : rows.map((row) => row[place]);
  return weights.map((weight, i) => [i, weight]).sort((a, b) => b[1] - a[1]);
}

// A canvas with a pixel for each weight.
function picture(rows, largest) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [rows[0].length, rows.length];
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  rows.forEach((row, i) =>
    row.forEach((weight, j) => {
      const at = 4 * (i * row.length + j);
      const shade = Math.round(255 * Math.min(1, Math.max(0, weight / largest)));
      image.data.set(Number.isNaN(weight) ? [216, 216, 216, 255] : [8, 81, 156, shade], at);
    }),
  );
  context.putImageData(image, 0, 0);
  return canvas;
}

// Thumbnails of all heads: a row for each layer.
function showThumbnails() {
  const grid = find("thumbnails");
  const most = Math.max(...layers.map(({ heads }) => heads));
  grid.style.gridTemplateColumns = `auto repeat(${most}, auto)`;
  grid.style.setProperty("--side", `${Math.max(20, Math.min(44, 270 / most))}px`);
  grid.replaceChildren();
  layers.forEach((layer, number) => {
    if (layer.part && layer.part !== layers[number - 1]?.part) {
      grid.append(labelled("div", words.all[words.language][layer.part] ?? layer.part, "part"));
    }
    grid.append(labelled("span", String(layer.number), "number"));
    for (let head = 0; head < most; head++) {
      if (head >= layer.heads) {
        grid.append(document.createElement("span"));
        continue;
      }
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.layer = number;
      button.dataset.head = head;
      button.title = `${layerText(layer)}, ${words.text("headNumber", { number: head + 1 })}`;
      button.setAttribute("aria-label", button.title);
      const rows = matrix(number, head);
      button.append(picture(rows, largestOf(rows)));
      button.addEventListener("click", () => choose(number, head));
      grid.append(button);
    }
  });
}

function labelled(tag, text, kind) {
  const element = document.createElement(tag);
  element.className = kind;
  element.textContent = text;
  return element;
}

function fillSelects() {
  const options = (select, texts, chosen) => {
    select.replaceChildren(...texts.map(([value, text]) => new Option(text, value)));
    select.value = chosen;
  };
  options(find("layer"), layers.map((layer, i) => [i, layerText(layer)]), state.layer);
  const heads = Array.from({ length: layers[state.layer].heads }, (_, i) => [i, words.text("headNumber", { number: i + 1 })]);
  options(find("head"), [...heads, [-1, words.text("mean")]], state.head);
}

// The tokens on both sides, and lines between them.
function makeLines() {
  const { queries, keys } = layers[state.layer];
  const widthOf = (texts, title) => Math.max(textWidth(words.text(title)), Math.min(220, 14 + Math.max(...texts.map(textWidth))));
  const [left, right] = [widthOf(queries, "queries"), widthOf(keys, "keysSide")];
  const svg = element("svg", { width: left + WIDE + right, height: ROW * (1 + Math.max(queries.length, keys.length)) + 4 });
  svg.setAttribute("role", "group");
  const paths = element("g", {});
  svg.append(paths, side("queries", left, "end"), side("keysSide", left + WIDE, "start"));
  const tokens = { query: [], key: [] };
  for (const [name, texts, x, wide] of [["query", queries, 0, left], ["key", keys, left + WIDE, right]]) {
    texts.forEach((text, place) => {
      const group = element("g", { class: "token", role: "button", tabindex: "-1" });
      const box = Math.min(wide, textWidth(text) + 12);
      const rect = element("rect", { x: name === "query" ? x + wide - box : x, y: ROW * (place + 1) + 2, width: box, height: ROW - 4 });
      const label = element("text", { x: name === "query" ? x + wide - 6 : x + 6, y: ROW * (place + 1) + 17 });
      label.setAttribute("text-anchor", name === "query" ? "end" : "start");
      label.textContent = shortened(text, wide - 12);
      const title = element("title", {});
      title.textContent = text;
      group.append(title, rect, label);
      group.dataset.side = name;
      group.dataset.place = place;
      tokens[name].push(group);
      svg.append(group);
    });
  }
  find("lines").replaceChildren(svg);
  return { tokens, paths, from: left, to: left + WIDE };
}

function side(word, x, anchor) {
  const text = element("text", { class: "side", x: anchor === "end" ? x - 6 : x + 6, y: 15, "text-anchor": anchor });
  text.textContent = words.text(word);
  return text;
}

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const measure = document.createElement("canvas").getContext("2d");

function textWidth(text) {
  measure.font = `14px ${getComputedStyle(document.body).fontFamily}`;
  return measure.measureText(text).width;
}

function shortened(text, width) {
  const characters = [...text];
  while (characters.length > 1 && textWidth(`${characters.join("")}…`) > width) characters.pop();
  return characters.length < [...text].length && textWidth(text) > width ? `${characters.join("")}…` : text;
}

let drawn = null; // {tokens, paths, from, to, rows, largest}

// Lines, tints and numbers for the token that is asked.
function update() {
  const { tokens, paths, from, to, rows, largest } = drawn;
  const asked = state.asked ?? state.kept;
  const found = [];
  rows.forEach((row, i) =>
    row.forEach((weight, j) => {
      const wanted = asked === null ? weight >= LEAST : (asked.side === "query" ? i : j) === asked.place && weight >= 0.002;
      if (wanted) found.push([i, j, weight]);
    }),
  );
  paths.replaceChildren(
    ...found.map(([i, j, weight]) => {
      const [y1, y2, bend] = [ROW * (i + 1.5), ROW * (j + 1.5), (to - from) / 2];
      const opacity = (asked === null ? 0.6 : 1) * Math.min(1, weight / largest);
      return element("path", { d: `M${from} ${y1} C${from + bend} ${y1} ${to - bend} ${y2} ${to} ${y2}`, "stroke-opacity": opacity.toFixed(3) });
    }),
  );
  for (const name of ["query", "key"]) {
    tokens[name].forEach((group, place) => {
      let share = 0;
      if (asked !== null && asked.side !== name) {
        const weight = name === "key" ? rows[asked.place][place] : rows[place][asked.place];
        share = Math.max(0, Math.min(1, weight / largest)) || 0;
      }
      group.querySelector("rect").style.fillOpacity = share.toFixed(3);
      group.classList.toggle("dark", share > 0.55);
      const here = asked !== null && asked.side === name && asked.place === place;
      group.setAttribute("aria-pressed", here);
      group.setAttribute("tabindex", here || (asked === null && name === "query" && place === 0) ? "0" : "-1");
      group.setAttribute("aria-label", sentence({ side: name, place }));
    });
  }
  showAnswer(asked);
  drawMap(asked);
}

function tokenText({ side, place }) {
  const layer = layers[state.layer];
  return (side === "query" ? layer.queries : layer.keys)[place];
}

// "cat looks at: sat 0.610, on 0.220"
function sentence(asked) {
  const other = asked.side === "query" ? "key" : "query";
  const few = ranked(drawn.rows, asked).slice(0, 3).map(([place, weight]) => `${tokenText({ side: other, place })} ${numberText(weight)}`);
  return `${words.text(asked.side, { token: tokenText(asked) })}: ${few.join(", ")}`;
}

function showAnswer(asked) {
  const answer = find("answer");
  answer.replaceChildren();
  if (asked === null) return;
  const other = asked.side === "query" ? "key" : "query";
  const all = ranked(drawn.rows, asked);
  answer.append(labelled("h2", words.text(asked.side, { token: tokenText(asked) }), ""));
  if (all.every(([, weight]) => !(weight > 0))) {
    answer.append(labelled("p", words.text("none"), "note"));
    return;
  }
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const word of ["token", "place", "weight"]) head.append(labelled("th", words.text(word), ""));
  const body = table.createTBody();
  for (const [place, weight] of all.slice(0, FEW)) {
    const row = body.insertRow();
    for (const text of [tokenText({ side: other, place }), String(place), numberText(weight)]) row.insertCell().textContent = text;
  }
  answer.append(table);
  const rest = all.slice(FEW);
  if (rest.length) {
    const sum = numberText(rest.reduce((total, [, weight]) => total + weight, 0));
    answer.append(labelled("p", words.text("more", { count: rest.length, sum }), "note"));
  }
}

// The heat map, with the tokens as labels. On a canvas: a table of 128 by 128 cells would be slow.
const heat = { canvas: null, left: 0, top: 0, side: 0 };

function drawMap(asked) {
  const { queries, keys } = layers[state.layer];
  const { rows, largest } = drawn;
  const longest = Math.max(queries.length, keys.length);
  const side = Math.max(5, Math.min(26, Math.floor(460 / longest)));
  const size = Math.max(8, Math.min(13, side - 2));
  const step = Math.ceil(11 / side); // of so many labels one, where they are tight
  const label = (texts) => Math.min(110, Math.max(...texts.map(textWidth)) * (size / 14) + 8);
  const upright = label(keys) - 8 <= side;
  const [left, top] = [label(queries), upright ? size + 8 : label(keys)];
  const canvas = heat.canvas ?? document.createElement("canvas");
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [left + side * keys.length + 8, top + side * queries.length + 8];
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", words.text("heat", { queries: queries.length, keys: keys.length }));
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.save();
  context.translate(left, top);
  context.imageSmoothingEnabled = false;
  context.drawImage(picture(rows, largest), 0, 0, side * keys.length, side * queries.length);
  context.strokeStyle = "#9a9a9a";
  context.strokeRect(-0.5, -0.5, side * keys.length + 1, side * queries.length + 1);
  if (asked !== null) {
    context.strokeStyle = "#b3261e";
    context.lineWidth = 2;
    if (asked.side === "query") context.strokeRect(-1, side * asked.place, side * keys.length + 2, side);
    else context.strokeRect(side * asked.place, -1, side, side * queries.length + 2);
  }
  context.restore();
  context.fillStyle = "#1c1c1c";
  context.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  context.textBaseline = "middle";
  context.textAlign = "right";
  const fitting = (text, room) => shortened(text, (room - 6) * (14 / size));
  queries.forEach((text, i) => {
    if (i % step === 0) context.fillText(fitting(text, left), left - 5, top + side * (i + 0.5));
  });
  context.textAlign = upright ? "center" : "left";
  keys.forEach((text, j) => {
    if (j % step !== 0) return;
    context.save();
    context.translate(left + side * (j + 0.5), top - 5);
    if (!upright) context.rotate(-Math.PI / 2);
    context.fillText(upright ? text : fitting(text, top), 0, upright ? -size / 2 : 0);
    context.restore();
  });
  if (heat.canvas === null) find("map").append(canvas);
  Object.assign(heat, { canvas, left, top, side });
  find("largest").textContent = numberText(largest);
}

// The cell under the pointer, or null.
function cellAt(event) {
  const box = heat.canvas.getBoundingClientRect();
  const j = Math.floor((event.clientX - box.left - heat.left) / heat.side);
  const i = Math.floor((event.clientY - box.top - heat.top) / heat.side);
  const { queries, keys } = layers[state.layer];
  return i >= 0 && j >= 0 && i < queries.length && j < keys.length ? [i, j] : null;
}

function choose(layer, head) {
  const before = layers[state.layer];
  state.layer = layer;
  state.head = Math.min(head, layers[layer].heads - 1);
  const same = (a, b) => a.length === b.length && a.every((text, i) => text === b[i]);
  if (!same(before.queries, layers[layer].queries) || !same(before.keys, layers[layer].keys)) state.kept = null;
  state.asked = null;
  show();
}

function show() {
  fillSelects();
  for (const button of document.querySelectorAll("#thumbnails button")) {
    const here = Number(button.dataset.layer) === state.layer && Number(button.dataset.head) === state.head;
    button.setAttribute("aria-pressed", here);
  }
  const rows = matrix(state.layer, state.head);
  drawn = { ...makeLines(), rows, largest: largestOf(rows) };
  update();
}

function showAll() {
  showThumbnails();
  show();
}

// What the reader does

function tokenOf(target) {
  const group = target.closest?.(".token");
  return group ? { side: group.dataset.side, place: Number(group.dataset.place) } : null;
}

function ask(asked) {
  if (state.asked?.side === asked?.side && state.asked?.place === asked?.place) return;
  state.asked = asked;
  update();
}

function keep(asked) {
  const same = asked !== null && state.kept?.side === asked.side && state.kept.place === asked.place;
  state.kept = same ? null : asked;
  state.asked = null;
  update();
  if (state.kept) find("live").textContent = sentence(state.kept);
}

function moveTo(asked) {
  state.kept = asked;
  state.asked = null;
  update();
  drawn.tokens[asked.side][asked.place].focus();
  find("live").textContent = sentence(asked);
}

const lines = find("lines");
lines.addEventListener("pointerover", (event) => ask(tokenOf(event.target)));
lines.addEventListener("pointerleave", () => ask(null));
lines.addEventListener("click", (event) => keep(tokenOf(event.target)));
find("map").addEventListener("pointermove", (event) => {
  const cell = cellAt(event);
  ask(cell && { side: "query", place: cell[0] });
  const { queries, keys } = layers[state.layer];
  find("cell").textContent = cell
    ? words.text("cell", { query: queries[cell[0]], i: cell[0], key: keys[cell[1]], j: cell[1], weight: numberText(drawn.rows[cell[0]][cell[1]]) })
    : "\u00a0";
});
find("map").addEventListener("pointerleave", () => ask(null));
find("layer").addEventListener("change", (event) => choose(Number(event.target.value), state.head));
find("head").addEventListener("change", (event) => choose(state.layer, Number(event.target.value)));
document.addEventListener("keydown", (event) => {
  if (event.target.closest("select") || event.ctrlKey || event.metaKey || event.altKey) return;
  const { heads, queries, keys } = layers[state.layer];
  const counts = { query: queries.length, key: keys.length };
  const now = tokenOf(event.target) ?? state.kept;
  const to = (side, place) => moveTo({ side, place: Math.max(0, Math.min(counts[side] - 1, place)) });
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step !== undefined) now === null ? to("query", 0) : to(now.side, now.place + step);
  else if (event.key === "ArrowLeft") to("query", now?.place ?? 0);
  else if (event.key === "ArrowRight") to("key", now?.place ?? 0);
  else if (event.key === "Enter" && tokenOf(event.target)) keep(now);
  else if (event.key === "Escape") keep(null);
  else if (event.key === "h") choose(state.layer, (state.head + 1) % heads);
  else if (event.key === "H") choose(state.layer, (state.head + heads - 1) % heads);
  else if (event.key === "l") choose((state.layer + 1) % layers.length, state.head);
  else if (event.key === "L") choose((state.layer + layers.length - 1) % layers.length, state.head);
  else return;
  event.preventDefault();
});

words.listen(showAll);
