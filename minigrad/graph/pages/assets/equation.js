// Draws equations as MathML, and writes them as plain text. They are trees. A tree is a nested list, ["row", a, b, ...], ["frac", a, b], ...
// (pages/formulas.py makes those of derivatives). A "ref" is replaced by a name or a number before the tree is drawn.
// This file adds ["name", "w * x"], ["vector", array], ["fold", axes, a].

const equation = (() => {
  const row = (...parts) => ["row", ...parts];

  // Return a label's text, and the round of its loops, which is written below it: ["h", "t=20"].
  const partsOf = (label) => label.split(" · ");

  // Return whether a label needs no parentheses next to a dot.
  const isSimple = (whole, [label] = partsOf(whole)) => /^[\p{L}\p{N}_.\[\]ⁱ'"]+$/u.test(label) || /^[\p{L}\p{N}_.]+\([^()]*\)$/u.test(label) || /^[\p{L}\p{N}_.]*\[[^[\]]*\]$/u.test(label);

  const derivative = (label) => ["d", labelOf(graph.end[0]), label];
  const fill = (tree, look) => {
    if (!Array.isArray(tree)) return tree;
    if (tree[0] === "ref") return look(tree[1]);
    if (tree[0] === "num" || tree[0] === "op" || tree[0] === "words" || tree[0] === "name") return tree;
    return [tree[0], ...tree.slice(1).map((part) => fill(part, look))];
  };

  const refsOf = (tree) => (!Array.isArray(tree) ? [] : tree[0] === "ref" ? [tree[1]] : tree.slice(1).flatMap(refsOf));

  const bare = (tree) => (tree[0] === "row" && tree.length === 2 ? bare(tree[1]) : tree);
  const negative = (tree) => tree[0] === "num" && tree[1].startsWith("-");
  const compound = (tree) => tree[0] === "name" && !isSimple(tree[1]);
  const paren = (tree) => ["paren", tree];
  const tight = new Set(["·", "×", "/", "@", "^", "−", "-", "∘", "⊙"]);

  // Add parentheses where the name or number that replaces a letter needs them.
  function safe(tree) {
    if (!Array.isArray(tree) || ["num", "op", "words", "name", "d", "vector"].includes(tree[0])) return tree;
    const [kind, ...parts] = [tree[0], ...tree.slice(1).map(safe)];
    const guard = (part) => (negative(part) || compound(part) ? paren(part) : part);
    if (kind === "row") {
      const beside = parts.some((part) => part[0] === "op" && tight.has(part[1]));
      return [kind, ...parts.map((part, i) => ((compound(part) && beside && parts.length > 1) || (negative(part) && i > 0) ? paren(part) : part))];
    }
    if (kind === "T" || kind === "sup") return [kind, guard(parts[0]), ...parts.slice(1)];
    return [kind, ...parts];
  }

  // Write x^(2 − 1) as x, and x^(3 − 1) as x^2.
  function tidy(tree) {
    if (!Array.isArray(tree)) return tree;
    const parts = tree.map(tidy);
    if (tree[0] !== "sup") return parts;
    const [, base, exponent] = parts;
    const [kind, a, sign, b] = exponent;
    const [x, y] = [a, b].map((part) => Number(part?.[1]));
    if (kind !== "row" || exponent.length !== 4 || sign[1] !== "−" || Number.isNaN(x) || Number.isNaN(y)) return parts;
    return x - y === 1 ? base : ["sup", base, ["num", numberText(x - y)]];
  }

  // The digits of the numbers in a line. Four are usual; a line shows more if four would give another result.
  let digits = 4;
  const numeral = (value) => (digits === 4 || state.digits || !Number.isFinite(Number(value)) ? numberText(value, state.digits) : numberText(Number(value).toPrecision(digits), true));

  // Make a tree whose numbers have as many digits as its answer needs. compute(shown) does the operation on the shown numbers.
  function truthful(make, answer, compute) {
    const shown = (array) => (array && isScalar(array) ? nd.array(array.shape, [Number(numeral(array.values[0]).replace("∞", "Infinity"))]) : nd.scalar(NaN));
    try {
      if (answer !== null) while (digits < 18 && numberText(compute(shown).values[0]) !== numberText(answer)) digits++;
    } catch {
      digits = 18; // the page does not know the operation
    }
    if (digits === 18) digits = 4;
    const made = make();
    digits = 4;
    return made;
  }

  // Return the tree of an array: a small one as numbers, a larger one by its shape.
  function numbers(array) {
    if (!array) return ["num", "?"];
    if (isScalar(array)) return ["num", numeral(array.values[0])];
    return array.values !== undefined && array.values.length <= 4 && array.shape.length <= 2 ? ["vector", array] : ["words", shapeText(array.shape)];
  }

  // Return one element of an array that is broadcast to a shape, as an array; null if it is not on the page.
  function elementAt(array, shape, flat) {
    if (!array?.values || array.shape.length > shape.length) return null;
    return nd.scalar(array.values[nd.places(array.shape, shape)[flat]]);
  }

  const callText = (node) => {
    const { operation, options } = graph.nodes[node];
    return options === "" ? operation : `${operation}(${options})`;
  };

  // Return the operation in the notation of mathematics, or else as a call.
  function forwardTree(node, operands) {
    const { operation, options, notation } = graph.nodes[node];
    const places = operandsOf(node).map((edge) => graph.edges[edge].argument);
    if (notation && refsOf(notation).every((name) => places.includes(name))) return fill(notation, (name) => operands[places.indexOf(name)]);
    return ["call", operation, ...operands, ...(options === "" ? [] : [["words", options]])];
  }

  // Return the parts of a forward step, {left, sign, parts}: u = w · x = 0.5 · 0.8 = 0.4.
  function forward(node) {
    const edges = operandsOf(node).map((edge) => graph.edges[edge]);
    const names = edges.map((edge) => ["name", labelOf(edge.source)]);
    const arrays = edges.map(operandOf);
    const value = graph.nodes[node].values[0];
    const label = labelOf(node);
    const plain = edges.length <= 4;
    const symbols = plain ? [safe(forwardTree(node, names))] : [["call", graph.nodes[node].operation, names[0], ["words", "…"], names.at(-1)]];
    const left = graph.nodes[node].named ? [["name", label], ...symbols] : label.includes("…") ? [["name", label]] : symbols;
    const small = plain && arrays.some((array) => array?.values && array.values.length <= 4);
    const compute = (shown) => whatIf.forward(graph, node, Object.fromEntries(edges.map(({ argument }, i) => [argument, shown(arrays[i])])))[0];
    const inside = small && arrays.every(Boolean) ? [truthful(() => safe(forwardTree(node, arrays.map(numbers))), value && isScalar(value) ? value.values[0] : null, compute)] : [];
    const answer = graph.nodes[node].values.length > 1 ? ["words", word("outputs", { count: graph.nodes[node].values.length })] : value ? numbers(value) : null;
    const [first, ...parts] = [...left, ...inside, answer].filter(Boolean);
    return { left: first, sign: "=", parts };
  }

  // Return the same for a backward step: ∂loss/∂w += ∂loss/∂(w*x) · x = 0.625 · 0.8 = 0.5.
  function backward(step) {
    const { kind, edge: number } = timeline.at(step);
    const edge = graph.edges[number];
    const left = derivative(labelOf(edge.source));
    const hidden = quiz.hides(step);
    if (kind === "fit") {
      const axes = summedAxes(edge);
      const inside = ["name", word("partOf")];
      const folded = axes.length > 0 ? ["fold", axes.join(","), inside] : ["call", edge.amount.dtype, inside];
      return { left, sign: "+=", parts: [folded, hidden ? ["num", "?"] : numbers(edge.amount)] };
    }
    const before = edge.amount !== null;
    const parts = edge.equation ? products(edge, hidden) : [["call", word("ruleOf", { operation: graph.nodes[edge.target].operation }), derivative(labelOf(edge.target))]];
    parts.push(hidden ? ["num", "?"] : answerOf(edge));
    return { left: before ? ["name", word("partFor"), left] : left, sign: before ? "=" : "+=", parts };
  }

  const isElementwise = (edge) => edge.elementwise && edge.raw?.values !== undefined && edge.raw.values.length > 4;

  // Return the rule with names and with numbers. For an elementwise rule of arrays, the numbers are those of one element.
  function products(edge, hidden) {
    const operands = new Map(operandsOf(edge.target).map((other) => [graph.edges[other].argument, graph.edges[other]]));
    const fillTidily = (look) => tidy(fill(edge.equation, look));
    const target = graph.nodes[edge.target];
    const g = target.gradients[0] ?? null;
    const named = fillTidily((name) => {
      if (name === "g") return derivative(labelOf(edge.target));
      if (name === "ans" || !operands.has(name)) return ["name", name === "ans" ? labelOf(edge.target) : name];
      return ["name", labelOf(operands.get(name).source)];
    });
    const arrayOf = (name) => (name === "g" ? g : name === "ans" ? target.values[0] : operands.has(name) ? operandOf(operands.get(name)) : null);
    const at = isElementwise(edge) ? Math.min(state.cell, edge.raw.values.length - 1) : null;
    const shownOf = (name) => (at === null ? arrayOf(name) : elementAt(arrayOf(name), edge.raw.shape, at)) ?? null;
    const compute = (shown) => whatIf.vjp(graph, edge.target, edge.argument, shown(shownOf("g")), Object.fromEntries([...operands.keys()].map((name) => [name, shown(shownOf(name))])), shown(shownOf("ans")));
    let known = true;
    const make = () => fillTidily((name) => {
      known &&= shownOf(name) !== null;
      return numbers(shownOf(name));
    });
    const numbered = truthful(make, at !== null ? edge.raw.values[at] : edge.raw && isScalar(edge.raw) ? edge.raw.values[0] : null, compute);
    const parts = [safe(named)];
    const told = bare(numbered);
    const same = JSON.stringify(told) === JSON.stringify(resultAt(edge, at));
    if (known && !hidden && !same) parts.push(safe(numbered));
    return parts;
  }

  function answerOf(edge) {
    if (!isElementwise(edge)) return numbers(edge.raw);
    const at = Math.min(state.cell, edge.raw.values.length - 1);
    return row(resultAt(edge, at), ["words", word("atIndex", { index: indexOf(at, edge.raw.shape) })]);
  }

  function resultAt(edge, at) {
    return at === null ? numbers(edge.raw) : ["num", numberText(edge.raw.values[at], state.digits)];
  }

  // Return the axes over which "fit" sums.
  function summedAxes({ raw, amount }) {
    const extra = raw.shape.length - amount.shape.length;
    return raw.shape.map((_, i) => i).filter((i) => i < extra || raw.shape[i] !== amount.shape[i - extra]);
  }

  function sides(step) {
    const { kind, target } = timeline.at(step);
    return kind === "forward" ? forward(target) : backward(step);
  }

  // Return the equation of a step as text, for screen readers, the title and the tests.
  function text(step) {
    if (timeline.at(step) === null) return "";
    const { left, sign, parts } = sides(step);
    return `${textOf(left)} ${sign} ${parts.map(textOf).join(" = ")}`;
  }

  // Return the equation of a step as <math> elements, one for each side, so that a narrow page can break the line between them.
  function math(step) {
    if (timeline.at(step) === null) return [];
    const { left, sign, parts } = sides(step);
    const first = mathElement("math", { displaystyle: "true" }, mathOf(left));
    return [first, ...parts.map((part, i) => {
      const made = mathElement("math", { displaystyle: "true" }, mathElement("mo", { form: "infix" }, i === 0 ? sign : "="), mathOf(part));
      if (i === parts.length - 1) made.setAttribute("class", "answer");
      return made;
    })];
  }

  function textOf(tree) {
    const [kind, ...parts] = tree;
    const wrapped = (part) => (bare(part)[0] === "row" && bare(part).length > 2 ? `(${textOf(part)})` : textOf(part));
    switch (kind) {
      case "row": return parts.map(textOf).join(" ");
      case "bars": return `|${textOf(parts[0])}|`;
      case "paren": return `(${textOf(parts[0])})`;
      case "frac": return `${wrapped(parts[0])} / ${wrapped(parts[1])}`;
      case "sup": return `${wrapped(parts[0])}^${wrapped(parts[1])}`;
      case "sqrt": return `sqrt(${textOf(parts[0])})`;
      case "call": return `${parts[0]}(${parts.slice(1).map(textOf).join(", ")})`;
      case "T": return `${wrapped(parts[0])}ᵀ`;
      case "fold": return `${word("foldText", { axes: parts[0] })} ${textOf(parts[1])}`;
      case "d": return `∂${parts[0]}/∂${isSimple(parts[1]) && partsOf(parts[1]).length === 1 ? parts[1] : `(${parts[1]})`}`;
      case "name": return parts.length > 1 ? `${parts[0]} ${textOf(parts[1])}` : parts[0];
      case "vector": return valuesText(parts[0], state.digits).replace(/\s+/g, " ");
      case "words": return typeof parts[0] === "object" ? parts[0][words.language] : parts[0];
      default: return String(parts[0]);
    }
  }

  const mrow = (...parts) => mathElement("mrow", {}, ...parts);
  const mo = (text, attributes = {}) => mathElement("mo", attributes, text);
  const between = (parts, sign) => parts.flatMap((part, i) => (i === 0 ? [part] : [mo(sign, { separator: "true" }), part]));
  const signed = (text) => (text.startsWith("-") ? text.replace("-", "−") : text);

  function name(whole) {
    const [label, place] = partsOf(whole);
    if (place) return mathElement("msub", {}, name(label), mathElement("mtext", {}, place));
    return /^\p{L}$/u.test(label) ? mathElement("mi", {}, label) : mathElement("mtext", { class: "label-in-math" }, label);
  }

  function mathOf(tree) {
    const [kind, ...parts] = tree;
    switch (kind) {
      case "row": return mrow(...parts.map((part) => (part[0] === "words" ? mathElement("mtext", {}, `\u00a0${textOf(part).trim()}\u00a0`) : mathOf(part))));
      case "paren": return mrow(mo("(", { stretchy: "false" }), mathOf(parts[0]), mo(")", { stretchy: "false" }));
      case "frac": return mathElement("mfrac", {}, mathOf(parts[0]), mathOf(parts[1]));
      case "sup": return mathElement("msup", {}, mathOf(parts[0]), mathOf(parts[1]));
      case "bars": return mrow(mo("|", { stretchy: "false" }), mathOf(parts[0]), mo("|", { stretchy: "false" }));
      case "sqrt": return mathElement("msqrt", {}, mathOf(parts[0]));
      case "call": return mrow(mathElement("mi", { mathvariant: "normal" }, parts[0]), mo("(", { stretchy: "false" }), ...between(parts.slice(1).map(mathOf), ","), mo(")", { stretchy: "false" }));
      case "T": return mathElement("msup", {}, mathOf(parts[0]), mathElement("mi", { mathvariant: "normal" }, "T"));
      case "fold": return mrow(mathElement("munder", {}, mo("∑"), mathElement("mtext", {}, word("foldUnder", { axes: parts[0] }))), mathOf(parts[1]));
      case "d": return mathElement("mfrac", { class: "derivative" }, mrow(mathElement("mi", {}, "∂"), name(parts[0])), mrow(mathElement("mi", {}, "∂"), ...(isSimple(parts[1]) ? [name(parts[1])] : [mo("(", { stretchy: "false" }), name(parts[1]), mo(")", { stretchy: "false" })])));
      case "name": return parts.length > 1 ? mrow(mathElement("mtext", {}, `${parts[0]} `), mathOf(parts[1])) : name(parts[0]);
      case "num": return mathElement("mn", {}, signed(String(parts[0])));
      case "op": return mo(parts[0]);
      case "vector": return vector(parts[0]);
      default: return mathElement("mtext", {}, textOf(tree));
    }
  }

  function vector(array) {
    const columns = array.shape.at(-1);
    const cell = (value) => mathElement("mtd", {}, mathElement("mn", {}, signed(numberText(value, state.digits))));
    const rows = [];
    for (let i = 0; i < array.values.length; i += columns) rows.push(mathElement("mtr", {}, ...array.values.slice(i, i + columns).map(cell)));
    return mathElement("mtable", { class: "matrix" }, ...rows); // the style sheet draws its brackets, because few fonts stretch theirs
  }

  // Return the rule of an edge with the names of its parameters; null if it is not known.
  function ruleText({ equation: tree, answer }) {
    if (tree === null) return null;
    const [kind, head, ...rest] = fill(tree, (name) => ["name", name === "ans" ? answer : name]);
    const explained = kind === "row" && head[0] !== "op" && rest.length === 1; // a formula, and words about it
    return explained ? `${textOf(head)}, ${textOf(rest[0])}` : textOf([kind, head, ...rest]);
  }

  return { text, callText, ruleText, math, summedAxes, isSimple, isElementwise, derivativeText: (node) => textOf(derivative(labelOf(node))) };
})();
