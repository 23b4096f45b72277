// The quiz asks for the next edge and its result. The answer stays hidden until the reader has answered. It keeps the score.

// Return a sentence with a mark that is visible without colour: right is true, false, or null for neither.
function verdict(said) {
  const className = said.right === null ? "note" : said.right ? "right" : "wrong";
  const mark = said.right === null ? "" : said.right ? "✓ " : "✗ ";
  return element("p", { class: className, role: "status" }, mark + said.text);
}

const quiz = {
  get on() {
    return find("quiz").checked;
  },
  hinted: false, // the panel then shows the rule
  said: null, // {right: true, false or null, text}
  typed: "",
  results: new Map(), // "edge 7", "value 7", "choice 7": {right: whether at the first try, done}

  // Return whether the quiz or the lesson asks a question of this kind at a step.
  puts(kind, step) {
    if (step < 1 || step > graph.steps.length || this.results.get(`${kind} ${step}`)?.done) return false;
    if (kind === "choice") return lesson.question(kind, step)?.hides ?? false;
    const [does] = graph.steps[step - 1];
    if (does === "forward" || !(this.on || lesson.question(kind, step) !== null)) return false;
    return kind === "value" ? mistakes.question(step) !== null : does === "product";
  },

  // Return whether the result of this step is hidden, because a question asks for it.
  hides(step) {
    return step === state.step && (this.puts("value", step) || this.puts("choice", step));
  },

  // Return whether the gradient of a node is hidden because this step adds to it, and its value because this step computes it.
  hidesGradient(node) {
    return this.hides(state.step) && timeline.at(state.step).source === node;
  },
  hidesValue(node) {
    return this.hides(state.step) && timeline.at(state.step).kind === "forward" && timeline.at(state.step).target === node;
  },

  asksEdge() {
    return !this.hides(state.step) && this.puts("edge", state.step + 1);
  },

  // Note an answer. Only the first one counts.
  count(kind, step, right, done = right) {
    const key = `${kind} ${step}`;
    const before = this.results.get(key);
    this.results.set(key, { right: before ? before.right : right, done });
  },

  score() {
    const all = [...this.results.values()];
    return { right: all.filter(({ right }) => right).length, asked: all.length };
  },

  names(edge) {
    const { source, target } = graph.edges[edge];
    const names = { source: labelOf(source), target: labelOf(target), loss: labelOf(graph.end[0]) };
    const behindSign = (label) => (equation.isSimple(label) ? label : `(${label})`); // as written after a ∂
    return { ...names, ofSource: behindSign(names.source), ofTarget: behindSign(names.target) };
  },

  // --- the question for a value ---

  check(text) {
    const { step } = state;
    const asked = mistakes.question(step);
    this.typed = text;
    if (Number.isNaN(typedNumber(text))) {
      this.said = { right: null, text: word("notNumber") };
      return render();
    }
    const found = mistakes.diagnose(text, asked);
    this.count("value", step, found === "right" && !this.hinted, found === "right");
    if (found === "right") this.said = { right: true, text: word("right", { value: numberText(asked.right, state.digits) }) };
    else this.said = { right: false, text: word(found === null ? "wrong" : `mistake_${found}`, { ...this.names(asked.edge), value: text.trim(), paths: mistakes.paths(asked.edge).length }) };
    render();
    if (found === "right") find("next").focus({ preventScroll: true });
  },

  reveal(kind = "value") {
    this.count(kind, state.step, false, true);
    this.said = null;
    render();
  },

  valueQuestion() {
    const { step } = state;
    const asked = mistakes.question(step);
    const at = asked.shape.length === 0 ? "" : word("atPlace", { index: indexOf(asked.at, asked.shape) });
    const only = timeline.adds(step) && mistakes.paths(asked.edge).length === 1;
    const which = only && asked.of === "raw" ? "only" : asked.of;
    const text = lesson.question("value", step)?.text?.[words.language] ?? word(`ask_${which}`, { ...this.names(asked.edge), at });
    const about = { id: "answer", "data-key": "answer", "aria-label": word("answer"), inputmode: "text", autocomplete: "off", size: 10 };
    const input = element("input", about);
    input.value = this.typed;
    input.addEventListener("input", () => (this.typed = input.value));
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault(); // or it would press the button that has the focus by then
      this.check(input.value);
    });
    const hint = () => {
      this.hinted = true;
      render();
      document.querySelector(".small-print").scrollIntoView({ block: "nearest" });
    };
    const isProduct = timeline.at(step).kind === "product"; // a "fit" step has no rule to show
    const buttons = [
      button("check", word("check"), () => this.check(input.value)),
      ...(isProduct ? [button("hint", word("hint"), hint)] : []),
      button("reveal", word("reveal"), () => this.reveal()),
    ];
    return [element("p", { class: "question" }, text), element("div", { class: "row" }, input, ...buttons)];
  },

  // --- the question for the next edge ---

  // Return whether an edge may be next, because the gradient of its target is complete.
  isReady(edge) {
    const { target } = graph.edges[edge];
    return graph.nodes[target].gradients.every((_, output) => timeline.missing(target, output, state.step) === 0);
  },

  // Answer that this edge is next.
  choose(edge) {
    const step = state.step + 1;
    const next = graph.steps[step - 1][1];
    const isReady = this.isReady(edge);
    this.count("edge", step, isReady);
    if (isReady) go(step);
    this.said = { right: isReady, text: !isReady ? word("edge_early", this.names(edge)) : edge === next ? word("edge_right", this.names(edge)) : word("edge_also", this.names(next)) };
    render();
  },

  // Return the edges to choose from: the next one and up to three later ones.
  candidates() {
    const soon = graph.steps.slice(state.step, state.step + 60).filter(([kind]) => kind === "product");
    const picked = [...new Set([0, 1, 3, soon.length - 1].filter((i) => i < soon.length))].map((i) => soon[i][1]);
    return picked.sort((a, b) => labelOf(graph.edges[a].source).localeCompare(labelOf(graph.edges[b].source)) || a - b);
  },

  edgeQuestion() {
    const own = lesson.question("edge", state.step + 1)?.text?.[words.language];
    const choices = this.candidates().map((edge) => {
      const { source, target } = this.names(edge);
      return button(`edge${edge}`, `${target} → ${source}`, () => this.choose(edge));
    });
    const label = { role: "group", "aria-label": word("edgeChoices"), class: "row" };
    return [element("p", { class: "question" }, own ?? word("ask_edge")), element("div", label, ...choices)];
  },

  // --- together ---

  begin() {
    Object.assign(this, { hinted: false, said: null, typed: "" });
  },

  section() {
    const parts = [];
    const asks = this.puts("value", state.step);
    if (asks) parts.push(...this.valueQuestion());
    else if (this.asksEdge()) parts.push(...this.edgeQuestion());
    else if (this.on) parts.push(element("p", { class: "note" }, word(state.step === graph.steps.length ? "quizDone" : "noQuestion")));
    if (this.said) parts.splice(asks ? parts.length : 0, 0, verdict(this.said));
    const score = this.score();
    if (parts.length > 0 && score.asked > 0) parts.push(element("p", { class: "note", id: "score" }, word("score", score)));
    return parts;
  },
};
