// Computes the right answer of a question, and finds the usual mistake behind a wrong answer.
// Each mistake gives a number. If two mistakes give the same number, or none fits the answer, there is no diagnosis.

const mistakes = (() => {
  const CLOSE = 0.01; // the relative error up to which an answer is right
  const numbersOf = (array) => (array?.values ?? []).map(Number);
  const near = (a, b, tolerance = CLOSE) => Math.abs(a - b) <= Math.max(tolerance * Math.abs(b), 1e-12);

  // Return the edges that contribute to the gradient of an edge's source, in the order of the steps.
  const paths = (edge) => timeline.arrivals(graph.edges[edge].source, graph.edges[edge].output).map((arrival) => arrival.edge);

  // Return the question of a step, {of: "raw" | "amount" | "sum", edge, at, right}: the rule's result, this result in the operand's
  // shape, or the gradient that it completes. `at` is the position of the largest element. It is null if there is no question.
  function question(step) {
    const { kind, edge } = timeline.at(step) ?? { kind: "forward" };
    if (kind === "forward") return null;
    const all = paths(edge);
    const of = timeline.adds(step) && all.length > 1 && all.at(-1) === edge ? "sum" : kind === "fit" ? "amount" : "raw";
    const array = graph.edges[edge][of];
    const numbers = array?.values?.length <= graph.limits.asked ? numbersOf(array) : [];
    if (numbers.length === 0 || !numbers.every(Number.isFinite)) return null;
    const sizes = numbers.map(Math.abs);
    const at = sizes.indexOf(Math.max(...sizes));
    return { of, edge, at, right: numbers[at], shape: array.shape };
  }

  // Return the rule of the edge's operation for another argument, gradient or operands; null if the page cannot compute it.
  function rule(edge, { argument = edge.argument, incoming = null, change = (x) => x } = {}) {
    const node = graph.nodes[edge.target];
    if (node.values.length > 1) return null;
    try {
      const operands = operandsOf(edge.target).map((one) => graph.edges[one]).map((one) => [one.argument, change(nd.read(operandOf(one)), one.argument)]);
      const g = incoming ?? nd.read(node.gradients[0]);
      return whatIf.vjp(graph, edge.target, argument, g, Object.fromEntries(operands), nd.read(node.values[0]));
    } catch {
      return null; // an unknown operation, keyword or index, or shapes that do not fit
    }
  }

  // Return the results of wrong uses of the rule, as whole arrays: [kind, array].
  function wrongRules(edge) {
    const node = graph.nodes[edge.target];
    const g = node.gradients.length === 1 && node.gradients[0]?.values ? nd.read(node.gradients[0]) : null;
    const found = [];
    if (g !== null && (g.values.length === 1 || nd.sameShape(g.shape, edge.raw.shape))) {
      found.push(["local", rule(edge, { incoming: nd.full(g.shape, 1) })]);
      if (nd.sameShape(g.shape, edge.raw.shape)) found.push(["incoming", g]);
    }
    const arrived = timeline.arrivals(edge.target, 0).map((arrival) => amountOf(arrival.edge));
    if (g !== null && arrived.length > 1) { // with the gradient of the target as it was after one of several contributions
      for (const part of arrived.filter(({ values }) => values)) found.push(["early", rule(edge, { incoming: nd.read(part) })]);
    }
    for (const { argument } of operandsOf(edge.target).map((one) => graph.edges[one])) {
      if (argument !== edge.argument) found.push(["other", rule(edge, { argument })]);
    }
    if (edge.raw.shape.length === 2) {
      const [rows, columns] = edge.raw.shape;
      const places = nd.range(rows * columns).map((place) => [Math.floor(place / columns), place % columns]);
      const turned = places.map(([i, j]) => (i < columns && j < rows ? Number(edge.raw.values[j * columns + i]) : NaN));
      found.push(["transposed", nd.array(edge.raw.shape, turned)]);
      const square = (x) => x.shape.length === 2 && x.shape[0] === x.shape[1];
      const change = (x, argument) => (argument !== edge.argument && square(x) ? nd.transpose(x, [1, 0]) : x);
      if (JSON.stringify(node.notation).includes('"@"')) found.push(["transposed", rule(edge, { change })]);
    }
    return found.filter(([, array]) => array !== null && nd.sameShape(array.shape, edge.raw.shape));
  }

  // Return all usual mistakes: {kind, value}, with the number that each one gives instead of the right one.
  function mutants(asked) {
    const edge = graph.edges[asked.edge];
    const found = [{ kind: "sign", value: -asked.right }];
    const operand = graph.nodes[edge.source].values[edge.output];
    if (operand?.values) {
      const to = asked.of === "raw" && nd.sizeOf(edge.raw.shape) > operand.values.length;
      const place = to ? nd.places(operand.shape, edge.raw.shape)[asked.at] : asked.at;
      found.push({ kind: "value", value: Number(operand.values[place]) });
    }
    if (asked.of === "sum") { // the sums that have only one path, or all paths except one
      const addends = paths(asked.edge).map((one) => numbersOf(amountOf(one))[asked.at]);
      return [...found, ...addends.flatMap((addend) => [addend, asked.right - addend]).map((value) => ({ kind: "path", value }))];
    }
    const summed = asked.of === "amount" && edge.raw.values && nd.sizeOf(edge.raw.shape) > nd.sizeOf(edge.amount.shape);
    if (edge.raw.values) {
      const fitted = (array) => (asked.of === "amount" ? nd.fit(array, edge.amount.shape) : array);
      found.push(...wrongRules(edge).map(([kind, array]) => ({ kind, value: fitted(array).values[asked.at] })));
    }
    if (summed) {
      const copies = nd.places(edge.amount.shape, edge.raw.shape);
      edge.raw.values.forEach((value, i) => copies[i] === asked.at && found.push({ kind: "broadcast", value: Number(value) }));
    }
    return found;
  }

  // Return the unit of the last digit that a reader typed.
  function unit(text) {
    const [, fraction = "", power = "0"] = /^[+-]?\d*(?:[.,](\d*))?(?:e([+-]?\d+))?$/i.exec(text.trim()) ?? [];
    return 10 ** (Number(power) - fraction.length);
  }

  // Return "right", the kind of the only mistake that gives this answer, or null. `answer` is the typed text, or a number.
  function diagnose(answer, asked) {
    const text = String(answer);
    const typed = typedNumber(text);
    if (near(typed, asked.right)) return "right";
    const other = mutants(asked).filter(({ value }) => Number.isFinite(value) && value !== 0 && !near(value, asked.right));
    const fits = ({ value }) => Math.abs(typed - value) <= Math.max(Math.min(unit(text), 0.01 * Math.abs(value)), 1e-6 * Math.abs(value));
    const kinds = new Set(other.filter(fits).map(({ kind }) => kind));
    return kinds.size === 1 ? [...kinds][0] : null;
  }

  return { diagnose, mutants, paths, question };
})();
