// Shows the gradients during training. A slider chooses a step, and the heat map, the numbers and the graph show its norms.

const data = pageData();
const state = { at: data.steps.length - 1, what: "gradient", playing: null };
const LAYER = 20; // pixels of a layer's row

// Norms of a parameter: null where there was no gradient, Infinity where there was a NaN or an infinity.
const norms = Object.fromEntries(Object.entries(data.norms).map(([what, rows]) => [what, rows.map((row) => row.map((x) => x === null ? null : Number(x)))]));

// Return the norm of several parameters together.
function together(what, parameters, at) {
  const known = parameters.map((p) => norms[what][p][at]).filter((x) => x !== null);
  return known.length ? Math.hypot(...known) : null;
}

function value(parameters, at) {
  if (state.what !== "ratio") return together(state.what, parameters, at);
  const [update, parameter] = [together("update", parameters, at), together("parameter", parameters, at)];
  if (!Number.isFinite(update) || !Number.isFinite(parameter)) return Infinity;
  return update === 0 ? 0 : update / parameter;
}

function numberText(x) {
  return x === null ? "–" : !Number.isFinite(x) ? "NaN/∞" : x === 0 ? "0" : x.toExponential(2);
}

let range = [-1, 0]; // log10 of the smallest and the largest norm that have a colour

function color(x) {
  const { ramp, bad, none, zero } = data.colors;
  if (x === null) return none;
  if (!Number.isFinite(x)) return bad;
  if (x === 0) return zero;
  const share = Math.max(0, Math.min(1, (Math.log10(x) - range[0]) / (range[1] - range[0])));
  const place = share * (ramp.length - 1);
  const low = Math.min(Math.floor(place), ramp.length - 2);
  const parts = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const [a, b] = [parts(ramp[low]), parts(ramp[low + 1])];
  return `rgb(${a.map((part, i) => Math.round(part + (b[i] - part) * (place - low))).join(", ")})`;
}

// Make the parts that do not depend on the step: the cells, the names, the legend.
function makeHeat() {
  range = data.ranges[state.what];
  const canvas = find("cells");
  [canvas.width, canvas.height] = [data.steps.length, data.layers.length];
  canvas.style.height = `${LAYER * data.layers.length}px`;
  setAttributes(canvas, { role: "img", "aria-label": find("heat-title").textContent });
  const context = canvas.getContext("2d");
  data.layers.forEach(({ parameters }, i) =>
    data.steps.forEach((_, at) => {
      context.fillStyle = color(value(parameters, at));
      context.fillRect(at, i, 1, 1);
    }),
  );
}

function makeNames() {
  const boxes = (text) => data.layers.map((layer) => element("div", {}, text(layer)));
  find("names").replaceChildren(...boxes(({ name }) => name));
  find("values").replaceChildren(...boxes(() => ""));
  [...find("names").children].forEach((box, i) => {
    box.addEventListener("pointerenter", () => mark(data.layers[i].parameters));
    box.addEventListener("pointerleave", () => mark([]));
  });
}

function makeLegend() {
  const { ramp, bad, none, zero } = data.colors;
  const item = (background, before, after, kind = null) => {
    const box = element("i", { class: kind });
    box.style.background = background;
    return element("span", {}, before, box, after);
  };
  const clipped = range[1] - range[0] >= data.decades ? "≤ " : "";
  const [low, high] = range.map((power) => numberText(10 ** power));
  const scale = item(`linear-gradient(to right, ${ramp.join(", ")})`, clipped + low, high, "ramp");
  const others = [["zero", zero], ["none", none], ["bad", bad]].map(([name, background]) => item(background, "", word(name)));
  find("legend").replaceChildren(scale, ...others);
  find("axis").replaceChildren(...[data.steps[0], data.steps.at(-1)].map((step) => element("span", {}, step)));
}

function makeFlags() {
  const items = data.flags.map(({ kind, name, words: sentence, values, first }) => {
    const label = element("span", { class: "kind" }, word(`kind_${kind}`));
    const said = word("flag", { name, sentence: word(sentence, values) });
    const jump = () => goTo(data.steps.findIndex((step) => step >= first));
    const link = element("button", { type: "button", onclick: jump }, `→ ${word("step")} ${first}`);
    return element("li", {}, label, " ", said, " ", link);
  });
  find("flags").replaceChildren(...(items.length ? items : [element("li", {}, word("noFlags"))]));
}

// The graph's elements by id, each with its parameters and the text that shows a norm.
const elements = [];

function makeGraph() {
  const alone = data.svg === undefined && data.undrawn === undefined;
  find("graph-section").hidden = alone;
  document.querySelector("main").classList.toggle("alone", alone);
  find("graph").textContent = data.undrawn ?? ""; // why there is no drawing
  if (data.svg === undefined) return;
  const svg = document.importNode(new DOMParser().parseFromString(data.svg, "image/svg+xml").documentElement, true);
  find("graph").append(svg);
  svg.style.maxWidth = `${1.35 * svg.viewBox.baseVal.width}px`;
  svg.style.minWidth = `${0.6 * svg.viewBox.baseVal.width}px`;
  for (const [id, parameters] of Object.entries(data.elements)) {
    const group = svg.querySelector(`#${id}`);
    const box = group?.querySelector("path, polygon");
    if (!box) continue;
    const text = [...group.querySelectorAll("text")].findLast((element) => /^\|?grad/.test(element.textContent));
    const frame = box.getBBox();
    if (text) setAttributes(text, { "text-anchor": "middle", x: frame.x + frame.width / 2 }); // its number will change
    elements.push({ group, box, text: id.startsWith("node") ? text : undefined, parameters });
  }
}

function mark(parameters) {
  for (const element of elements) {
    element.group.classList.toggle("marked", element.parameters.some((p) => parameters.includes(p)));
  }
}

// Write the parts that depend on the step.
function update() {
  const { at } = state;
  const slider = find("step");
  slider.max = data.steps.length - 1;
  slider.value = at;
  slider.setAttribute("aria-valuetext", String(data.steps[at]));
  find("number").textContent = data.steps[at];
  const cursor = find("cursor");
  cursor.style.left = `${(100 * at) / data.steps.length}%`;
  cursor.style.width = `max(5px, ${100 / data.steps.length}%)`;
  [...find("values").children].forEach((box, i) => {
    box.textContent = numberText(value(data.layers[i].parameters, at));
  });
  for (const { box, text, parameters } of elements) {
    const x = value(parameters, at);
    box.style.fill = color(x);
    box.style.fillOpacity = 1; // the SVG has a lower opacity for an open module
    if (text) text.textContent = numberText(x);
  }
  const playing = state.playing !== null;
  find("play").textContent = word(playing ? "pause" : "play");
  find("play").setAttribute("aria-pressed", playing);
}

function goTo(at) {
  state.at = Math.max(0, Math.min(data.steps.length - 1, at));
  update();
}

function play() {
  clearInterval(state.playing);
  state.playing = state.playing === null ? setInterval(tick, Math.max(40, 6000 / data.steps.length)) : null;
  if (state.playing !== null && state.at === data.steps.length - 1) state.at = 0;
  update();
}

function tick() {
  if (state.at === data.steps.length - 1) play();
  else goTo(state.at + 1);
}

function showAll() {
  const options = ["gradient", "parameter", "update", "ratio"].map((what) => new Option(word(what), what));
  find("what").replaceChildren(...options);
  find("what").value = state.what;
  find("heat-title").textContent = word(state.what === "ratio" ? "heatRatio" : "heat");
  makeHeat();
  makeLegend();
  makeFlags();
  update();
}

function pointed(event) {
  const box = find("cells").getBoundingClientRect();
  goTo(Math.floor(((event.clientX - box.left) / box.width) * data.steps.length));
}

find("frame").addEventListener("pointerdown", (event) => {
  event.currentTarget.setPointerCapture(event.pointerId);
  pointed(event);
});
find("frame").addEventListener("pointermove", (event) => {
  if (event.buttons) pointed(event);
});
find("step").addEventListener("input", (event) => goTo(Number(event.target.value)));
find("play").addEventListener("click", play);
find("what").addEventListener("change", (event) => {
  state.what = event.target.value;
  showAll();
});
makeNames();
makeGraph();
words.listen(showAll);
