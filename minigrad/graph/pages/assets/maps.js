// Attention maps: the reader chooses a layer, a head and a token. Everything shown depends only on `state`.

const ROW = 24; // pixels of a token's row
const WIDE = 160; // px, the width of the lines' area
// Return how much larger everything is drawn than in a small window, so that it fills a large one.
const growth = () => Math.max(1, Math.min(2, Math.min(innerWidth / 1150, innerHeight / 600)));
const LEAST = 0.04; // the smallest weight with a line if no token is chosen

const layers = pageData().layers.map((layer) => {
  const bytes = Uint8Array.from(atob(layer.weights), (character) => character.charCodeAt(0));
  return { ...layer, weights: new Float32Array(bytes.buffer) }; // (head, query, key)
});
// head: a number, -1 for the mean, or -2 for all heads, each in its colour (the map then shows the mean); asked: {side, place} of the token under the pointer or focus; kept: the clicked one
const state = { layer: 0, head: layers[0].heads > 1 ? -2 : 0, asked: null, kept: null };

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
const otherSide = (side) => (side === "query" ? "key" : "query");

// Return the weights of a token: [position on the other side, weight], the largest first.
function ranked(rows, { side, place }) {
  const weights = side === "query" ? [...rows[place]] : rows.map((row) => row[place]);
  return weights.map((weight, i) => [i, weight]).sort((a, b) => b[1] - a[1]);
}

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

// Write the tokens on both sides. update() draws the lines between them.
function makeLines() {
  const { queries, keys } = layers[state.layer];
  const height = ROW * Math.max(queries.length, keys.length);
  const scale = Math.max(1, Math.min(growth(), (innerHeight * 0.78) / (height + ROW)));
  const token = (side) => (text, place) => element("div", { class: "token", role: "button", tabindex: "-1", title: text, "data-side": side, "data-place": place }, text);
  const tokens = { query: queries.map(token("query")), key: keys.map(token("key")) };
  const column = (side, heading) => element("div", { class: side }, element("div", { class: "side" }, word(heading)), ...tokens[side]);
  const paths = svgElement("svg", { width: WIDE * scale, height: height * scale, viewBox: `0 0 ${WIDE} ${height}` });
  find("lines").style.setProperty("--row", `${ROW * scale}px`);
  find("lines").replaceChildren(column("query", "queries"), paths, column("key", "keysSide"));
  return { tokens, paths };
}

// Return the width of a text of 14 px.
const measure = document.createElement("canvas").getContext("2d");
function textWidth(text) {
  measure.font = `14px ${getComputedStyle(document.body).fontFamily}`;
  return measure.measureText(text).width;
}

let drawn = null; // {tokens, paths, canvas, mark, side, rows, largest}

// Draw the lines, tints and numbers for the chosen token.
function update() {
  const { tokens, paths, rows, largest } = drawn;
  const asked = state.asked ?? state.kept;
  const heads = state.head === -2 ? Array.from({ length: layers[state.layer].heads }, (_, h) => matrix(state.layer, h)) : [rows];
  const wanted = ([i, j, weight]) => (asked === null ? weight >= LEAST : (asked.side === "query" ? i : j) === asked.place && weight >= 0.002);
  const found = heads.flatMap((one, h) => one.flatMap((row, i) => Array.from(row, (weight, j) => [i, j, weight, h]))).filter(wanted);
  paths.replaceChildren(...ribbonsOf(found, { wide: WIDE, row: ROW, largest: heads.reduce((most, one) => Math.max(most, largestOf(one)), 0), heads: heads.length, pale: asked === null ? 0.75 : 1 }));
  for (const name of ["query", "key"]) {
    tokens[name].forEach((box, place) => {
      const weight = asked === null || asked.side === name ? null : name === "key" ? rows[asked.place][place] : rows[place][asked.place];
      const share = Math.max(0, Math.min(1, weight / largest)) || 0;
      box.style.setProperty("--share", share.toFixed(3));
      box.classList.toggle("dark", share > 0.55);
      const here = asked !== null && asked.side === name && asked.place === place;
      const first = asked === null && name === "query" && place === 0;
      setAttributes(box, { "data-weight": weight === null ? null : numberText(weight), "aria-pressed": String(here), tabindex: here || first ? "0" : "-1", "aria-label": sentence({ side: name, place }) });
    });
  }
  showAnswer(asked);
  markMap(asked);
}

const tokenText = (side, place) => layers[state.layer][side === "query" ? "queries" : "keys"][place];
const question = ({ side, place }) => word(side, { token: tokenText(side, place) });

// Return what a token looks at as a sentence: "cat looks at: sat 0.610, on 0.220".
function sentence(asked) {
  const few = ranked(drawn.rows, asked).slice(0, 3);
  return `${question(asked)}: ${few.map(([place, weight]) => `${tokenText(otherSide(asked.side), place)} ${numberText(weight)}`).join(", ")}`;
}

// Write the question, whose answer are the weights at the tokens.
function showAnswer(asked) {
  const isEmpty = asked !== null && ranked(drawn.rows, asked).every(([, weight]) => !(weight > 0));
  find("answer").replaceChildren(...(asked === null ? [] : [element("h2", {}, question(asked)), ...(isEmpty ? [element("p", { class: "note" }, word("none"))] : [])]));
}

// Draw the heat map with the tokens as labels. It is a canvas, because a table of 128 by 128 cells would be slow.
function makeMap(rows, largest) {
  const { queries, keys } = layers[state.layer];
  const side = Math.max(5, Math.floor(Math.min(26, 460 / Math.max(queries.length, keys.length)) * growth()));
  const size = Math.max(8, Math.min(13 * growth(), side - 2)); // of the labels' font
  const upright = Math.max(...keys.map(textWidth)) * (size / 14) <= side;
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
  mark.hidden = asked === null;
  if (asked === null) return;
  const at = `${side * asked.place}px`;
  const look = asked.side === "query" ? { inset: `${at} 0 auto 0`, width: "", height: `${side}px` } : { inset: `0 auto 0 ${at}`, width: `${side}px`, height: "" };
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
  const before = layers[state.layer];
  state.layer = layer;
  state.head = head === -2 && layers[layer].heads === 1 ? 0 : Math.min(head, layers[layer].heads - 1);
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
  const largest = largestOf(rows);
  drawn = { ...makeLines(), ...makeMap(rows, largest), rows, largest };
  update();
}

function showAll() {
  showThumbnails();
  show();
}

// Input of the reader

function tokenOf(target) {
  const group = target.closest?.(".token");
  return group ? { side: group.dataset.side, place: Number(group.dataset.place) } : null;
}

const isSame = (a, b) => a?.side === b?.side && a?.place === b?.place;

function ask(asked) {
  if (isSame(state.asked, asked)) return;
  state.asked = asked;
  update();
}

function keep(asked) {
  Object.assign(state, { kept: asked, asked: null });
  update();
  if (asked) find("live").textContent = sentence(asked);
}

const toggle = (asked) => keep(isSame(state.kept, asked) ? null : asked);

const lines = find("lines");
lines.addEventListener("pointerover", (event) => ask(tokenOf(event.target)));
lines.addEventListener("pointerleave", () => ask(null));
lines.addEventListener("click", (event) => toggle(tokenOf(event.target)));
find("map").addEventListener("pointermove", (event) => {
  const cell = cellAt(event);
  ask(cell && { side: "query", place: cell[0] });
  const { queries, keys } = layers[state.layer];
  find("cell").textContent = cell
    ? word("cell", { query: queries[cell[0]], i: cell[0], key: keys[cell[1]], j: cell[1], weight: numberText(drawn.rows[cell[0]][cell[1]]) })
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
  const to = (side, wanted) => {
    const place = Math.max(0, Math.min(counts[side] - 1, wanted));
    keep({ side, place });
    drawn.tokens[side][place].focus();
  };
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step !== undefined) now === null ? to("query", 0) : to(now.side, now.place + step);
  else if (event.key === "ArrowLeft") to("query", now?.place ?? 0);
  else if (event.key === "ArrowRight") to("key", now?.place ?? 0);
  else if (event.key === "Enter" && tokenOf(event.target)) toggle(now);
  else if (event.key === "Escape") keep(null);
  else if (event.key === "h") choose(state.layer, (Math.max(state.head, -1) + 1) % heads);
  else if (event.key === "H") choose(state.layer, (Math.max(state.head, 0) + heads - 1) % heads);
  else if (event.key === "l") choose((state.layer + 1) % layers.length, state.head);
  else if (event.key === "L") choose((state.layer + layers.length - 1) % layers.length, state.head);
  else return;
  event.preventDefault();
});

addEventListener("resize", () => showAll());
words.listen(showAll);
