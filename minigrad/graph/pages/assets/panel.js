// Writes the panel: the current step in words and arrays, and whether its derivative is right. node.js adds the selected node.

const panel = {
  // Return the parts of the first line: the step, the equation, the check mark.
  title() {
    const { step } = state;
    const at = timeline.at(step);
    const turned = step === timeline.turn && timeline.turn < timeline.count;
    const kind = at === null ? word("beforeAll") : at.kind === "forward" ? word("forwardStep") : word(at.kind === "fit" ? "fitStep" : "backwardStep");
    const line = at === null ? null : original.nodes[at.target].span;
    const where = line ? ` · ${word("lineNumber", { line: line[1] })}` : "";
    const end = step === timeline.count && timeline.turn < timeline.count ? ` · ✓ ${word("allKnown")}` : "";
    const kicker = element("p", { class: "kicker" }, `${kind}${where}${end}`);
    const maths = at === null ? [element("p", { class: "start" }, word("startTitle", { name: labelOf(graph.end[0]) }))] : equation.math(step);
    return [kicker, element("div", { class: "equation", role: "heading", "aria-level": "2" }, ...maths), turned ? element("span", { class: "badge" }, word("turned")) : this.badge(at)];
  },

  check(at) {
    return at?.kind === "product" && graph === original && !quiz.hides(state.step) ? (graph.edges[at.edge].check ?? null) : null;
  },

  badge(at) {
    const check = this.check(at);
    if (check === null) return element("span", { class: "badge none" });
    const marks = { agrees: "✓", wrong: "✗", unclear: "≈" };
    return element("span", { class: `badge ${check.verdict}` }, `${marks[check.verdict] ?? "?"} ${word(`check_${check.verdict}`)}`);
  },

  step() {
    const at = timeline.at(state.step);
    return at === null ? this.start() : this[at.kind](at);
  },

  start() {
    const name = labelOf(graph.end[0]);
    return [
      Number.isInteger(original.step) ? element("p", { class: "training-step" }, word("trainingStep", { step: original.step })) : null,
      element("p", {}, word("startText", { name, forward: timeline.turn, backward: timeline.count - timeline.turn })),
      this.hasMaps() ? this.cells() : null,
      ...this.totals(),
      ...this.culprits(),
      original.maps.side < 64 ? element("p", { class: "note" }, `${word("mapsSmall", original.maps)}${original.maps.left > 0 ? word("mapsLeft", original.maps) : ""}`) : null,
    ];
  },

  // Return the legend of the graph: the colours of values and gradients, and those of the cells if there are maps.
  legend() {
    const cells = this.hasMaps() ? [["positive", 1, "+"], ["negative", -1, "−"]].map(([name, value, sign]) => element("span", { title: word(name) }, this.sample([value]), ` ${sign}`)) : [];
    return [element("span", { class: "value" }, word("value")), element("span", { class: "gradient" }, word("gradientName")), ...cells];
  },

  hasMaps: () => original.nodes.some(({ values }) => values.some((array) => heat.grid(array))),

  // Return cells with these values, of an array whose largest is 1.
  sample(values) {
    const [array, found] = [{ dtype: "float64", shape: [2], values: [1, -1] }, { rows: 1, columns: values.length, values }];
    return svgElement("svg", { class: "map", viewBox: `-1 -1 ${10 * values.length + 2} 12`, "aria-hidden": "true" }, heat.cells(array, 0, 0, 10, found));
  },

  // Say what the colours of the cells mean, with a weak and a strong cell of each kind.
  cells() {
    const samples = { plus: [0.3, 1], minus: [-0.3, -1], zero: [0, 0] };
    const sample = (name) => this.sample(samples[name]);
    return element("p", { class: "colours" }, ...word("cellsText", { plus: "{plus}", minus: "{minus}", zero: "{zero}" }).split(/\{(\w+)\}/).map((part, i) => (i % 2 === 1 ? sample(part) : part)));
  },

  // Say how many derivatives were compared with differences, and whether one is wrong.
  totals() {
    const checks = original.edges.flatMap((edge, number) => (edge.check ? [{ number, ...edge.check }] : []));
    const left = original.edges.filter((edge) => edge.unchecked);
    const names = [...new Set(left.map((edge) => original.nodes[edge.target].operation))].join(", ");
    const leftOut = left.length > 0 ? [element("p", { class: "note" }, word("leftOut", { count: left.length, names }))] : [];
    if (checks.length === 0) return leftOut;
    const wrong = checks.filter(({ verdict }) => verdict === "wrong");
    const right = checks.filter(({ verdict }) => verdict === "agrees").length;
    const text = word(wrong.length > 0 ? "someWrong" : right < checks.length ? "someUnclear" : "allRight", { count: checks.length, wrong: wrong.length, right });
    const parts = [element("p", { class: wrong.length > 0 ? "verdict wrong" : "verdict right" }, text), ...leftOut];
    for (const { number } of wrong.slice(0, 5)) {
      const edge = original.edges[number];
      parts.push(button(`wrong${number}`, word("jumpWrong", { operation: original.nodes[edge.target].operation, name: labelOf(edge.source) }), () => go(timeline.began[number])));
    }
    return parts;
  },

  culprits() {
    return [["bad", "culpritValue"], ["badGradient", "culpritGradient"]].flatMap(([field, name]) => {
      const node = original.nodes.findIndex((one) => one[field] === "culprit");
      return node < 0 ? [] : [this.trouble("culprit", word(name, { name: labelOf(node) }), node, field, true)];
    });
  },

  trouble(kind, text, node, field, jump) {
    const why = original.nodes[node].why?.[words.language] ?? null;
    const to = field === "bad" ? timeline.computed[node] : (this.spoiling(node) ?? timeline.arrivals(node, 0).at(-1)?.step ?? timeline.turn);
    return element("div", { class: `trouble ${kind}` },
      element("p", {}, element("strong", {}, `${kind === "culprit" ? "✗" : "!"} `), text),
      why === null || kind !== "culprit" ? null : element("p", {}, why),
      jump ? button(`culprit${field}`, word("jumpCulprit"), () => (to > 0 ? go(to) : select(node)), { class: "primary" }) : null);
  },

  // Return the first step whose rule turns a finite gradient into one that is not finite; undefined if there is none.
  spoiling(node) {
    if (graph.nodes[node].gradients.some(isOdd)) return undefined;
    return operandsOf(node).filter((edge) => isOdd(original.edges[edge].raw)).map((edge) => timeline.began[edge]).sort((a, b) => a - b)[0];
  },

  // Say whether a value or gradient of this step is the first that is not finite, or follows from it.
  health(node, field) {
    const kind = graph === original ? original.nodes[node][field] : null;
    const thing = (one) => (field === "bad" ? labelOf(one) : this.spoiling(one) === undefined ? equation.derivativeText(one) : word("derivativeOf", { name: labelOf(one) }));
    const made = graph.nodes[node].values.map((_, output) => (field === "bad" ? timeline.value(node, output, state.step) : timeline.gradient(node, output, state.step)));
    if (!kind || !made.some(isOdd)) return [];
    const from = timeline.at(state.step).target;
    const isHere = field === "badGradient" && original.nodes[from][field] === "culprit" && this.spoiling(from) <= state.step;
    const culprit = isHere ? from : node;
    if (isHere || kind === "culprit") return [this.trouble("culprit", word("isCulprit", { name: thing(culprit) }), culprit, field, false)];
    const found = [field, "bad"].find((one) => original.nodes.some((other) => other[one] === "culprit"));
    if (found === undefined) return [];
    const first = original.nodes.findIndex((one) => one[found] === "culprit");
    return [this.trouble("victim", word("isVictim", { name: thing(node), culprit: found === "bad" ? labelOf(first) : thing(first) }), first, found, true)];
  },

  forward({ target: number }) {
    const node = graph.nodes[number];
    const operands = operandsOf(number).map((edge) => graph.edges[edge]);
    const names = [...new Set(operands.map(({ source }) => labelOf(source)))].slice(0, 4).join(", ");
    const what = word(node.values.length === 0 ? "forwardRaised" : operands.length === 0 ? "forwardNone" : "forwardText", { operation: node.operation, names, name: labelOf(number) });
    const list = [];
    node.values.forEach((value, output) => {
      if (!isScalar(value) && !quiz.hidesValue(number)) list.push(...term(labelOf(number) + outputName(node, output), arrayView(value, { label: labelOf(number), className: "new", node: number, ...this.cellChoice() })));
    });
    return [
      element("p", {}, what), ...this.changes(node, operands), ...this.health(number, "bad"), list.length > 0 ? element("dl", {}, ...list) : null,
      state.step === timeline.turn && timeline.turn < timeline.count ? element("p", { class: "turn" }, word("turnText", { name: labelOf(graph.end[0]) })) : null,
      ...(state.step === timeline.turn ? this.totals() : []),
    ];
  },

  // Say how a value was changed here: it was broadcast, cast or clipped.
  changes(node, operands) {
    return (node.changed ?? []).flatMap((what) => {
      const shape = node.values[0]?.shape;
      if (what !== "broadcast") return [element("p", { class: "change" }, word(`changed_${what}`, { dtype: node.values[0]?.dtype ?? "" }))];
      const stretched = operands.filter((edge) => operandOf(edge) && shape && shapeText(operandOf(edge).shape) !== shapeText(shape));
      return stretched.slice(0, 2).map((edge) => element("p", { class: "change" }, word("stretched", { name: labelOf(edge.source), from: shapeText(operandOf(edge).shape), to: shapeText(shape) })));
    });
  },

  product(at) {
    const edge = graph.edges[at.edge];
    const node = graph.nodes[edge.target];
    const [target, source] = [labelOf(edge.target), labelOf(edge.source)];
    const end = labelOf(graph.end[0]);
    const hidden = quiz.hides(state.step);
    const list = [];
    const local = hidden ? null : this.local(edge);
    if (!hidden && !timeline.adds(state.step) && !isScalar(edge.raw)) list.push(...term(word("partGiven"), arrayView(edge.raw, { label: word("partGiven"), className: "new", ...this.cellChoice() })));
    if (!hidden && timeline.adds(state.step)) list.push(...this.sum(edge));
    const g = node.gradients[0];
    const told = edge.target === graph.end[0] && g && isScalar(g) ? "productTextEndArray" : g && isScalar(g) ? "productText" : "productTextArray";
    return [
      element("p", {}, local ? word(this.isOneOfSeveral(edge) ? "productTextOperand" : edge.target === graph.end[0] && local.g === "1" ? "productTextEnd" : "productTextLocal", { end, target, source, ...local }) : word(told, { end, target, source, operation: node.operation, g: g && isScalar(g) ? numberText(g.values[0], state.digits) : "" })),
      hidden || edge.amount === null ? null : element("p", { class: "note" }, word("later", { from: shapeText(edge.raw.shape), to: shapeText(edge.amount.shape) })),
      list.length > 0 ? element("dl", {}, ...list) : null,
      ...(hidden ? [] : this.health(edge.source, "badGradient")),
      this.truth(at),
    ];
  },

  // Return whether the operation reads the same value more than once, like v * v.
  isOneOfSeveral(edge) {
    return operandsOf(edge.target).filter((other) => graph.edges[other].source === edge.source && graph.edges[other].output === edge.output).length > 1;
  },

  // Return for scalars how fast the end changes with the result, and the result with the operand; else null.
  local(edge) {
    const g = graph.nodes[edge.target].gradients[0];
    if (!isScalar(g) || !isScalar(edge.raw) || graph.nodes[edge.target].values.length > 1) return null;
    const [before, after] = [Number(g.values[0]), Number(edge.raw.values[0])];
    if (before === 0 || !Number.isFinite(after / before)) return null;
    const text = (x) => numberText(x, state.digits);
    const second = after / before;
    const rate = (x) => (x === 1 ? word("rateSame") : word("rate", { x: text(x) }));
    return { g: text(before), local: second < 0 ? `(${text(second)})` : text(second), raw: text(after), first: rate(before), second: rate(second) };
  },

  // Return the options of an array whose element the equation shows.
  cellChoice: () => (depends.of(state.step).at === null ? {} : { choose: chooseCell, chosen: depends.of(state.step).at }),

  // Show the two numbers that must agree.
  truth(at) {
    const check = this.check(at);
    if (check === null) return null;
    const number = (value) => (Number.isFinite(Number(value)) ? String(Number(Number(value).toPrecision(9))) : numberText(value));
    const row = (name, value) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, number(value)));
    const what = word(this.isOneOfSeveral(graph.edges[at.edge]) ? "localDerivativeOperand" : "localDerivative", { target: labelOf(at.target), source: labelOf(at.source) });
    return element("div", { class: `truth ${check.verdict}` },
      element("p", {}, what, isScalar(graph.edges[at.edge].raw) ? "" : ` ${word("oneDirection")}`),
      element("table", {}, element("tbody", {}, row(word("analytic"), check.exact), row(word("numeric"), check.numeric))),
      element("p", {}, word(`verdict_${check.verdict}`, { error: Number(check.error).toPrecision(2).replace("e+", "e"), reason: check.reason ? word(`unclear_${check.reason}`) : "" })));
  },

  // Show the sum "earlier total + this = new total".
  sum(edge) {
    const { source, output } = edge;
    const { step } = state;
    const before = timeline.before(source, output, step);
    const missing = timeline.missing(source, output, step);
    const total = timeline.arrived(source, output, step).at(-1) ? edge.sum ?? timeline.gradient(source, output, step) : null;
    const name = equation.derivativeText(source) + outputName(graph.nodes[source], output);
    const count = timeline.arrivals(source, output).length;
    const addend = amountOf(timeline.at(step).edge);
    const choose = this.cellChoice();
    const line = (sign, name, array, options) => [element("span", { class: "sign" }, sign), labelled(word(name), array, options)];
    const parts = before === null
      ? [labelled(word(count > 1 ? "firstAddend" : "onlyAddend"), addend, { className: "new", ...choose })]
      : [...line("", "earlier", before), ...line("+", "this", addend, { className: "new", ...choose }), ...line("=", "newTotal", total, { className: "total" })];
    const how = missing === 0 ? word("complete", { count }) : word("incomplete", { count: missing });
    const hooked = missing === 0 && graph === original && original.nodes[source].hooked ? element("div", { class: "note" }, word("hooked"), arrayView(timeline.gradient(source, output, step))) : null;
    return term(name, element("div", { class: before === null ? "" : "sum" }, ...parts), element("div", { class: missing === 0 ? "note done" : "note" }, how), hooked);
  },

  // Show the rule with the names of its parameters.
  smallPrint() {
    const at = timeline.at(state.step);
    if (at?.kind !== "product") return null;
    const edge = graph.edges[at.edge];
    const formula = equation.ruleText(edge);
    const node = graph.nodes[edge.target];
    const names = operandsOf(edge.target).map((other) => graph.edges[other]).map((one) => `${one.argument} = ${labelOf(one.source)}`);
    if (quiz.hides(state.step) && !quiz.hinted) return null;
    const by = names.length > 1 ? `/d ${edge.argument}` : "";
    const rule = formula === null ? word("noFormula", { operation: node.operation, argument: edge.argument }) : `d ${node.operation}${by}: ${formula}`;
    const about = [rule, [...names.slice(0, 6), `${edge.answer} = ${labelOf(edge.target)}`, `g = ${equation.derivativeText(edge.target)}`].join(", ")];
    return element("p", { class: "small-print" }, `${word("rule")}: `, element("code", {}, about[0]), element("br"), `${word("where")} `, element("code", {}, about[1]));
  },

  fit(at) {
    const edge = graph.edges[at.edge];
    const { raw, amount } = edge;
    const axes = equation.summedAxes(edge);
    const parts = [];
    if (axes.length > 0) parts.push(element("p", {}, word("fitSum", { name: labelOf(edge.source), from: shapeText(raw.shape), to: shapeText(amount.shape), axes: axes.join(", ") })));
    if (raw.dtype.startsWith("complex") && !amount.dtype.startsWith("complex")) parts.push(element("p", {}, word("fitReal")));
    else if (raw.dtype !== amount.dtype) parts.push(element("p", {}, word("fitCast", { from: raw.dtype, to: amount.dtype })));
    const hidden = quiz.hides(state.step);
    const list = [...term(word("before"), arrayView(raw, { label: word("before") })), ...(hidden ? [] : this.sum(edge))];
    return [...parts, ...(hidden ? [] : this.health(edge.source, "badGradient")), element("dl", {}, ...list)];
  },
};

// The element of the answer that the formula shows: the one under the pointer, or the one to which the arrow keys lead.
{
  const section = find("title-section");
  const choose = (flat) => {
    if (flat === state.cell) return;
    state.cell = flat;
    refill(section, panel.title());
    fitFormula();
  };
  section.addEventListener("pointermove", (event) => {
    const cells = event.target.closest(".map")?.querySelector(".heat");
    const under = cells ? heat.under(cells, event) : null;
    const flat = under?.flat ?? event.target.closest("[data-flat]")?.dataset.flat;
    showTip(under?.text ?? null, event);
    if (flat !== undefined && event.target.closest("[data-key=answer]")) choose(Number(flat));
  });
  section.addEventListener("pointerleave", () => showTip(null));
  section.addEventListener("click", (event) => event.target.closest("[data-key=answer]") && render());
  section.addEventListener("keydown", (event) => {
    const { at, answer } = event.target.dataset.key === "answer" ? depends.of(state.step) : {};
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -(answer?.shape.at(-1) ?? 0), ArrowDown: answer?.shape.at(-1) ?? 0 }[event.key];
    if (answer === undefined || by === undefined) return;
    event.preventDefault();
    event.stopPropagation(); // elsewhere the arrows go from step to step
    choose(Math.max(0, Math.min(answer.values.length - 1, at + by)));
    setText(find("live"), equation.text(state.step).split("; ").at(-1));
  });
}
