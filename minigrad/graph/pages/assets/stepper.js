// The stepper: which step it is, and everything that follows from that. Each picture is made from the step's number alone.
//
// The floor plan, each storey knowing only those before it: words, arrays, elements (texts and small tools); timeline, places
// (what is known at a step, and where in the program it is); equation, code, heat (one thing each, drawn); camera, parts, hand,
// scene (the graph); node, panel (beside it); quiz, editing, play, lesson (what the reader does); and this.

const state = {
  step: 0, // how many steps have been applied
  scene: 0, // the one in sight, and of a loop the iteration
  iteration: 0,
  selected: original.end[0],
  hover: null,
  cell: 0, // of arrays that are taken element by element, the one whose numbers the equation shows
  playing: null,
  digits: false,
  matches: new Set(),
  match: -1,
};

const view = new SceneView(find("graph"), {
  select: (node) => (quiz.pick ? quiz.pick(operandsOf(node), [node]) : select(node)),
  line: (edges) => (quiz.pick ? quiz.pick(edges, []) : edges.length > 0 && select(graph.edges[edges[0]].source)),
  hover: setHover,
  open: (scene) => open(scene, 0),
  visit: (node) => visit(node),
  placed: (scale) => find("graph-pane").classList.toggle("small", scale < camera.READABLE),
});

// What is shown

function render() {
  draw();
  if (camera.scale === 0) view.frame();
  else view.pin();
}

function draw() {
  const { step } = state;
  const at = timeline.at(step);
  const focused = document.activeElement?.dataset?.key;
  const inGraph = find("graph").contains(document.activeElement);
  view.show(state.scene, state.iteration);
  renderPlace();
  const parts = (id, found) => find(id).replaceChildren(...found.filter((part) => part !== null));
  parts("title-section", panel.title());
  parts("step-section", panel.step());
  parts("small-section", [panel.smallPrint()]);
  parts("node-section", nodeSection(state.selected));
  for (const part of [lesson, quiz, play]) part.render();
  document.body.classList.toggle("in-backward", step > timeline.turn);
  renderControls();
  // The last, as they measure: what is written after that would have the browser lay out the page again.
  view.update({ selected: state.selected, hover: state.hover, matches: state.matches });
  code.update({ active: at?.target ?? null, selected: state.selected, hover: state.hover, backward: step > timeline.turn }, find("code-pane"));
  if (inGraph && document.activeElement === document.body) find("graph").focus({ preventScroll: true });
  if (focused && document.activeElement === document.body) (document.querySelector(`[data-key="${CSS.escape(focused)}"]`) ?? find("next")).focus({ preventScroll: true });
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
  setText(find("found"), foundText());
}

// Where the scene is: the way out, and of a loop which iteration.
function renderPlace() {
  const path = places.path(state.scene, state.iteration);
  const key = `${path.map(({ scene, iteration }) => `${scene}.${iteration}`)} ${words.language}`;
  if (renderPlace.key === key) return;
  renderPlace.key = key;
  const crumbs = path.flatMap(({ scene, iteration }, i) => {
    const about = places.scenes[scene];
    const title = about.kind === "loop" ? `${sceneTitle(about)} ${word("ofLoop", { at: iteration + 1, count: about.count })}` : sceneTitle(about);
    const last = i === path.length - 1;
    const made = button(`path${i}`, title, () => open(scene, iteration), { class: "link", "aria-current": last ? "location" : null, disabled: last });
    return i === 0 ? [made] : [element("span", { "aria-hidden": "true" }, " › "), made];
  });
  find("path").replaceChildren(...crumbs);
  find("path").scrollLeft = find("path").scrollWidth;
  const loop = path.findLast(({ scene }) => places.scenes[scene].kind === "loop");
  find("loop").hidden = loop === undefined;
  if (loop === undefined) return;
  const { count } = places.scenes[loop.scene];
  Object.assign(find("iteration"), { max: count, value: loop.iteration + 1 });
  find("iteration").setAttribute("aria-valuetext", word("ofLoop", { at: loop.iteration + 1, count }));
  find("loop-back").disabled = loop.iteration === 0;
  find("loop-next").disabled = loop.iteration === count - 1;
}

function foundText() {
  if (find("search").value.trim() === "") return "";
  return state.matches.size === 0 ? word("notFound") : `${state.match + 1} / ${state.matches.size}`;
}

// What a gradient has come to: of an array its norm.
function said({ source, edge }) {
  const text = gradientTexts(source, [timeline.gradient(source, graph.edges[edge].output, state.step)])[0];
  return word(text.startsWith("‖") ? "saidNorm" : "saidSum", { name: equation.derivativeText(source), gradient: text.replace(/^‖?∂‖? /, "") });
}

// Say to screen readers what the step did.
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
  quiz.begin();
  const at = timeline.at(state.step);
  state.selected = at === null ? graph.end[0] : (at.source ?? at.target);
  if (state.step === timeline.count) stop();
  follow();
  if (camera.wanted !== null && camera.wanted < camera.READABLE) camera.wanted = null;
  draw();
  view.frame();
  announce();
  link();
}

// See the scene of the step.
function follow() {
  state.scene = places.of(state.step === 0 ? 1 : state.step);
  const target = timeline.at(Math.max(state.step, 1))?.target;
  state.iteration = target === undefined ? 0 : places.iterationOfNode[target];
}

function link() {
  try {
    history.replaceState(null, "", `#step=${state.step}`);
  } catch {
    // a frame without an address of its own
  }
}

function linked() {
  const found = /^#step=(\d+)$/.exec(location.hash);
  return found === null ? null : Number(found[1]);
}

// Looking at another place, without a step

function select(node) {
  state.selected = node;
  const here = places.boxOf(state.scene, state.iteration, node);
  if (here < 0) return visit(node);
  render();
  if (!camera.isSeen(view.scene.boxes[here], view.pane)) view.frame(node);
}

function visit(node) {
  state.selected = node;
  state.scene = places.ofNode(node);
  state.iteration = places.iterationOfNode[node];
  render();
  view.frame(node);
}

function open(scene, iteration) {
  const at = timeline.at(state.step);
  const now = at === null ? null : places.path(places.ofNode(at.target), places.iterationOfNode[at.target]).find((one) => one.scene === scene);
  state.scene = scene;
  state.iteration = now && iteration === 0 ? now.iteration : iteration;
  render();
  view.frame();
}

// Another iteration of the loop that is in sight, or around what is.
function turnLoop(to) {
  const path = places.path(state.scene, state.iteration);
  const i = path.findLastIndex(({ scene }) => places.scenes[scene].kind === "loop");
  const loop = path[i].scene;
  const iteration = Math.min(Math.max(to, 0), places.scenes[loop].count - 1);
  const child = path[i + 1] && places.scenes[loop].boxes.find(({ scene }) => Array.isArray(scene) && scene.includes(path[i + 1].scene));
  const inside = child?.scene[iteration] ?? null;
  open.plain(inside ?? loop, inside === null ? iteration : 0);
}

open.plain = (scene, iteration) => {
  Object.assign(state, { scene, iteration });
  render();
  view.frame();
};

const shownLoop = () => places.path(state.scene, state.iteration).findLast(({ scene }) => places.scenes[scene].kind === "loop");

function setHover(node) {
  if (state.hover === node) return;
  state.hover = node;
  view.update({ selected: state.selected, hover: node, matches: state.matches });
  view.pin();
  const active = timeline.at(state.step)?.target ?? null;
  code.update({ active, selected: state.selected, hover: node, backward: state.step > timeline.turn }, find("code-pane"));
}

function chooseCell(flat) {
  state.cell = flat;
  render();
}

// Playing

function playOn() {
  if (state.step === timeline.count) go(0);
  const next = () => {
    const { playing } = state;
    go(state.step + 1);
    if (state.playing !== playing) return;
    if (lesson.stops?.(state.step) || quiz.on) stop();
    else state.playing = setTimeout(next, 1000 / Number(find("speed").value));
    renderControls();
  };
  state.playing = setTimeout(next, 1000 / Number(find("speed").value));
  renderControls();
}

function stop() {
  clearTimeout(state.playing);
  state.playing = null;
}

function togglePlay() {
  if (state.playing === null) return playOn();
  stop();
  renderControls();
}

// Searching

const isPlain = /^[\p{L}\p{N}_.\[\]]+$/u; // a name, and no expression of the program

function search(text) {
  const wanted = text.trim().toLowerCase();
  const modules = original.modules ?? [];
  const named = (node) => node.operation === null || isPlain.test(node.name);
  const about = (node) => [named(node) ? node.name : "", node.operation, modules[node.module]?.name].join("\n").toLowerCase();
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

// Up and down in the scene: to the box before or after.
function move(by) {
  const now = Number(document.activeElement?.closest("[data-box]")?.dataset.box ?? places.boxOf(state.scene, state.iteration, state.selected));
  const order = view.boxes.map(({ index, about }) => ({ index, about })).sort((a, b) => a.about.y - b.about.y || a.about.x - b.about.x).map(({ index }) => index);
  const to = order[Math.min(Math.max(order.indexOf(now) + by, 0), order.length - 1)];
  const { node } = view.boxes[to].now;
  if (node !== null && node !== undefined) select(node);
  if (!camera.isInside(view.boxes[to].about, view.pane)) {
    camera.frame([view.boxes[to].about], view.scene, view.pane);
    view.place();
  }
  view.focus(to);
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
  "0": () => view.fit(),
  Escape: () => {
    stop();
    renderControls();
  },
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { target, key } = event;
  if (target.matches("select, textarea, input:not([type=checkbox])")) { // its keys are its own
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

// Light and dark

const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function renderTheme() {
  setText(find("theme"), isDark() ? `☀ ${word("light")}` : `☾ ${word("dark")}`);
}

// Wiring

const on = (id, kind, act) => find(id).addEventListener(kind, (event) => act(event.target));
document.addEventListener("keydown", onKey);
on("first", "click", KEYS.Home);
on("back", "click", KEYS.ArrowLeft);
on("next", "click", KEYS.ArrowRight);
on("last", "click", KEYS.End);
on("play", "click", togglePlay);
on("timeline", "input", ({ value }) => go(Number(value)));
on("search", "input", ({ value }) => search(value));
on("smaller", "click", KEYS["-"]);
on("larger", "click", KEYS["+"]);
on("fit", "click", KEYS["0"]);
on("iteration", "input", ({ value }) => turnLoop(Number(value) - 1));
on("loop-back", "click", () => turnLoop(shownLoop().iteration - 1));
on("loop-next", "click", () => turnLoop(shownLoop().iteration + 1));
on("digits", "change", ({ checked }) => {
  state.digits = checked;
  render();
});
on("quiz", "change", ({ checked }) => {
  quiz.on = checked;
  quiz.begin();
  stop();
  render();
});
on("theme", "click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  renderTheme();
});
on("more", "click", (button) => {
  const open = document.body.classList.toggle("with-tools");
  button.setAttribute("aria-expanded", open);
});
addEventListener("hashchange", () => {
  const step = linked();
  if (step !== null && step !== state.step) go(step);
});
new ResizeObserver(() => {
  if (view.number !== null && view.current) view.frame();
}).observe(find("graph"));

// Printed, what is seen keeps its proportions.
addEventListener("beforeprint", () => view.svg.setAttribute("viewBox", `0 0 ${view.pane.width} ${view.pane.height}`));
addEventListener("afterprint", () => view.svg.removeAttribute("viewBox"));

find("timeline").max = timeline.count;
find("track").style.setProperty("--turn", timeline.count === 0 ? 0 : timeline.turn / timeline.count);
document.body.classList.toggle("no-code", code.isEmpty);
code.build(find("code-pane"), { select, hover: setHover });
state.step = Math.min(linked() ?? 0, timeline.count);
words.listen(() => {
  document.title = find("title").textContent = `${word("title")}: ${original.title ?? labelOf(original.end[0])}`;
  renderTheme();
  if (view.number === null) return go(state.step);
  for (const box of view.boxes) box.seen.clear();
  render();
});
