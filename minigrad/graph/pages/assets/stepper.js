// The stepper: which step it is, and everything that follows from that. Nothing is added up as the reader goes: each picture is
// made from the number of the step alone, so that Back restores exactly.

const original = pageData();
let graph = original; // with other numbers while the reader edits a value
const state = {
  step: 0, // how many steps have been applied
  selected: original.end[0],
  open: new Set(original.open),
  playing: null,
  digits: false,
  matches: [],
  match: -1,
};
const find = (id) => document.getElementById(id);

const word = (name, values) => words.text(name, values);

// The backward pass, at any step.
const backward = {
  steps: original.steps.map(([edge, kind]) => ({ edge, kind })),

  // Whether the step adds to a gradient: not if its product must be made to fit first.
  adds(step) {
    const { edge, kind } = this.steps[step - 1];
    return kind === "fit" || graph.edges[edge].amount === null;
  },

  receiver(step) {
    return step === 0 ? null : graph.edges[this.steps[step - 1].edge].source;
  },

  // The steps that add to the gradient of a node's output, in their order, each with its edge.
  arrivals(node, output) {
    if (this.found === undefined) {
      this.found = graph.nodes.map(() => new Map());
      this.steps.forEach(({ edge }, i) => {
        if (!this.adds(i + 1)) return;
        const { source, output: of } = graph.edges[edge];
        if (!this.found[source].has(of)) this.found[source].set(of, []);
        this.found[source].get(of).push({ step: i + 1, edge });
      });
    }
    return this.found[node].get(output) ?? [];
  },

  arrived(node, output, step) {
    return this.arrivals(node, output).filter((arrival) => arrival.step <= step);
  },

  missing(node, output, step) {
    return this.arrivals(node, output).length - this.arrived(node, output, step).length;
  },

  // The step after which a node's gradient is complete; 0 if none leads there.
  completed(node) {
    const last = graph.nodes[node].gradients.map((_, output) => this.arrivals(node, output).at(-1)?.step ?? 0);
    return Math.max(0, ...last);
  },

  // The gradient so far, or null.
  gradient(node, output, step) {
    const whole = graph.nodes[node].gradients[output];
    if (this.arrivals(node, output).length === 0) return node === graph.end[0] && output === graph.end[1] ? whole : null;
    const arrived = this.arrived(node, output, step);
    if (arrived.length === 0) return null;
    return this.missing(node, output, step) || whole === null ? graph.edges[arrived.at(-1).edge].sum : whole;
  },

  // Whether a hook made another gradient of the sum.
  hooked(node, output, step) {
    const whole = graph.nodes[node].gradients[output];
    const arrived = this.arrived(node, output, step);
    if (whole === null || arrived.length === 0 || this.missing(node, output, step)) return false;
    const sum = graph.edges[arrived.at(-1).edge].sum;
    const size = Math.max(norm(whole), norm(sum));
    return Math.abs(norm(whole) - norm(sum)) > 1e-3 * size || (sum.values ?? []).some((v, i) => Math.abs(v - whole.values[i]) > 1e-3 * size);
  },
};

// What the drawing writes on a node.
function nodeTexts(number) {
  const node = graph.nodes[number];
  const short = (array) => (isScalar(array) ? numberText(array.values[0]) : shapeText(array.shape));
  const value = node.values.every((v) => v !== null) ? node.values.map(short).join(", ") : node.details;
  const gradient = quiz.hides(state.step) && backward.receiver(state.step) === number ? "grad ?" : gradientText(number);
  const known = gradient !== "grad –";
  return { value, gradient, known, label: `${nameOf(number)}: ${value}; ${node.kind === "constant" ? "" : gradient}` };
}

// "grad 0.61", "grad 0.61 + 0.22 = 0.83"; of arrays the norm, and how many addends it has.
function gradientText(number) {
  const node = graph.nodes[number];
  const gradients = node.gradients.map((_, output) => backward.gradient(number, output, state.step));
  const known = gradients.filter((gradient) => gradient !== null);
  if (known.length === 0) return "grad –";
  const arrivals = node.gradients.flatMap((_, output) => backward.arrived(number, output, state.step));
  if (gradients.length > 1 || !isScalar(known[0])) {
    const many = arrivals.length > 1 ? ` Σ ${arrivals.length}` : "";
    return `|grad| ${numberText(Math.hypot(...known.map(norm)))}${many}`;
  }
  const total = numberText(known[0].values[0]);
  if (arrivals.length < 2) return `grad ${total}`;
  const scalar = (array) => numberText(array.values[0]);
  const before = graph.edges[arrivals.at(-2).edge].sum;
  return `grad ${scalar(before)} + ${scalar(amountOf(arrivals.at(-1).edge))} = ${total}`;
}

function amountText() {
  if (state.step === 0 || quiz.hides(state.step)) return quiz.on && state.step ? "?" : "";
  const { edge, kind } = backward.steps[state.step - 1];
  const array = kind === "fit" ? graph.edges[edge].amount : graph.edges[edge].raw;
  return isScalar(array) ? numberText(array.values[0]) : `norm ${numberText(norm(array))}`;
}

function render() {
  const { step } = state;
  const current = step === 0 ? null : graph.edges[backward.steps[step - 1].edge];
  drawing.data = graph;
  drawing.update({
    edge: step === 0 ? null : backward.steps[step - 1].edge,
    past: backward.steps.slice(0, Math.max(step - 1, 0)).map(({ edge }) => edge),
    applies: current && current.target,
    receives: current && current.source,
    selected: state.selected,
    texts: nodeTexts,
    amount: amountText(),
    matches: state.matches,
  });
  const focused = document.activeElement?.dataset.key;
  const typed = document.activeElement?.value;
  find("quiz-section").replaceChildren(...quiz.section());
  find("quiz-section").hidden = find("quiz-section").childElementCount === 0;
  find("step-section").replaceChildren(...editing.banner(), ...stepSection());
  find("node-section").replaceChildren(...nodeSection(state.selected).filter((part) => part !== null));
  if (focused) {
    const again = document.querySelector(`[data-key="${focused}"]`);
    (again ?? find("next")).focus({ preventScroll: true });
    if (again?.tagName === "INPUT" && again.value === "") again.value = typed;
  }
  find("count").textContent = `${step} / ${backward.steps.length}`;
  find("timeline").max = backward.steps.length;
  find("timeline").value = step;
  find("back").disabled = find("first").disabled = step === 0;
  find("next").disabled = step === backward.steps.length;
  find("play").textContent = word(state.playing === null ? "play" : "pause");
  find("play").setAttribute("aria-pressed", state.playing !== null);
  find("found").textContent = foundText();
}

function foundText() {
  if (find("search").value.trim() === "") return "";
  return state.matches.length === 0 ? word("notFound") : `${state.match + 1} / ${state.matches.length}`;
}

// Say to screen readers what the step did.
function announce() {
  const where = word("stepOf", { step: state.step, count: backward.steps.length });
  if (state.step === 0 || quiz.hides(state.step)) {
    find("live").textContent = where;
    return;
  }
  const edge = graph.edges[backward.steps[state.step - 1].edge];
  const { operation } = graph.nodes[edge.target];
  const said = { operation, argument: edge.argument, amount: amountText(), name: nameOf(edge.source), gradient: gradientText(edge.source).replace("grad ", "") };
  find("live").textContent = `${where} ${word("said", said)}`;
}

function go(step) {
  state.step = Math.min(Math.max(step, 0), backward.steps.length);
  quiz.begin();
  state.selected = backward.receiver(state.step) ?? graph.end[0];
  if (state.step === backward.steps.length || quiz.on) stop();
  render();
  announce();
  const applies = state.step === 0 ? graph.end[0] : graph.edges[backward.steps[state.step - 1].edge].target;
  drawing.bringIntoSight(applies, state.selected);
}

function select(node) {
  state.selected = node;
  render();
  drawing.bringIntoSight(node);
}

function toggleModule(module) {
  if (state.open.has(module)) state.open.delete(module);
  else state.open.add(module);
  showModules();
}

function showModules() {
  const hadFocus = find("graph").contains(document.activeElement);
  drawing.show(state.open);
  render();
  drawing.bringIntoSight(state.selected);
  if (hadFocus) drawing.focus(state.selected);
}

// Open what is closed around a node.
function reveal(node) {
  const closed = drawing.around(node).filter((m) => !state.open.has(m) && drawing.canOpen(m));
  closed.forEach((m) => state.open.add(m));
  if (closed.length > 0) showModules();
}

function play() {
  if (state.step === backward.steps.length) go(0);
  const rate = [0.5, 1, 2, 4, 8, 16][find("speed").value]; // steps a second
  state.playing = setTimeout(() => {
    const playing = state.playing;
    go(state.step + 1);
    if (state.playing === playing) play();
  }, 1000 / rate);
  render();
}

function stop() {
  clearTimeout(state.playing);
  state.playing = null;
}

function togglePlay() {
  if (state.playing === null) return play();
  stop();
  render();
}

// The nodes in whose name, operation, module or source line the text is.
function search(text) {
  const wanted = text.trim().toLowerCase();
  const about = (node, i) => [node.name, node.operation, node.details, ...drawing.around(i).map((m) => graph.modules[m].name), ...(node.source ?? []).slice(0, 3)].join(" ").toLowerCase();
  state.matches = wanted === "" ? [] : graph.nodes.flatMap((node, i) => (about(node, i).includes(wanted) ? [i] : []));
  state.match = -1;
  render();
}

function nextMatch() {
  if (state.matches.length === 0) return;
  state.match = (state.match + 1) % state.matches.length;
  reveal(state.matches[state.match]);
  select(state.matches[state.match]);
}

function leaveSearch() {
  find("search").value = "";
  search("");
  drawing.focus(state.selected);
}

// Up and down in the drawing: to the node before or after.
function move(by) {
  const parts = drawing.parts();
  const at = parts.indexOf(drawing.drawn(state.selected));
  select(parts[Math.min(Math.max(at + by, 0), parts.length - 1)].shown);
  drawing.focus(state.selected);
}

const KEYS = {
  ArrowRight: () => go(state.step + 1),
  ArrowLeft: () => go(state.step - 1),
  Home: () => go(0),
  End: () => go(backward.steps.length),
  " ": togglePlay,
  "/": () => find("search").focus(),
  "+": () => drawing.zoom(drawing.shownScale * 1.25),
  "-": () => drawing.zoom(drawing.shownScale / 1.25),
  "0": () => drawing.zoom(null),
  Escape: () => {
    stop();
    render();
  },
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { target, key } = event;
  if (target.matches("select, input:not([type=checkbox])")) { // its keys are its own
    if (key === "Escape" && target === find("search")) leaveSearch();
    if (key === "Enter" && target === find("search")) nextMatch();
    return;
  }
  const inGraph = find("graph").contains(target);
  if (inGraph && (key === "ArrowUp" || key === "ArrowDown")) move(key === "ArrowUp" ? -1 : 1);
  else if (key === " " && target.matches("button, input, summary")) return;
  else if (KEYS[key] !== undefined) KEYS[key]();
  else return;
  event.preventDefault();
}

const drawing = new Drawing(find("graph"), graph, { select, toggle: toggleModule });
const on = (id, kind, act) => find(id).addEventListener(kind, (event) => act(event.target));
document.addEventListener("keydown", onKey);
on("first", "click", () => go(0));
on("back", "click", () => go(state.step - 1));
on("next", "click", () => go(state.step + 1));
on("play", "click", togglePlay);
on("timeline", "input", ({ value }) => go(Number(value)));
on("search", "input", ({ value }) => search(value));
on("digits", "change", ({ checked }) => {
  state.digits = checked;
  render();
});
on("quiz", "change", ({ checked }) => {
  quiz.on = checked;
  quiz.begin();
  quiz.answered.clear();
  stop();
  render();
});
on("close-all", "click", () => {
  state.open.clear();
  showModules();
});
on("open-all", "click", () => {
  graph.modules.forEach((_, m) => drawing.canOpen(m) && state.open.add(m));
  showModules();
});
on("smaller", "click", KEYS["-"]);
on("whole", "click", KEYS["0"]);
on("larger", "click", KEYS["+"]);
addEventListener("resize", () => drawing.zoom(drawing.scale));
find("modules").hidden = graph.modules.length === 0;
drawing.show(state.open);
words.listen(() => {
  document.title = find("title").textContent = `${word("title")}: ${nameOf(graph.end[0])}`;
  render();
});
