// Finds the elements of the operands that an element of a step's result depends on: those whose replacement by NaN changes it. So the
// page needs no table of operations: a matrix product lights a row and a column, a softmax a row, a convolution a patch.

const depends = (() => {
  const MOST = 200_000; // elements to look at for one step; above this, the step of a matrix product would take 0.3 s
  let known = null; // of the step that was asked for last

  // Return the letters of a step's formula with their arrays, its answer, the nodes to which these belong, and a function from such
  // letters to the answer. Null if some of them are not on the page, or if there are several answers.
  function parts(step) {
    const { kind, edge: number, target } = timeline.at(step);
    const node = graph.nodes[target];
    const edges = operandsOf(target).map((one) => graph.edges[one]);
    const operands = Object.fromEntries(edges.map((one) => [one.argument, operandOf(one)]));
    const sources = Object.fromEntries(edges.map((one) => [one.argument, one.source]));
    if (kind === "forward") return { nodes: { ...sources, answer: target }, letters: operands, answer: node.values[0], compute: (letters) => whatIf.forward(graph, target, letters)[0] };
    const edge = graph.edges[number];
    const nodes = { ...sources, g: target, ans: target, part: edge.source, answer: edge.source };
    if (kind === "fit") return { nodes, letters: { part: edge.raw }, answer: edge.amount, compute: ({ part }) => nd.fit(part, edge.amount.shape) };
    const letters = { ...operands, g: node.gradients[0] ?? null, ans: node.values[0] };
    return { nodes, letters, answer: edge.raw, elementwise: edge.elementwise, compute: ({ g, ans, ...given }) => whatIf.vjp(graph, target, edge.argument, g, given, ans) };
  }

  // For each axis of an array and each index on it, replace these elements by NaN, and return which elements of the answer change.
  function changes(name, { letters, compute }, base) {
    const { shape, values } = letters[name];
    return nd.strides(shape).map((stride, axis) => nd.range(shape[axis]).map((index) => {
      const spoiled = nd.array(shape, values.map((x, flat) => (Math.floor(flat / stride) % shape[axis] === index ? NaN : Number(x))));
      return compute({ ...letters, [name]: spoiled }).values.map((x, i) => !Object.is(x, base[i]));
    }));
  }

  // Return the flat indices of the elements of a letter's array on which element `at` of the answer depends; null if this is not known.
  function found(step, name, at) {
    const { letters: { [name]: array }, elementwise, answer, tables } = step;
    if (!array?.values || !answer?.values) return null;
    if (elementwise && array.shape.length <= answer.shape.length) return [nd.places(array.shape, answer.shape)[at]];
    try {
      step.base ??= step.compute(step.letters).values;
      if (array.shape.reduce((sum, n) => sum + n, 0) * step.base.length > MOST) return null;
      tables[name] ??= changes(name, step, step.base);
    } catch {
      return null; // the page does not know the operation
    }
    const strides = nd.strides(array.shape); // once, because there may be thousands of elements
    return nd.range(array.values.length).filter((flat) => strides.every((stride, axis) => tables[name][axis][Math.floor(flat / stride) % array.shape[axis]][at]));
  }

  // Return {nodes, letters, answer, at, lit, part}: lit(name) are the elements behind the chosen element of the answer, and part(name) is the
  // array of these. `at` is null if the answer is a number.
  function of(step) {
    if (known?.step !== step || known.graph !== graph) known = { step, graph, tables: {}, ...parts(step) };
    const now = known;
    const { nodes, letters, answer, compute } = now;
    const wanted = (answer?.values?.length ?? 0) < 2 ? null : Math.min(state.cell, answer.values.length - 1); // a number has no elements to choose
    const at = wanted !== null && Object.keys(letters).some((name) => found(now, name, wanted) !== null) ? wanted : null;
    const lit = (name) => (at === null ? null : found(now, name, at));
    const part = (name) => {
      const [array, flats] = [letters[name], lit(name)];
      if (!flats?.length) return null;
      const indices = flats.map((flat) => nd.unravel(flat, array.shape));
      const shape = array.shape.map((_, axis) => new Set(indices.map((index) => index[axis])).size);
      return { ...nd.array(shape, flats.map((flat) => array.values[flat])), dtype: array.dtype };
    };
    return { nodes, letters, answer, compute, at, lit, part };
  }

  // Return the numbers whose plain sum is the chosen element of the answer, at most 12; null if it is computed in another way. Whether it
  // is a sum is tried with other numbers.
  function terms(step) {
    const { letters, compute, at, lit } = of(step);
    const names = Object.keys(letters).filter((name) => lit(name)?.length > 0);
    const flats = names.length === 1 ? lit(names[0]) : [];
    if (flats.length < 2 || flats.length > 12) return null;
    const array = letters[names[0]];
    const others = array.values.map((_, flat) => Math.sqrt(flat + 2));
    const sum = flats.reduce((total, flat) => total + others[flat], 0);
    const made = compute({ ...letters, [names[0]]: nd.array(array.shape, others) }).values[at];
    return Math.abs(made - sum) < 1e-5 * sum ? flats.map((flat) => array.values[flat]) : null;
  }

  // Return the slice that an array of a node shows if no formula needs another one: one that is full in value and gradient. Null if all
  // slices are shown, or if the array has another shape than the value.
  const slices = new Map();
  function usual(number, array = original.nodes[number].values[0]) {
    const { values: [value, ...more], gradients: [gradient] } = original.nodes[number];
    const isLike = (other) => Boolean(other && value) && nd.sameShape(other.shape, value.shape);
    if (more.length > 0 || !isLike(array)) return null;
    return keptIn(slices, number, () => heat.sliceOf([value, gradient].filter(isLike)));
  }

  // Return the slice that an array of a node shows now, everywhere: one with the elements that the formula is about, or else the usual one.
  function slice(number, array = original.nodes[number].values[0]) {
    const own = usual(number, array);
    if (own === null || timeline.at(state.step) === null) return own;
    const { nodes, letters, answer, at, lit } = of(state.step);
    const same = (other) => other && nd.sameShape(other.shape, array.shape);
    const name = Object.keys(letters).find((one) => nodes[one] === number && same(letters[one]) && lit(one)?.length > 0);
    const flats = at !== null && nodes.answer === number && same(answer) ? [at] : name === undefined ? [] : lit(name);
    const found = flats.map((flat) => Math.floor(flat / nd.sizeOf(array.shape.slice(-2))));
    return found.length === 0 || found.includes(own) ? own : found[0];
  }

  // Return the slice that the panel shows of an array: that of a node, or of the step's result.
  function shown(node, array) {
    const at = timeline.at(state.step);
    const owner = node ?? at?.source ?? at?.target ?? null;
    return owner === null ? null : slice(owner, array);
  }

  return { of, shown, terms, usual, slice };
})();
