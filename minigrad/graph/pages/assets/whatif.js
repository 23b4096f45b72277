// Computes the values and gradients of the page's graph again for edited values, in double precision.

const whatIf = (() => {
  // Return the data from replay.py with which the page computes a node's operation and its derivatives.
  function operationOf(data, node) {
    const found = data.replay.operations[data.nodes[node].operation];
    if (!found) throw Object.assign(new Error(), { unknown: true });
    return found;
  }

  // Return the numbers of the edges into each node.
  function edgesInto(data) {
    const into = data.nodes.map(() => []);
    data.edges.forEach((edge, number) => into[edge.target].push(number));
    return into;
  }

  function forward(data, number, operands) {
    const { arguments: names, forward } = operationOf(data, number);
    const { keywords } = data.nodes[number];
    const given = names.length ? names.map((name) => operands[name]) : [Object.values(operands)];
    const result = python.interpreter(data.replay.helpers).call(forward, given, keywords);
    return [result].flat().map(numpy.arrayOf);
  }

  // Return the result of a node's rule for one argument, before un-broadcasting.
  function vjp(data, number, argument, g, operands, y) {
    const { arguments: names, defaults, vjp } = operationOf(data, number);
    const given = { ...defaults, ...data.nodes[number].keywords, g, ans: y, i: Number(argument), args: Object.values(operands) };
    for (const name of names) Object.assign(given, { [name]: operands[name] ?? null, [`${name}_shape`]: operands[name]?.shape });
    return numpy.arrayOf(python.interpreter(data.replay.helpers).evaluate(vjp[argument] ?? vjp["*"] ?? ["no rule"], given));
  }

  const nameOf = (node) => node.operation ?? node.name ?? node.kind; // the name of a node in messages
  const same = (a, b) => a.values.length === b.values.length && a.values.every((value, i) => Object.is(Number(value), Number(b.values[i])));

  // `edits`: for some leaves, by number, the new values in one list; for some operations, the numbers that are added to the
  // first output before others read it. Returns for each node a list of its outputs' `values` and `cotangents` (null if none
  // arrives), and for each edge of the recorded backward pass its contribution,
  // {raw, amount, sum}: the rule's result, the array that is added, and the sum so far. All have the form of the data.
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
    const [values, answers] = [[], []]; // an operation's rules read its own answer
    data.nodes.forEach((node, number) => {
      if (node.operation === null) {
        values.push(node.values.map((value) => ({ ...nd.read(value), ...(edits[number] && { values: edits[number].map(Number) }) })));
      } else {
        answers[number] = tried(number, () => forward(data, number, operands(number)));
        const [first, ...others] = answers[number];
        values.push(edits[number] ? [nd.map((x, by) => x + by, first, nd.array(first.shape, edits[number])), ...others] : answers[number]);
      }
    });
    const cotangents = data.nodes.map((node) => node.values.map(() => null));
    const contributions = data.edges.map(() => null);
    const [end, output] = data.end;
    cotangents[end][output] = nd.read(data.nodes[end].gradients[output]);
    for (let number = data.nodes.length - 1; number >= 0; number--) {
      const [node, arrived] = [data.nodes[number], cotangents[number]];
      if (node.operation === null || arrived.every((g) => g === null)) continue;
      const [g, y] = node.values.length > 1 ? [arrived, answers[number]] : [arrived[0], answers[number][0]];
      for (const i of into[number].filter((i) => data.edges[i].raw !== null)) {
        const { source, output, argument } = data.edges[i];
        const raw = tried(number, () => vjp(data, number, argument, g, operands(number), y));
        const shape = values[source][output].shape;
        const amount = nd.sameShape(raw.shape, shape) ? raw : nd.fit(raw, shape);
        const before = cotangents[source][output];
        const sum = before === null ? amount : nd.map((a, b) => a + b, before, amount);
        cotangents[source][output] = sum;
        contributions[i] = { raw, amount, sum };
      }
    }
    return { values, cotangents, contributions };
  }

  // Return the reason why the graph cannot be computed again, {word, values}; null if it can. A trial run must give the recorded
  // numbers to 9 digits, or to 3 digits if single precision took part.
  function reason(data) {
    const because = (word, values) => ({ word: `cannot_${word}`, values });
    const moved = data.nodes.filter((node) => node.kind !== "constant").flatMap((node) => node.values);
    const n = moved.reduce((sum, value) => sum + (value ? nd.sizeOf(value.shape) : 0), 0);
    if (n > data.limits.moved) return because("large", { n, most: data.limits.moved });
    for (const node of data.nodes) {
      if (node.values.some((value) => value && !value.values)) return because("left", { name: nameOf(node) });
      if (node.values.length === 0 || node.values.some((value) => value === null || value.dtype.startsWith("complex"))) return because("kind", { name: nameOf(node) });
    }
    const changed = data.edges.find((edge) => edge.value !== null && !same(edge.value, data.nodes[edge.source].values[edge.output]));
    if (changed) return because("changed", { name: nameOf(data.nodes[changed.source]) });
    try {
      const wrong = firstDifference(data, run(data));
      return wrong === null ? null : because("differs", { name: nameOf(wrong) });
    } catch ({ keyword, unknown, node }) {
      const name = nameOf(data.nodes[node ?? data.end[0]]);
      return because(keyword ? "keyword" : unknown ? "operation" : "differs", { name, keyword }); // for example an index or an axis of an unknown kind
    }
  }

  // Return the first node whose value, or the last one whose gradient, differs from the recorded one.
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

  return { edgesInto, forward, reason, run, vjp };
})();
