// Attention maps: the reader chooses a layer, a head and a token. Everything shown depends only on `state`.

// Return how much larger everything is drawn than in a small window, so that it fills a large one.
const growth = () => Math.max(1, Math.min(2, Math.min(innerWidth / 1150, innerHeight / 600)));

const layers = pageData().layers.map((layer) => {
  const bytes = Uint8Array.from(atob(layer.weights), (character) => character.charCodeAt(0));
  return { ...layer, weights: new Float32Array(bytes.buffer) }; // (head, query, key)
});
// head: a number, -1 for the mean, or -2 for all heads, each in its colour (the map then shows the mean); asked: the token under the pointer or with the focus
const NOTHING = { side: null, place: null };
const state = { layer: 0, head: layers[0].heads > 1 ? -2 : 0, asked: NOTHING };

// Return the weights of a head as rows, one Float32Array per query.
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

const partText = (part) => words.all[words.language][part] ?? part; // a model may have its own name for it
const layerText = ({ part, number }) => word("layerOf", { part: part ? `${partText(part)}: ` : "", number });
const headText = (head) => word("headNumber", { number: head + 1 });

// Return a canvas with one pixel per weight.
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

// Show thumbnails of all heads, one row per layer.
function showThumbnails() {
  const grid = find("thumbnails");
  const most = Math.max(...layers.map(({ heads }) => heads));
  grid.style.gridTemplateColumns = `auto repeat(${most}, auto)`;
  grid.style.setProperty("--side", `${Math.max(20, Math.min(44, 270 / most) * growth())}px`);
  grid.replaceChildren();
  layers.forEach((layer, number) => {
    if (layer.part && layer.part !== layers[number - 1]?.part) grid.append(element("div", { class: "part" }, partText(layer.part)));
    grid.append(element("span", { class: "number" }, String(layer.number)));
    for (let head = 0; head < most; head++) grid.append(head < layer.heads ? thumbnail(number, head) : element("span"));
  });
}

function thumbnail(layer, head) {
  const title = `${layerText(layers[layer])}, ${headText(head)}`;
  const rows = matrix(layer, head);
  const about = { type: "button", "data-layer": layer, "data-head": head, title, "aria-label": title, onclick: () => choose(layer, head) };
  return element("button", about, picture(rows, largestOf(rows)));
}

function fillSelects() {
  const options = (select, texts, chosen) => {
    select.replaceChildren(...texts.map(([value, text]) => new Option(text, value)));
    select.value = chosen;
  };
  options(find("layer"), layers.map((layer, i) => [i, layerText(layer)]), state.layer);
  const heads = Array.from({ length: layers[state.layer].heads }, (_, i) => [i, headText(i)]);
  options(find("head"), [...(heads.length > 1 ? [[-2, word("allHeads")]] : []), ...heads, [-1, word("mean")]], state.head);
  for (const thumbnail of document.querySelectorAll("#thumbnails button")) thumbnail.className = state.head === -2 && heads.length > 1 ? `k${thumbnail.dataset.head % 6}` : "";
}

// Return the width of a text of 13 px in bold type, as of a chosen token.
const measure = document.createElement("canvas").getContext("2d");
function textWidth(text) {
  measure.font = `700 13px ${getComputedStyle(document.body).fontFamily}`;
  return measure.measureText(text).width;
}

// Return a text, cut with "…" if it is wider than this.
function fit(text, width) {
  const letters = [...text];
  let fitting = text;
  while (textWidth(fitting) > width && letters.pop()) fitting = `${letters.join("")}…`;
  return fitting;
}

let drawn = null; // {canvas, mark, side, rows}

// Draw the ribbons, and frame the chosen token's row or column of the map.
function update() {
  const { queries, keys, heads: count } = layers[state.layer];
  const heads = state.head === -2 ? Array.from({ length: count }, (_, head) => matrix(state.layer, head)) : [drawn.rows];
  const room = Math.min(220, innerWidth / 4, Math.max(...queries.map(textWidth), ...keys.map(textWidth)) + 50);
  const lines = ribbons.view({ tokens: [queries, keys], heads, asked: state.asked, ask, room, fit });
  find("lines").style.maxWidth = `${lines.viewBox.baseVal.width * 1.3 * growth()}px`;
  refill(find("lines"), [element("div", { class: "sides" }, element("span", {}, word("queries")), element("span", {}, word("keysSide"))), lines]);
  markMap(state.asked);
}

// Draw the heat map with the tokens as labels. It is a canvas, because a table of 128 by 128 cells would be slow.
function makeMap(rows, largest) {
  const { queries, keys } = layers[state.layer];
  const side = Math.max(5, Math.floor(Math.min(26, 460 / Math.max(queries.length, keys.length)) * growth()));
  const size = Math.max(8, Math.min(13 * growth(), side - 2)); // of the labels' font
  const upright = Math.max(...keys.map(textWidth)) * (size / 13) <= side;
  const step = Math.ceil(11 / side); // every step-th label is written
  const labels = (kind, texts) => element("div", { class: kind, "aria-hidden": "true" }, ...texts.map((text, i) => element("span", {}, i % step === 0 ? text : "")));
  const canvas = picture(rows, largest);
  setAttributes(canvas, { role: "img", "aria-label": word("heat", { queries: queries.length, keys: keys.length }) });
  Object.assign(canvas.style, { width: `${side * keys.length}px`, height: `${side * queries.length}px` });
  const mark = element("i");
  const map = element("div", { class: "cells" }, labels(upright ? "keys upright" : "keys", keys), labels("queries", queries), element("div", { class: "picture" }, canvas, mark));
  map.style.setProperty("--cell", `${side}px`);
  map.style.fontSize = `${size}px`;
  find("map").replaceChildren(map);
  find("largest").textContent = numberText(largest);
  return { canvas, mark, side };
}

// Frame the row of the chosen query, or the column of the chosen key.
function markMap(asked) {
  const { mark, side } = drawn;
  mark.hidden = asked.side === null;
  const at = `${side * asked.place}px`;
  const look = asked.side === 0 ? { inset: `${at} 0 auto 0`, width: "", height: `${side}px` } : { inset: `0 auto 0 ${at}`, width: `${side}px`, height: "" };
  Object.assign(mark.style, look);
}

// Return the cell under the pointer, or null.
function cellAt(event) {
  const box = drawn.canvas.getBoundingClientRect();
  const { queries, keys } = layers[state.layer];
  const [i, j] = [Math.floor(((event.clientY - box.top) / box.height) * queries.length), Math.floor(((event.clientX - box.left) / box.width) * keys.length)];
  return i >= 0 && j >= 0 && i < queries.length && j < keys.length ? [i, j] : null;
}

function choose(layer, head) {
  state.layer = layer;
  state.head = head === -2 && layers[layer].heads === 1 ? 0 : Math.min(head, layers[layer].heads - 1);
  state.asked = NOTHING;
  show();
}

function show() {
  fillSelects();
  for (const button of document.querySelectorAll("#thumbnails button")) {
    const here = Number(button.dataset.layer) === state.layer && Number(button.dataset.head) === state.head;
    button.setAttribute("aria-pressed", here);
  }
  const rows = matrix(state.layer, state.head);
  drawn = { ...makeMap(rows, largestOf(rows)), rows };
  update();
}

function showAll() {
  showThumbnails();
  show();
}

// Input of the reader

function ask(asked) {
  if (state.asked.side === asked.side && state.asked.place === asked.place) return;
  state.asked = asked;
  update();
}

find("map").addEventListener("pointermove", (event) => {
  const cell = cellAt(event);
  ask(cell ? { side: 0, place: cell[0] } : NOTHING);
  const { queries, keys } = layers[state.layer];
  find("cell").textContent = cell
    ? word("cell", { query: queries[cell[0]], i: cell[0], key: keys[cell[1]], j: cell[1], weight: numberText(drawn.rows[cell[0]][cell[1]]) })
    : "\u00a0";
});
find("map").addEventListener("pointerleave", () => ask(NOTHING));
find("layer").addEventListener("change", (event) => choose(Number(event.target.value), state.head));
find("head").addEventListener("change", (event) => choose(state.layer, Number(event.target.value)));
addEventListener("resize", () => showAll());
words.listen(showAll);
