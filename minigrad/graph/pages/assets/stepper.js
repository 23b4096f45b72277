// The stepper keeps the current step and writes everything that depends on it. Values and gradients depend only on the step's number.
//
// The scripts form layers, and each layer uses those before it: words, elements, unpack, arrays (texts and helpers); nd, numpy, python,
// whatif (they compute the program again); timeline, mistakes, places (the state at a step, and the place in the program); heat, equation,
// code, written (one drawing each); camera, parts, picture, hand, scene (the graph); node, panel (the text next to it); quiz, editing,
// play, lesson (input of the reader); look (projector, theme); and this script.

const state = {
  step: 0, // the number of applied steps
  scene: 0, // the visible scene; iteration is that of a loop
  iteration: 0,
  selected: original.end[0],
  hover: null,
  cell: 0, // the element that the equation of an elementwise operation shows
  playing: null,
  whole: false, // whether playing shows the whole program
  seconds: 10, // for the whole program
  get digits() {
    return find("digits").checked;
  },
  matches: new Set(),
  match: -1,
};

const view = new SceneView(find("graph"));

// Showing the state

function render(fly = false, node = null, whole = state.whole) {
  view.show(state.scene, state.iteration);
  if (fly || camera.scale === 0) view.aim(node, whole);
  draw();
  if (fly) view.nearer();
  if (fly) view.fly();
  else view.place();
}

function draw() {
  const inGraph = find("graph").contains(document.activeElement);
  renderPlace();
  refill(find("title-section"), panel.title());
  refill(find("step-section"), panel.step());
  refill(find("small-section"), [panel.smallPrint()]);
  refill(find("node-section"), nodeSection(state.selected));
  refill(find("lesson-section"), lesson.section());
  refill(find("quiz-section"), quiz.section());
  data.render();
  play.render();
  document.body.classList.toggle("in-backward", state.step > timeline.turn);
  document.body.classList.toggle("at-end", state.step === timeline.count);
  renderControls();
  // These come last, because they measure: a text written later would make the browser lay out the page again.
  light();
  fitFormula();
  if (inGraph && document.activeElement === document.body) find("graph").focus({ preventScroll: true });
}

// Highlight the values of the step, the selection, and the node under the pointer, in the graph and in the program.
function light() {
  const { step, selected, hover, matches } = state;
  view.update({ selected, hover, matches });
  code.update({ active: timeline.at(step)?.target ?? null, selected, hover, backward: step > timeline.turn }, find("code-pane"));
  written.update(step);
}

function renderControls() {
  const { step } = state;
  setText(find("count"), `${step} / ${timeline.count}`);
  find("timeline").value = step;
  find("timeline").setAttribute("aria-valuetext", word("stepOf", { step, count: timeline.count }));
  find("back").disabled = find("first").disabled = step === 0;
  find("next").disabled = find("last").disabled = step === timeline.count;
  setText(find("play"), state.playing === null ? `▶ ${word("play")}` : `❚❚ ${word("pause")}`);
  find("play").setAttribute("aria-pressed", state.playing !== null);
  const found = state.matches.size === 0 ? word("notFound") : `${state.match + 1} / ${state.matches.size}`;
  setText(find("found"), find("search").value.trim() === "" ? "" : found);
}

// Write the path of the scene, with links to the scenes around it, and the iteration of a loop.
function renderPlace() {
  const path = places.path(state.scene, state.iteration);
  const crumbs = path.flatMap(({ scene, iteration }, i) => {
    const about = places.scenes[scene];
    const title = about.kind === "loop" ? `${sceneTitle(about, iteration)} (${word("ofLoop", { at: iteration + 1, count: about.count })})` : sceneTitle(about);
    const last = i === path.length - 1;
    const made = button(`path${i}`, title, () => open(scene, iteration), { class: "link", "aria-current": last ? "location" : null, disabled: last });
    return i === 0 ? [made] : [element("span", { "aria-hidden": "true" }, " › "), made];
  });
  refill(find("path"), crumbs);
  refill(find("legend"), panel.legend());
  const loop = shownLoop();
  find("loop").hidden = loop === undefined;
  if (loop === undefined) return;
  const { count } = places.scenes[loop.scene];
  Object.assign(find("iteration"), { max: count, value: loop.iteration + 1 });
  find("iteration").setAttribute("aria-valuetext", word("ofLoop", { at: loop.iteration + 1, count }));
  find("loop-back").disabled = loop.iteration === 0;
  find("loop-next").disabled = loop.iteration === count - 1;
}

// Return a sentence with the gradient so far, or with its norm for an array.
function said({ source, edge }) {
  const text = gradientTexts(source, [timeline.gradient(source, graph.edges[edge].output, state.step)])[0];
  return word(text.startsWith("‖") ? "saidNorm" : "saidSum", { name: equation.derivativeText(source), gradient: text.replace(/^‖?∂‖? /, "") });
}

// Describe the step to screen readers.
function announce() {
  const where = word("stepOf", { step: state.step, count: timeline.count });
  const at = timeline.at(state.step);
  const sum = at !== null && at.source !== null && timeline.adds(state.step) && !quiz.hides(state.step) ? said(at) : "";
  setText(find("live"), `${where} ${equation.text(state.step)} ${sum}`.trim());
}

// Going from step to step

function go(step) {
  state.step = Math.min(Math.max(Math.round(step) || 0, 0), timeline.count);
  state.cell = 0;
  if (timeline.at(state.step) !== null) {
    const { nodes, answer } = depends.of(state.step);
    state.cell = heat.first(answer, depends.usual(nodes.answer, answer));
  }
  quiz.begin();
  const at = timeline.at(state.step);
  state.selected = at === null ? graph.end[0] : (at.source ?? at.target);
  if (state.step === timeline.count) stop();
  follow();
  if (camera.wanted !== null && camera.wanted < camera.full) camera.wanted = null;
  render(true);
  if (!state.whole) announce();
  link();
}

// Show the scene of the step. Before the first step, and at the last one, that is the whole program.
function follow() {
  const target = state.whole || state.step === timeline.count ? undefined : timeline.at(state.step)?.target;
  state.scene = target === undefined ? 0 : places.ofNode(target);
  state.iteration = target === undefined ? 0 : places.iterationOfNode[target];
}

function link() {
  try {
    history.replaceState(null, "", `#step=${state.step}`);
  } catch {
    // A frame without its own address has no history.
  }
}

function linked() {
  const found = /^#step=(\d+)$/.exec(location.hash || window.name); // a page that frames this one gives the frame such a name
  return found === null ? null : Number(found[1]);
}

// Showing another scene, without a step

function select(node) {
  state.selected = node;
  const here = places.boxOf(state.scene, state.iteration, node);
  if (here < 0) return visit(node);
  render(!camera.isInside(view.scene.boxes[here], view.pane), node);
}

function visit(node) {
  state.selected = node;
  state.scene = places.ofNode(node);
  state.iteration = places.iterationOfNode[node];
  render(true, node);
}

function open(scene, iteration) {
  const at = timeline.at(state.step);
  const now = at === null ? null : places.path(places.ofNode(at.target), places.iterationOfNode[at.target]).find((one) => one.scene === scene);
  enter(scene, now && iteration === 0 ? now.iteration : iteration);
}

function enter(scene, iteration) {
  Object.assign(state, { scene, iteration });
  render(true);
}

// Fly up until the whole program is in sight.
function wholeProgram() {
  Object.assign(state, { scene: 0, iteration: 0 });
  stop();
  render(true, null, true);
}

// Show another iteration of the visible loop, or of the loop around the visible scene.
function turnLoop(to) {
  const path = places.path(state.scene, state.iteration);
  const i = path.findLastIndex(({ scene }) => places.scenes[scene].kind === "loop");
  const loop = path[i].scene;
  const iteration = Math.min(Math.max(to, 0), places.scenes[loop].count - 1);
  const child = path[i + 1] && places.scenes[loop].boxes.find(({ scene }) => Array.isArray(scene) && scene.includes(path[i + 1].scene));
  const inside = child?.scene[iteration] ?? null;
  enter(inside ?? loop, inside === null ? iteration : 0);
}

const shownLoop = () => places.path(state.scene, state.iteration).findLast(({ scene }) => places.scenes[scene].kind === "loop");

function setHover(node) {
  if (state.hover === node) return;
  state.hover = node;
  light();
}

function chooseCell(flat) {
  state.cell = flat;
  render();
}

// Playing

function playOn(whole = false) {
  if (state.step === timeline.count) go(0);
  state.whole = whole;
  const start = performance.now();
  const pause = () => (whole ? Math.max(50, (1000 * state.seconds) / timeline.count) : 1000 / Number(find("speed").value));
  // Return the step that the whole program has reached by now, however long the page takes to draw a step.
  const due = () => (whole ? Math.floor((timeline.count * (performance.now() - start)) / 1000 / state.seconds) : 0);
  const next = () => {
    const { playing } = state;
    go(Math.max(state.step + 1, due()));
    if (state.playing !== playing) return;
    if ((!whole && lesson.places().includes(state.step)) || quiz.on) stop();
    else state.playing = setTimeout(next, pause());
    renderControls();
  };
  state.playing = setTimeout(next, pause());
  renderControls();
}

function stop() {
  clearTimeout(state.playing);
  Object.assign(state, { playing: null, whole: false });
}

// Play the whole program in ten seconds: the values fill in, then the gradients flow back, each as a pulse of its width.
function overview() {
  if (state.whole) return togglePlay();
  if (quiz.on || lesson.asks) return setText(find("live"), word("overviewAsks"));
  stop();
  go(0);
  playOn(true);
}

function togglePlay() {
  if (state.playing === null) return playOn();
  stop();
  renderControls();
}

// Searching

function search(text) {
  const wanted = text.trim().toLowerCase();
  const about = (node) => [node.named ? node.name : "", node.operation, original.modules[node.module]?.name].join("\n").toLowerCase();
  state.matches = new Set(wanted === "" ? [] : graph.nodes.flatMap((node, i) => (about(node).includes(wanted) ? [i] : [])));
  state.match = -1;
  render();
}

function nextMatch() {
  if (state.matches.size === 0) return;
  state.match = (state.match + 1) % state.matches.size;
  visit([...state.matches][state.match]);
}

function leaveSearch() {
  find("search").value = "";
  search("");
  find("graph").focus();
}

// Go to the previous or the next box of the scene.
function move(by) {
  const now = Number(document.activeElement?.closest("[data-box]")?.dataset.box ?? places.boxOf(state.scene, state.iteration, state.selected));
  const order = view.boxes.map(({ index, about }) => ({ index, about })).sort((a, b) => a.about.y - b.about.y || a.about.x - b.about.x).map(({ index }) => index);
  const to = order[Math.min(Math.max(order.indexOf(now) + by, 0), order.length - 1)];
  const { node } = view.boxes[to].now;
  if (node !== null) select(node);
  if (!camera.isInside(view.boxes[to].about, view.pane)) {
    camera.frame([view.boxes[to].about], view.scene, view.pane);
    view.place();
  }
  view.boxes[to].group.focus({ preventScroll: true });
}

const zoomBy = (factor) => {
  camera.zoom(factor, view.pane);
  view.place();
};

const KEYS = {
  ArrowRight: () => go(state.step + 1),
  ArrowLeft: () => go(state.step - 1),
  Home: () => go(0),
  End: () => go(timeline.count),
  " ": togglePlay,
  "/": () => find("search").focus(),
  "+": () => zoomBy(1.25),
  "=": () => zoomBy(1.25),
  "-": () => zoomBy(0.8),
  "0": wholeProgram,
  Escape: wholeProgram,
  O: overview,
  P: toggleProjector,
};
const BUTTONS = { first: "Home", back: "ArrowLeft", next: "ArrowRight", last: "End", play: " ", smaller: "-", larger: "+", fit: "0", projector: "P" };

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { target } = event;
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  if (target.matches("select, textarea, input:not([type=checkbox])")) { // the field handles these keys itself
    if (key === "Escape" && target === find("search")) leaveSearch();
    if (key === "Enter" && target === find("search")) nextMatch();
    if (!(target === find("timeline") && key === " ")) return;
  }
  const inGraph = find("graph").contains(target);
  if (inGraph && (key === "ArrowUp" || key === "ArrowDown")) move(key === "ArrowUp" ? -1 : 1);
  else if (key === " " && target.matches("button, input[type=checkbox], summary")) return;
  else if (KEYS[key] !== undefined) KEYS[key]();
  else return;
  event.preventDefault();
}

// Wiring

const on = (id, kind, act) => find(id).addEventListener(kind, (event) => act(event.target));
document.addEventListener("keydown", onKey);
for (const [id, key] of Object.entries(BUTTONS)) on(id, "click", KEYS[key]);
on("timeline", "input", ({ value }) => go(Number(value)));
on("search", "input", ({ value }) => search(value));
on("iteration", "input", ({ value }) => turnLoop(Number(value) - 1));
on("loop-back", "click", () => turnLoop(shownLoop().iteration - 1));
on("loop-next", "click", () => turnLoop(shownLoop().iteration + 1));
on("digits", "change", () => render());
on("quiz", "change", () => {
  quiz.begin();
  stop();
  render();
});
on("theme", "click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  renderTheme();
});
addEventListener("hashchange", () => {
  const step = linked();
  if (step !== null && step !== state.step) go(step);
});
new ResizeObserver(() => {
  const first = view.number === null;
  view.measure();
  if (first) return;
  const turned = view.number === null; // another layout is larger now
  if (turned) view.show(state.scene, state.iteration);
  view.aim(null, view.whole);
  if (turned) draw();
  else light();
  view.nearer();
  if (view.svg.classList.contains("flying")) view.fly(); // on to where the step is now
  else view.place();
}).observe(find("graph"));

// In print, the visible part keeps its proportions.
addEventListener("beforeprint", () => view.svg.setAttribute("viewBox", `0 0 ${view.pane.width} ${view.pane.height}`));
addEventListener("afterprint", () => view.svg.removeAttribute("viewBox"));

find("timeline").max = timeline.count;
find("track").style.setProperty("--turn", timeline.count === 0 ? 0 : timeline.turn / timeline.count);
document.body.classList.toggle("no-code", code.isEmpty && written.isEmpty);
code.build(find("code-pane"));
written.build(find("written-pane"));
state.step = Math.min(linked() ?? 0, timeline.count);
words.listen(() => {
  document.title = find("title").textContent = `${word("title")}: ${original.title ?? labelOf(original.end[0])}`;
  renderTheme();
  written.renderWords();
  if (view.number === null) return go(state.step);
  render();
});
