// The panel beside the drawing: what the current step does, and what is known about one node.

// element("p", {class: "note"}, "text", child ...). Text never becomes HTML.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.addEventListener("click", value);
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// A button that keeps the focus when the panel is written again: its key says which one it is.
function button(key, text, onclick) {
  return element("button", { type: "button", "data-key": key, onclick }, text);
}

function term(name, ...content) {
  return [element("dt", {}, name), element("dd", {}, ...content)];
}

function showArray(array, className = "") {
  if (array === null) return element("span", { class: "note" }, "–");
  const about = word("shape", { shape: shapeText(array.shape), dtype: array.dtype });
  if (array.values === undefined || array.values.length > 64) return element("div", { class: className }, about, summary(array));
  const values = element("pre", { class: className }, valuesText(array, state.digits));
  if (array.shape.length === 0) return values;
  return element("div", {}, values, element("div", { class: "note" }, about));
}

function summary(array) {
  const numbers = array.values?.map(Number);
  const all = numbers === undefined ? array : {
    min: Math.min(...numbers),
    max: Math.max(...numbers),
    mean: numbers.reduce((a, b) => a + b) / numbers.length,
  };
  const text = { norm: numberText(norm(array), state.digits) };
  for (const name of ["min", "mean", "max"]) if (name in all) text[name] = numberText(all[name], state.digits);
  const which = "min" in text ? "summary" : "normOnly"; // complex numbers have no order
  return element("div", {}, word(which, text));
}

// "0.61 + 0.22 = 0.83", or the arrays below each other.
function showSum(node, output) {
  const addends = backward.arrived(node, output, state.step).map(({ edge }) => amountOf(edge));
  if (addends.length === 0) return element("span", { class: "note" }, word("noGradient"));
  const parts = [];
  addends.forEach((addend, i) => {
    if (i > 0) parts.push(element("span", {}, "+"));
    parts.push(showArray(addend, i === addends.length - 1 ? "new" : ""));
  });
  if (addends.length > 1) {
    parts.push(element("span", {}, "="), showArray(backward.gradient(node, output, state.step), "total"));
  }
  return element("div", { class: "sum" }, ...parts);
}

function howComplete(node, output) {
  const missing = backward.missing(node, output, state.step);
  return element("div", { class: "note" }, missing ? word("incomplete", { count: missing }) : word("complete"));
}

// What an operation saw as this operand.
function operandOf(edge) {
  return edge.value ?? graph.nodes[edge.source].values[edge.output] ?? null;
}

function amountOf(edge) {
  return graph.edges[edge].amount ?? graph.edges[edge].raw;
}

function nameOf(number) {
  const node = graph.nodes[number];
  return node.name ?? (node.operation === null ? `${word(`kind_${node.kind}`)} ${number}` : `${node.operation} ${number}`);
}

function sourceLine(node) {
  if (node.source === null) return [];
  const [file, line, text] = node.source;
  return term(word("source"), element("code", {}, `${file}:${line}`), element("br"), element("code", {}, text));
}

// The modules around a node, each with a button that opens or closes it.
function modulePath(number) {
  const modules = drawing.around(number).filter((m) => drawing.canOpen(m));
  if (modules.length === 0) return [];
  const buttons = modules.map((m) => {
    const open = state.open.has(m);
    const { name, kind } = graph.modules[m];
    const made = button(`module${m}`, `${open ? "▾" : "▸"} ${name}${kind === name ? "" : `: ${kind}`}`, () => toggleModule(m));
    made.setAttribute("aria-expanded", open);
    made.setAttribute("aria-label", word(open ? "close" : "open", { name }));
    return element("div", {}, made);
  });
  return term(word("module"), element("div", { class: "path" }, ...buttons));
}

function stepSection() {
  if (state.step === 0) {
    return [
      element("h2", {}, word("startTitle")),
      element("p", {}, word("startText", { name: nameOf(graph.end[0]) })),
      showArray(backward.gradient(graph.end[0], graph.end[1], 0), "total"),
    ];
  }
  const { edge, kind } = backward.steps[state.step - 1];
  const about = graph.edges[edge];
  const { operation } = graph.nodes[about.target];
  const title = word(`${kind}Title`, { operation, argument: about.argument });
  const list = kind === "product" ? productTerms(about) : fitTerms(about);
  if (!quiz.hides(state.step) && backward.adds(state.step)) {
    const what = word("adds", { name: nameOf(about.source) });
    list.push(...term(what, showSum(about.source, about.output), howComplete(about.source, about.output)));
  }
  if (kind === "product") list.push(...operandTerms(about));
  list.push(...sourceLine(graph.nodes[about.target]), ...modulePath(about.target));
  return [element("h2", {}, title), element("dl", {}, ...list)];
}

function productTerms(edge) {
  const node = graph.nodes[edge.target];
  const list = [];
  const hidden = quiz.hides(state.step);
  const formula = edge.formula?.[words.language] ?? word("noFormula", { operation: node.operation, argument: edge.argument });
  const numbers = graph === original ? edge.numbers?.[words.language] : editing.numbers(edge);
  if (!hidden || quiz.hinted) list.push(...term(word("rule"), element("code", { class: "formula" }, formula)));
  if (!hidden && numbers) list.push(...term(word("numbers"), element("code", { class: "formula" }, numbers)));
  if (!hidden) {
    const later = edge.amount !== null && shapeText(edge.raw.shape) !== shapeText(edge.amount.shape);
    const shapes = later && { from: shapeText(edge.raw.shape), to: shapeText(edge.amount.shape) };
    const why = later ? element("div", { class: "note" }, word("later", shapes)) : null;
    list.push(...term(word("product"), showArray(edge.raw, "new"), why));
  }
  return list;
}

// What the rule was applied to: the incoming gradient, the operands, the result.
function operandTerms(edge) {
  const node = graph.nodes[edge.target];
  const list = [];
  node.gradients.forEach((g, output) => {
    const name = word("incoming", { operation: node.operation });
    const which = node.gradients.length > 1 ? `, ${word("output", { number: output })}` : "";
    if (g !== null) list.push(...term(name + which, showArray(g)));
  });
  for (const operand of graph.edges.filter(({ target }) => target === edge.target)) {
    const name = word("operand", { argument: operand.argument });
    list.push(...term(`${name} (${nameOf(operand.source)})`, showArray(operandOf(operand))));
  }
  if (node.values.length === 1) list.push(...term(word("result", { name: edge.answer }), showArray(node.values[0])));
  return list;
}

function fitTerms({ raw, amount }) {
  const list = [];
  const extra = raw.shape.length - amount.shape.length;
  const axes = raw.shape.map((_, i) => i).filter((i) => i < extra || raw.shape[i] !== amount.shape[i - extra]);
  const say = (name, values = {}) => list.push(element("p", {}, word(name, values)));
  if (axes.length > 0) say("fitSum", { from: shapeText(raw.shape), to: shapeText(amount.shape), axes: axes.join(", ") });
  if (raw.dtype.startsWith("complex") && !amount.dtype.startsWith("complex")) say("fitReal");
  else if (raw.dtype !== amount.dtype) say("fitCast", { from: raw.dtype, to: amount.dtype });
  list.push(...term(word("product"), showArray(raw)));
  return list;
}

function nodeSection(number) {
  const node = graph.nodes[number];
  const call = node.operation && `${node.operation}(${node.details})`;
  const title = [node.name, call].filter(Boolean).join(" = ") || nameOf(number);
  const list = term(word("kind"), word(`kind_${node.kind}`));
  const several = (output) => (node.values.length > 1 ? `, ${word("output", { number: output })}` : "");
  node.values.forEach((value, output) => list.push(...term(word("value") + several(output), showArray(value))));
  if (node.kind !== "constant") {
    node.gradients.forEach((_, output) => {
      list.push(...term(word("gradient") + several(output), ...gradientOf(number, output)));
    });
  }
  const completed = backward.completed(number);
  const jump = completed > 0 && completed !== state.step ? button("jump", word("jump"), () => go(completed)) : null;
  list.push(...sourceLine(node), ...modulePath(number));
  return [element("h2", {}, title), element("dl", {}, ...list), jump, ...editing.row(number)];
}

function gradientOf(number, output) {
  if (quiz.hides(state.step) && backward.receiver(state.step) === number) return ["?"];
  const gradient = backward.gradient(number, output, state.step);
  if (backward.arrivals(number, output).length === 0) {
    return [gradient === null ? element("span", { class: "note" }, word("neverGradient")) : showArray(gradient, "total")];
  }
  const hooked = backward.hooked(number, output, state.step);
  return [
    showSum(number, output),
    howComplete(number, output),
    hooked ? element("div", {}, word("hooked"), showArray(gradient, "total")) : null,
  ];
}
