// Draws equations as MathML, and writes them as plain text. They are trees. A tree is a nested list, ["row", a, b, ...], ["frac", a, b], ...
// (pages/formulas.py makes those of derivatives). A "ref" is replaced by a name or a number before the tree is drawn.
// This file adds ["name", "w * x"], ["array", {array, to, lit, at}], ["fold", axes, a].

const equation = (() => {
  const row = (...parts) => ["row", ...parts];
  const SHORT = 8; // letters of a name in a narrow formula, at most
  let narrow = false; // whether there is little room

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
    if (!Array.isArray(tree) || ["num", "op", "words", "name", "d", "array"].includes(tree[0])) return tree;
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

  // Write a number with this many digits. Four are usual; a line shows more if four would give another result.
  const numeral = (value, count = 4) => (count === 4 || state.digits || !Number.isFinite(Number(value)) ? numberText(value, state.digits) : numberText(Number(value).toPrecision(count), true));

  // Return how many digits the numbers of an operation need so that compute(shown) gives its answer; 4 if the page cannot run it.
  function digitsFor(answer, compute) {
    const shown = (count) => (array) => (array && isScalar(array) ? nd.array(array.shape, [Number(numeral(array.values[0], count).replace("∞", "Infinity"))]) : nd.scalar(NaN));
    const isEnough = (count) => numberText(compute(shown(count)).values[0]) === numberText(answer);
    try {
      return (answer !== null && nd.range(18).find((count) => count >= 4 && isEnough(count))) || 4;
    } catch {
      return 4; // the page does not know the operation
    }
  }

  // Return the tree of an array. `to` is the shape to which it is stretched, `lit` the elements to frame, and `at` the element that the
  // reader has chosen in the answer. `own` is the slice that its box shows.
  function numbers(array, { to = null, lit = [], at = null, own = null, digits = 4 } = {}) {
    if (!array) return ["num", "?"];
    if (isScalar(array)) return ["num", numeral(array.values[0], digits)];
    const stretched = to !== null && array.values !== undefined && !nd.sameShape(array.shape, to) ? to : null;
    return stretched !== null || isSmall(array) || heat.grid(array) !== null ? ["array", { array, to: stretched, lit, at, own, digits }] : ["words", shapeText(array.shape)];
  }

  // Return whether an array is written out, if there is room: as a matrix of at most 12 numbers in 3 rows and 6 columns (4 on a phone), or a column of 4.
  const isSmall = ({ values, shape }, to = shape) => {
    if (narrow && nd.sizeOf(to) > 1) return false;
    const [columns, size] = [to.at(-1) ?? 0, nd.sizeOf(to)];
    return values !== undefined && size > 0 && size <= 12 && to.length > 0 && to.length <= 2 && columns <= (innerWidth > 800 ? 6 : 4) && size / columns <= (columns === 1 ? 4 : 3);
  };

  // Return the operation in the notation of mathematics, or else as a call. `brief` leaves out long options.
  function forwardTree(node, operands, brief = false) {
    const { operation, options: all, notation } = graph.nodes[node];
    const options = brief && all.length > 24 ? "…" : all;
    const places = operandsOf(node).map((edge) => graph.edges[edge].argument);
    if (notation && refsOf(notation).every((name) => places.includes(name))) return fill(notation, (name) => operands[places.indexOf(name)]);
    return ["call", operation, ...operands, ...(options === "" ? [] : [["words", options]])];
  }

  // Return an operation with the numbers and the simple names of its operands, and "…" for the others: "W @ …"; null if all are others.
  function brief(node) {
    const operands = operandsOf(node).map((edge) => graph.edges[edge].source);
    const names = operands.map((one) => (isSimple(labelOf(one)) ? partsOf(labelOf(one))[0] : "…"));
    return names.every((one) => one === "…") ? null : textOf(forwardTree(node, names.map((one) => ["name", one]), true));
  }

  // Return the parts of a forward step, {left, sign, parts}: u = w · x = 0.5 · 0.8 = 0.4.
  function forward(node) {
    const edges = operandsOf(node).map((edge) => graph.edges[edge]);
    const names = edges.map((edge) => ["name", labelOf(edge.source)]);
    const label = labelOf(node);
    const plain = edges.length <= 4;
    const symbols = plain ? [safe(forwardTree(node, names))] : [["call", graph.nodes[node].operation, names[0], ["words", "…"], names.at(-1)]];
    const left = graph.nodes[node].named ? [["name", label], ...symbols] : label.includes("…") ? [["name", label]] : symbols;
    const { values, changed } = graph.nodes[node];
    if (values.length !== 1 || !plain) return { left: left[0], sign: "=", parts: [...left.slice(1), ...(values.length > 1 ? [["words", word("outputs", { count: values.length })]] : values.map((one) => numbers(one)))], one: null };
    if (quiz.hidesValue(node)) return { left: left[0], sign: "=", parts: [...left.slice(1), ["num", "?"]], one: null };
    const filled = (look) => safe(forwardTree(node, edges.map(({ argument }) => look(argument)), true));
    const { parts, one } = withNumbers(timeline.computed[node], filled, changed?.includes("broadcast") ? values[0].shape : null);
    return { left: left[0], sign: "=", parts: [...left.slice(1), ...parts], one };
  }

  // Return what a reader sees of a tree apart from spaces and parentheses: "- 0.5" reads like the number -0.5.
  const reads = (tree) => textOf(tree).replaceAll("−", "-").replace(/[\s()]/g, "");

  const sumOf = (terms) => ["row", ...terms.flatMap((term, i) => (i === 0 ? [] : [["op", "+"]]).concat([term < 0 && i > 0 ? paren(["num", numeral(term)]) : ["num", numeral(term)]]))];

  // Return the equation with the arrays of a step, {parts, one}: the formula and its answer, and the same for one element of the answer.
  // filled(look) is the formula with look(name) in place of each letter, without the words about it. `stretch` is the shape to which the operands are broadcast.
  function withNumbers(step, filled, stretch) {
    const { letters, answer, compute, at, lit, part, nodes } = depends.of(step);
    const result = numbers(answer, { at, own: depends.slice(nodes.answer, answer) });
    // `of` gives the array of a letter; null leaves the formula out.
    const needed = (of, one) => digitsFor(one, (shown) => compute(Object.fromEntries(Object.keys(letters).map((name) => [name, shown(of(name))]))));
    const formula = (of, made, count) => {
      let known = true;
      const look = (name) => {
        known &&= Boolean(of(name));
        return numbers(of(name), { ...made(name), digits: count });
      };
      const tree = filled && filled(look);
      return known ? tree : null;
    };
    const parts = Object.keys(letters).map(part);
    const isShorter = at !== null && filled && parts.every((one) => !one || isSmall(one) || one.shape.filter((n) => n > 1).length < 2); // each is a number, a row or a column
    const count = !filled ? 4 : isShorter ? needed(part, answer.values[at]) : needed((name) => letters[name] ?? null, answer && isScalar(answer) ? answer.values[0] : null);
    const tree = formula((name) => letters[name] ?? null, (name) => ({ to: stretch, lit: lit(name) ?? [], own: depends.slice(nodes[name], letters[name]) }), count); // the arrays agree with the element
    const same = tree === null || reads(tree) === reads(result) || tree[1]?.array === answer;
    const terms = same || at === null ? null : depends.terms(step); // their sum is the element
    const element = same || !isShorter ? null : terms !== null ? sumOf(terms) : formula(part, () => ({}), count);
    const number = ["num", at === null ? "" : numberText(answer.values[at], state.digits)];
    const isTold = element !== null && reads(element) !== reads(number); // an element that is only moved, or gets a sign, needs no formula
    const isMap = at !== null && !isSmall(answer); // it shows no numbers, and a teacher needs one to say
    return { parts: same ? [result] : [tree, result], one: isTold || isMap ? { index: indexOf(at, answer.shape), parts: isTold ? [element, number] : [number] } : null };
  }

  // Return the same for a backward step: ∂loss/∂w += ∂loss/∂(w*x) · x = 0.625 · 0.8 = 0.5.
  function backward(step) {
    const { kind, edge: number } = timeline.at(step);
    const edge = graph.edges[number];
    const left = derivative(labelOf(edge.source));
    const part = kind === "product" && edge.amount !== null;
    const filled = kind === "fit" ? (look) => folded(edge, look("part")) : edge.equation && ((look) => safe(rule(edge, look, true)));
    const named = edge.equation ? safe(rule(edge, (name) => nameIn(edge, name), true)) : ["call", word("ruleOf", { operation: graph.nodes[edge.target].operation }), derivative(labelOf(edge.target))];
    const { parts, one } = quiz.hides(step) ? { parts: [["num", "?"]], one: null } : withNumbers(step, filled, edge.elementwise ? edge.raw.shape : null);
    return { left: part ? ["name", word("partFor"), left] : left, sign: part ? "=" : "+=", parts: kind === "fit" ? parts : [named, ...parts], one, about: kind === "fit" || quiz.hides(step) ? null : aboutRule(edge) };
  }

  // Return the words about the rule of an edge, and what g is if they speak of it; null if there are none.
  function aboutRule({ equation: tree, target }) {
    if (tree === null || !isExplained(tree)) return null;
    const text = textOf(tree[2]);
    return /(?<![a-z])g(?![a-z])/.test(text) ? `${text}; g = ${textOf(derivative(labelOf(target)))}` : text;
  }

  // Return the rule of an edge. `brief` leaves out the words about it.
  const rule = (edge, look, brief = false) => tidy(fill(brief && isExplained(edge.equation) ? edge.equation[1] : edge.equation, look));
  const isExplained = ([kind, head, ...rest]) => kind === "row" && head[0] !== "op" && rest.length === 1;
  const folded = (edge, inside) => (summedAxes(edge).length > 0 ? ["fold", summedAxes(edge).join(","), inside] : ["call", edge.amount.dtype, inside]);

  // Return the name in the program of a letter of an edge's rule.
  function nameIn(edge, name) {
    if (name === "g") return derivative(labelOf(edge.target));
    const operand = operandsOf(edge.target).map((other) => graph.edges[other]).find(({ argument }) => argument === name);
    return ["name", name === "ans" ? labelOf(edge.target) : operand ? labelOf(operand.source) : name];
  }

  // Return the axes over which "fit" sums.
  function summedAxes({ raw, amount }) {
    const extra = raw.shape.length - amount.shape.length;
    return raw.shape.map((_, i) => i).filter((i) => i < extra || raw.shape[i] !== amount.shape[i - extra]);
  }

  // Return the parts of a step. If there is little room (`isNarrow`), letters stand for the longer names, and maps for all arrays.
  function sides(step, isNarrow = false) {
    narrow = isNarrow;
    const { kind, target } = timeline.at(step);
    const made = kind === "forward" ? forward(target) : backward(step);
    return isNarrow ? lettered(made) : made;
  }

  // Return the parts of a step with a letter for each longer name, and "where u = ..." in the words about them.
  function lettered({ left, parts, about = null, ...others }) {
    const namesOf = (tree) => (!Array.isArray(tree) ? [] : tree[0] === "d" ? [tree[2]] : tree[0] === "name" && tree.length === 2 ? [tree[1]] : tree.slice(1).flatMap(namesOf));
    const names = [...new Set([left, ...parts].flatMap(namesOf))];
    const used = new Set(`${names.join(" ")} ${about}`.split(/[^\p{L}\p{N}_]+/u));
    const free = [..."uvpqrstabc"].filter((letter) => !used.has(letter));
    const letters = new Map(names.filter((name) => name.length > SHORT).slice(0, free.length).map((name, i) => [name, free[i]]));
    const put = (tree) => (!Array.isArray(tree) ? tree : tree[0] === "paren" && letters.has(tree[1][1]) ? put(tree[1]) : tree.map((part, i) => (i > 0 && letters.get(part)) || put(part)));
    const told = [...letters].map(([name, letter]) => `${letter} = ${name}`).join(", ");
    return { left: put(left), parts: parts.map(put), about: about && told ? `${about}; ${told}` : about || (told && `${word("where")} ${told}`), ...others };
  }

  // Return the equation of a step as text, for screen readers, the title and the tests.
  function text(step) {
    if (timeline.at(step) === null) return "";
    const { left, sign, parts, one, about } = sides(step);
    const element = one === null ? "" : `; ${word("atIndex", { index: one.index })} ${one.parts.map(textOf).join(" = ")}`;
    return `${textOf(left)} ${sign} ${parts.map(textOf).join(" = ")}${about ? `, ${about}` : ""}${element}`;
  }

  // Return the equation of a step as <math> elements, one for each side, so that a narrow page can break the line between them.
  function math(step, isNarrow = false) {
    if (timeline.at(step) === null) return [];
    const { left, sign, parts, one, about } = sides(step, isNarrow);
    const side = (tree, before, last) => mathElement("math", { displaystyle: "true", class: last ? "answer" : null }, before && mathElement("mo", { form: "infix" }, before), mathOf(tree));
    const told = (text) => text.replaceAll(" * ", " · ").replaceAll(" - ", " − ").split(/\^(\w+)/).map((part, i) => (i % 2 === 1 ? element("sup", {}, part) : part));
    const worked = one && mathElement("math", { displaystyle: "true", class: "element" }, mrow(mathElement("mi", {}, `${word("atIndex", { index: one.index })}\u00a0`), ...one.parts.slice(0, -1).map(mathOf), mo("=", { form: "infix" }), mathElement("mrow", { class: "answer" }, mathOf(one.parts.at(-1)))));
    return [side(left), ...parts.map((part, i) => side(part, i === 0 ? sign : "=", i === parts.length - 1)), one && element("span", { class: "break" }), worked, about && element("p", { class: about.includes(" = ") ? "about defines" : "about" }, ...told(about))].filter(Boolean);
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
      case "array": return isSmall(parts[0].array) ? valuesText(parts[0].array, state.digits).replace(/\s+/g, " ") : shapeText(parts[0].array.shape);
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
    return /^\p{L}$/u.test(label) ? mathElement("mi", {}, label) : mathElement("mtext", { class: "label-in-math" }, element("span", {}, ...breakable(label)));
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
      case "array": return isSmall(parts[0].array, parts[0].to ?? parts[0].array.shape) ? matrix(parts[0]) : mapOf(parts[0]);
      default: return mathElement("mtext", {}, textOf(tree));
    }
  }

  // Return the map of an array, with what it shows of the array.
  function mapOf(part) {
    const { drawn, shown } = heat.inline(part);
    const made = mathElement("mtext", {}, element("span", chooser(part.array, part.at), drawn));
    return shown === null ? made : mathElement("msub", {}, made, mathElement("mtext", {}, shown));
  }

  // Return the attributes of an array whose elements the reader can choose: with the pointer, or with the arrow keys.
  const chooser = (array, at) => (at === null ? {} : { tabindex: "0", role: "application", "data-key": "answer", "aria-roledescription": word("map"), "aria-label": `${indexOf(at, array.shape)} ${numberText(array.values[at], state.digits)}` });

  // Return a small array as a matrix. The copies of a stretched array are pale.
  function matrix({ array, to, lit, at, digits: count }) {
    const { flats, isCopy, isLit } = heat.stretched(array, to, lit, state.cell);
    const columns = (to ?? array.shape).at(-1);
    const cell = (flat, i) => mathElement("mtd", { class: [isCopy(i) && "copy", isLit(i) && "lit", at === i && "at"].filter(Boolean).join(" ") || null, "data-flat": flat }, mathElement("mn", {}, signed(numeral(array.values[flat], count))));
    const rows = [];
    for (let i = 0; i < flats.length; i += columns) rows.push(mathElement("mtr", {}, ...flats.slice(i, i + columns).map((flat, j) => cell(flat, i + j))));
    return mathElement("mtable", { class: "matrix", ...chooser(array, at) }, ...rows); // the style sheet draws its brackets, because few fonts stretch theirs
  }

  // Return the rule of an edge with the names of its parameters; null if it is not known.
  function ruleText({ equation: tree, answer }) {
    if (tree === null) return null;
    const filled = fill(tree, (name) => ["name", name === "ans" ? answer : name]);
    return isExplained(filled) ? `${textOf(filled[1])}, ${textOf(filled[2])}` : textOf(filled);
  }

  // Return whether the rule of an edge, or the words about it, read a letter.
  const readsLetter = ({ equation: tree }, letter) => tree !== null && (refsOf(tree).includes(letter) || (isExplained(tree) && textOf(tree[2]).split(/[^\p{L}\p{N}_]+/u).includes(letter)));

  return { text, readsLetter, brief, ruleText, math, summedAxes, isSimple, derivativeText: (node) => textOf(derivative(labelOf(node))) };
})();
