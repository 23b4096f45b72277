// Gradients through training: a slider chooses a step, and heat map, numbers and graph show the norms of that step.

const data = pageData();
const state = { at: data.steps.length - 1, what: "gradient", playing: null };
const find = (id) => document.getElementById(id);
const LAYER = 20; // pixels of a layer's row

// Norms of a parameter: null where there was no gradient, Infinity where there was a NaN or an infinity.
const norms = Object.fromEntries(Object.entries(data.norms).map(([what, rows]) => [what, rows.map((row) => row.map((x) => x === null ? null : Number(x)))]));

// The norm of several parameters together.
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

// log10 of the smallest and the largest norm of any layer, as in the picture.
function limits() {
  let [low, high] = [Infinity, -Infinity];
  for (const { parameters } of data.layers) {
    data.steps.forEach((_, at) => {
      const x = value(parameters, at);
      if (x > 0 && Number.isFinite(x)) [low, high] = [Math.min(low, Math.log10(x)), Math.max(high, Math.log10(x))];
    });
  }
  if (low > high) return [-1, 0];
  return high - low < 0.1 ? [low - 0.5, high + 0.5] : [Math.max(low, high - data.decades), high];
}

let range = [-1, 0];

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

// What does not depend on the step: the cells, the names, the legend.
function makeHeat() {
  range = limits();
  const canvas = find("cells");
  [canvas.width, canvas.height] = [data.steps.length, data.layers.length];
  canvas.style.height = `${LAYER * data.layers.length}px`;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", find("heat-title").textContent);
  const context = canvas.getContext("2d");
  data.layers.forEach(({ parameters }, i) =>
    data.steps.forEach((_, at) => {
      context.fillStyle = color(value(parameters, at));
      context.fillRect(at, i, 1, 1);
    }),
  );
}

function makeNames() {
  const boxes = (id, text) =>
    find(id).replaceChildren(
      ...data.layers.map((layer) => {
        const box = document.createElement("div");
        box.textContent = text(layer);
        return box;
      }),
    );
  boxes("names", ({ name }) => name);
  boxes("values", () => "");
  [...find("names").children].forEach((box, i) => {
    box.addEventListener("pointerenter", () => mark(data.layers[i].parameters));
    box.addEventListener("pointerleave", () => mark([]));
  });
}

function makeLegend() {
  const { ramp, bad, none, zero } = data.colors;
  const item = (text, background, after = "") => {
    const span = document.createElement("span");
    const box = document.createElement("i");
    box.style.background = background;
    span.append(text, box, after);
    return span;
  };
  const clipped = range[1] - range[0] >= data.decades ? "≤ " : "";
  const scale = item(clipped + numberText(10 ** range[0]), `linear-gradient(to right, ${ramp.join(", ")})`, numberText(10 ** range[1]));
  scale.querySelector("i").className = "ramp";
  const others = [["zero", zero], ["none", none], ["bad", bad]].map(([word, box]) => item("", box, words.text(word)));
  find("legend").replaceChildren(scale, ...others);
  const ends = [data.steps[0], data.steps.at(-1)].map((step) => {
    const span = document.createElement("span");
    span.textContent = step;
    return span;
  });
  find("axis").replaceChildren(...ends);
}

function makeFlags() {
  const items = data.flags.map(({ kind, name, words: sentence, values, first }) => {
    const item = document.createElement("li");
    const label = document.createElement("span");
    label.className = "kind";
    label.textContent = words.text(`kind_${kind}`);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `→ ${words.text("step")} ${first}`;
    button.addEventListener("click", () => goTo(data.steps.findIndex((step) => step >= first)));
    item.append(label, " ", words.text("flag", { name, sentence: words.text(sentence, values) }), " ", button);
    return item;
  });
  const fine = document.createElement("li");
  fine.textContent = words.text("noFlags");
  find("flags").replaceChildren(...(items.length ? items : [fine]));
}

// The graph: elements by id, each with the parameters it stands for and the text that shows a norm.
const elements = [];

function makeGraph() {
  find("graph-section").hidden = data.svg === undefined;
  document.querySelector("main").classList.toggle("alone", data.svg === undefined);
  if (data.svg === undefined) return;
  const svg = document.importNode(new DOMParser().parseFromString(data.svg, "image/svg+xml").documentElement, true);
  find("graph").append(svg);
  svg.style.maxWidth = `${1.35 * svg.viewBox.baseVal.width}px`;
  svg.style.minWidth = `${0.6 * svg.viewBox.baseVal.width}px`;
  for (const [id, parameters] of Object.entries(data.elements)) {
    const group = svg.querySelector(`#${id}`);
    const box = group?.querySelector("path, polygon, ellipse");
    if (!box) continue;
    const text = [...group.querySelectorAll("text")].findLast((element) => element.textContent.startsWith("grad"));
    const frame = box.getBBox();
    text?.setAttribute("text-anchor", "middle");
    text?.setAttribute("x", frame.x + frame.width / 2);
    elements.push({ group, box, text: id.startsWith("node") ? text : undefined, parameters });
  }
}

function mark(parameters) {
  for (const element of elements) {
    element.group.classList.toggle("marked", element.parameters.some((p) => parameters.includes(p)));
  }
}

// What depends on the step.
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
    box.style.fillOpacity = 1; // of an open module it is less
    if (text) text.textContent = numberText(x);
  }
  const playing = state.playing !== null;
  find("play").textContent = words.text(playing ? "pause" : "play");
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
  const options = ["gradient", "parameter", "update", "ratio"].map((what) => new Option(words.text(what), what));
  find("what").replaceChildren(...options);
  find("what").value = state.what;
  find("heat-title").textContent = words.text(state.what === "ratio" ? "heatRatio" : "heat");
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
