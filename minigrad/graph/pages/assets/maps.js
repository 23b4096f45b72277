// Attention maps: the reader chooses a layer, a head and a token. Everything shown depends only on `state`.

// Return how much larger everything is drawn than in a small window, so that it fills a large one.
const growth = () => Math.max(1, Math.min(2, Math.min(innerWidth / 1150, innerHeight / 600)));

const layers = pageData().layers.map((layer) => {
  const bytes = Uint8Array.from(atob(layer.weights), (character) => character.charCodeAt(0));
  const weights = Array.from(new Float32Array(bytes.buffer)); // (head, query, key)
  const about = { shape: [layer.queries.length, layer.keys.length], dtype: "float32" };
  const size = nd.sizeOf(about.shape);
  const heads = nd.range(layer.heads).map((head) => ({ ...about, values: weights.slice(head * size, (head + 1) * size) }));
  const mean = { ...about, values: nd.range(size).map((i) => heads.reduce((sum, { values }) => sum + values[i], 0) / heads.length) };
  return { ...layer, heads, mean };
});
// head: a number, or null for all heads, each in its colour (the map then shows the mean); asked: the token under the pointer or with the focus
const NOTHING = { side: null, place: null };
const state = { layer: 0, head: null, asked: NOTHING };

const partText = (part) => words.all[words.language][part] ?? part; // a model may have its own name for it
const layerText = ({ part, number }) => word("layerOf", { part: part ? `${partText(part)}: ` : "", number });
const textOf = (layer, head) => `${layerText(layers[layer])}, ${head === null ? word("allHeads") : word("headNumber", { number: head + 1 })}`;

// Show thumbnails of all heads, one row per layer, which begins with a button for all of them.
function showThumbnails() {
  const grid = find("thumbnails");
  const most = Math.max(...layers.map(({ heads }) => heads.length));
  grid.style.gridTemplateColumns = `auto repeat(${most}, auto)`;
  grid.style.setProperty("--side", `${Math.max(20, Math.min(44, 270 / most) * growth())}px`);
  grid.replaceChildren();
  layers.forEach((layer, number) => {
    if (layer.part && layer.part !== layers[number - 1]?.part) grid.append(element("div", { class: "part" }, partText(layer.part)));
    grid.append(chooser(number, null, String(layer.number)));
    for (let head = 0; head < most; head++) grid.append(head < layer.heads.length ? thumbnail(number, head) : element("span"));
  });
}

function chooser(layer, head, content) {
  const title = textOf(layer, head);
  return element("button", { type: "button", "data-layer": layer, "data-head": head, title, "aria-label": title, onclick: () => choose(layer, head) }, content);
}

function thumbnail(layer, head) {
  const weights = layers[layer].heads[head];
  const map = svgElement("svg", { class: "map" });
  const found = heat.map(weights, { most: [24, 24] });
  if (found !== null) heat.fill(map, weights, found, { gap: 0 }, []);
  return chooser(layer, head, map);
}

// Return the weights that the map shows.
const shown = () => layers[state.layer].heads[state.head] ?? layers[state.layer].mean;

// Draw the ribbons, and frame the chosen token's row or column of the map.
function update() {
  const { queries, keys, heads } = layers[state.layer];
  const room = Math.min(220, innerWidth / 4, Math.max(...[...queries, ...keys].map((text) => widthOf(text, "name"))) + 50);
  const lines = ribbons.view({ tokens: [queries, keys], heads: (state.head === null ? heads : [shown()]).map(({ values }) => values), asked: state.asked, ask, room });
  find("lines").style.maxWidth = `${lines.viewBox.baseVal.width * 1.3 * growth()}px`;
  refill(find("lines"), [element("div", { class: "sides" }, element("span", {}, word("queries")), element("span", {}, word("keysSide"))), lines]);
  mark(state.asked);
}

function mark({ side, place }) {
  const map = document.querySelector("#map .map");
  map?.querySelector(".asked")?.remove();
  if (!map || side === null) return;
  const [width, height] = [map.viewBox.baseVal.width - 2, map.viewBox.baseVal.height - 2];
  const [rows, columns] = shown().shape;
  const frame = side === 0 ? { x: 0, y: (height * place) / rows, width, height: height / rows } : { x: (width * place) / columns, y: 0, width: width / columns, height };
  map.append(svgElement("rect", { class: "at asked", ...frame }));
}

function choose(layer, head) {
  Object.assign(state, { layer, head, asked: NOTHING });
  show();
}

function show() {
  for (const one of document.querySelectorAll("#thumbnails button")) {
    one.setAttribute("aria-pressed", one.title === textOf(state.layer, state.head));
    const isColoured = state.head === null && "head" in one.dataset && layers[one.dataset.layer].heads.length > 1;
    one.className = isColoured ? `k${one.dataset.head % 6}` : "";
  }
  setText(find("shown"), textOf(state.layer, state.head));
  const { queries, keys } = layers[state.layer];
  find("map").replaceChildren(arrayView(shown(), { label: word("weights"), show: { tokens: [queries, keys] }, room: [490 * growth(), 460 * growth()], most: [128, 128] }));
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
  const map = document.querySelector("#map .map");
  const isOver = event.composedPath().includes(map);
  ask(isOver ? { side: 0, place: Math.floor(heat.under(map.querySelector(".heat"), event).flat / shown().shape[1]) } : NOTHING);
  mark(state.asked);
});
find("map").addEventListener("pointerleave", () => ask(NOTHING));
addEventListener("resize", () => showAll());
words.listen(showAll);
