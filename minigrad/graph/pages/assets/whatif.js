// What if a leaf had another value? Computes the values and gradients of the page's graph again, in double precision.

const whatIf = (() => {
  const MOST_SCALARS = 300;
  const SENTENCES = {
    en: {
      large: (n) => `The graph has ${n} numbers; up to ${MOST_SCALARS} can be edited.`,
      operation: (name) => `The page cannot compute the operation '${name}' itself.`,
      keyword: (name, keyword) => `The page cannot compute '${name}' with ${keyword} itself.`,
      kind: (name) => `The page cannot compute with the kind of numbers that '${name}' gives.`,
      changed: (name) => `'${name}' was changed in place between two operations.`,
      differs: (name) =>
        `The page gets another result for '${name}' than the program did: the operation, its rule, or a hook is the program's own.`,
    },
    ja: {
      large: (n) => `グラフの数値は ${n} 個です。編集できるのは ${MOST_SCALARS} 個までです。`,
      operation: (name) => `演算「${name}」は、このページでは計算できません。`,
      keyword: (name, keyword) => `演算「${name}」の ${keyword} は、このページでは計算できません。`,
      kind: (name) => `「${name}」の数値の種類は、このページでは計算できません。`,
      changed: (name) => `「${name}」は、演算と演算の間で書き換えられています。`,
      differs: (name) => `「${name}」の結果が、プログラムのものと違います。演算か、その規則か、フックがプログラム独自のものです。`,
    },
  };

  // The operation of a node: what the page needs to compute it and its derivatives, from replay.py.
  const operationOf = (data, node) => data.replay.operations[data.nodes[node].operation];

  // Whether the page can compute a node, and the derivatives by the arguments along which the backward pass came.
  function knows(data, number) {
    const [operation, interpreter] = [operationOf(data, number), python.interpreter(data.replay.helpers)];
    const swept = data.edges.filter((edge) => edge.target === number && edge.raw !== null).map((edge) => edge.argument);
    const derivative = (argument) => operation.vjp[argument] ?? operation.vjp["*"];
    return Boolean(operation?.forward) && interpreter.knowsFunction(operation.forward) && swept.every((one) => derivative(one) !== undefined && interpreter.knows(derivative(one)));
  }

  function forward(data, number, operands) {
    const { arguments: names, forward } = operationOf(data, number);
    const { keywords } = data.nodes[number];
    const given = names.length ? names.map((name) => operands[name]) : [Object.values(operands)];
    const result = python.interpreter(data.replay.helpers).call(forward, given, keywords);
    return [result].flat().map(numpy.arrayOf);
  }

  // What the rule of a node gives for one argument, before un-broadcasting.
  function vjp(data, number, argument, g, operands, y) {
    const { arguments: names, defaults, vjp } = operationOf(data, number);
    const given = { ...defaults, ...data.nodes[number].keywords, g, ans: y, i: Number(argument), args: Object.values(operands) };
    for (const name of names) Object.assign(given, { [name]: operands[name] ?? null, [`${name}_shape`]: operands[name]?.shape });
    return numpy.arrayOf(python.interpreter(data.replay.helpers).evaluate(vjp[argument] ?? vjp["*"], given));
  }

  const nameOf = (node) => node.operation ?? node.name ?? node.kind; // what cannot be computed is the operation
  const same = (a, b) => a.values.length === b.values.length && a.values.every((value, i) => Object.is(Number(value), Number(b.values[i])));

  function edgesInto(data) {
    const into = data.nodes.map(() => []);
    data.edges.forEach((edge, number) => into[edge.target].push(number));
    return into;
  }

  // `edits`: for some leaves, by number, the new values in one list. Gives, in the form of the data: of each node a list of
  // its outputs' `values`, and of their `cotangents` (null where nothing arrives); of each edge along which the recorded
  // backward pass came the `contributions`: {raw, amount, sum}, as the rule gives it, as it is added, and the sum so far.
  function run(data, edits = {}) {
    const into = edgesInto(data);
    const operands = (node) => Object.fromEntries(into[node].map((number) => {
      const edge = data.edges[number];
      return [edge.argument, values[edge.source][edge.output]];
    }));
    const tried = (node, compute) => {
      try {
        return compute();
      } catch (error) {
        throw Object.assign(error, { node });
      }
    };
    const values = [];
    data.nodes.forEach((node, number) => {
      if (node.operation === null) {
        values.push(node.values.map((value) => ({ ...nd.read(value), ...(edits[number] && { values: edits[number].map(Number) }) })));
      } else {
        values.push(tried(number, () => forward(data, number, operands(number))));
      }
    });
    const cotangents = data.nodes.map((node) => node.values.map(() => null));
    const contributions = data.edges.map(() => null);
    const [end, output] = data.end;
    cotangents[end][output] = nd.read(data.nodes[end].gradients[output]);
    for (let number = data.nodes.length - 1; number >= 0; number--) {
      const [node, arrived] = [data.nodes[number], cotangents[number]];
      if (node.operation === null || arrived.every((g) => g === null)) continue;
      const [g, y] = node.values.length > 1 ? [arrived, values[number]] : [arrived[0], values[number][0]];
      for (const i of into[number].filter((i) => data.edges[i].raw !== null)) {
        const { source, output, argument } = data.edges[i];
        const raw = tried(number, () => vjp(data, number, argument, g, operands(number), y));
        const shape = values[source][output].shape;
        const amount = raw.shape.length === shape.length && raw.shape.every((n, axis) => n === shape[axis]) ? raw : nd.fit(raw, shape);
        const before = cotangents[source][output];
        const sum = before === null ? amount : nd.map((a, b) => a + b, before, amount);
        cotangents[source][output] = sum;
        contributions[i] = { raw, amount, sum };
      }
    }
    return { values, cotangents, contributions };
  }

  // Why the graph cannot be computed again, as a sentence; null if it can. It is tried: what comes out must be what was
  // recorded, to 9 digits, or to 3 where single precision took part.
  function reason(data, language = "en") {
    const say = SENTENCES[language];
    const scalars = data.nodes.flatMap((node) => node.values).reduce((n, value) => n + (value ? nd.sizeOf(value.shape) : 0), 0);
    if (scalars > MOST_SCALARS) return say.large(scalars);
    for (const [number, node] of data.nodes.entries()) {
      const unread = node.values.length === 0 || node.values.some((value) => value === null || !value.values || value.dtype.startsWith("complex"));
      if (node.operation === null) {
        if (unread) return say.kind(nameOf(node));
        continue;
      }
      if (!knows(data, number)) return say.operation(node.operation);
      if (unread) return say.kind(nameOf(node));
    }
    const changed = data.edges.find((edge) => edge.value !== null && !same(edge.value, data.nodes[edge.source].values[edge.output]));
    if (changed) return say.changed(nameOf(data.nodes[changed.source]));
    try {
      const wrong = firstDifference(data, run(data));
      return wrong === null ? null : say.differs(nameOf(wrong));
    } catch ({ keyword, node }) {
      const name = nameOf(data.nodes[node ?? data.end[0]]);
      return keyword ? say.keyword(name, keyword) : say.differs(name); // an index, an axis ... of a kind that is not known
    }
  }

  // The first node whose value, or the last whose gradient, comes out otherwise than it was recorded.
  function firstDifference(data, result) {
    const single = data.nodes.some((node) => node.values.some((value) => /float(16|32)/.test(value.dtype)));
    const tolerance = single ? 1e-3 : 1e-9;
    const wrong = data.nodes.find((node, i) => !node.values.every((value, j) => close(result.values[i][j], value, tolerance)));
    if (wrong) return wrong;
    const edge = data.edges.findLast((one, i) => one.raw !== null && !close(result.contributions[i]?.amount, one.amount ?? one.raw, tolerance));
    if (edge) return data.nodes[edge.target];
    const arrived = (g, recorded) => (recorded === null || recorded === undefined ? g === null : close(g, recorded, tolerance));
    return data.nodes.findLast((node, i) => !result.cotangents[i].every((g, j) => node.kind === "constant" || arrived(g, node.gradients[j]))) ?? null;
  }

  function close(a, recorded, tolerance) {
    if (!a || a.values.length !== recorded.values.length) return false;
    const want = recorded.values.map(Number);
    const scale = want.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 1);
    return want.every((value, i) => Object.is(value, a.values[i]) || value === a.values[i] || Math.abs(value - a.values[i]) <= tolerance * scale);
  }

  return { knows, reason, run, vjp };
})();
