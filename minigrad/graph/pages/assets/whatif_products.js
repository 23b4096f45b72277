// What whatif.js can compute again, continued: products, and the fused functions of networks.

(() => {
  const { rules, declare } = whatIfRules;
  const { array, map, range, sizeOf } = nd;
  const { deviations, dot, logSumExp, mean, softmax, sum, variance } = lists;
  const operands = (x) => Object.values(x);

  // --- products: sums over labels ---

  function product2(name, labels, keywords) {
    declare(
      name,
      (x, k) => {
        const [a, b] = operands(x);
        const [terms, output] = labels(a.shape.length, b.shape.length, k);
        return nd.contract([a, b], terms, output, nd.labelSizes([a, b], terms));
      },
      (g, argument, x, k) => {
        const [a, b] = operands(x);
        const [terms, output] = labels(a.shape.length, b.shape.length, k);
        const sizes = nd.labelSizes([a, b], terms);
        const first = argument === Object.keys(x)[0];
        const batch = name === "matmul" ? output.filter((label) => label.startsWith("batch")) : [];
        const summed = name === "matmul" && !first && b.shape.length === 2; // one product over all rows
        const mine = terms[first ? 0 : 1];
        const free = name === "matmul" && !first && b.shape.length === 1 ? output : summed ? [] : batch; // left to un-broadcasting
        const kept = [...free, ...mine.filter((label) => !free.includes(label))];
        return nd.contract([g, first ? b : a], [output, terms[first ? 1 : 0]], kept, sizes);
      },
      keywords,
    );
  }

  product2("matmul", (a, b) => {
    const batch = range(Math.max(a, b, 2) - 2).map((i) => `batch${i}`);
    const x = a === 1 ? ["k"] : [...batch.slice(batch.length - a + 2), "i", "k"];
    const y = b === 1 ? ["k"] : [...batch.slice(batch.length - b + 2), "k", "j"];
    return [[x, y], [...batch, ...(a === 1 ? [] : ["i"]), ...(b === 1 ? [] : ["j"])]];
  });
  const free = (letter, n) => range(n).map((i) => letter + i);
  const contracted = (at) => (a, b) => {
    const [left, right] = [free("a", a), free("b", b)];
    if (a && b) left[a - 1] = right[b - at(b)] = "k";
    return [[left, right], [...left, ...right].filter((label) => label !== "k")];
  };
  product2("dot", contracted((b) => Math.min(2, b)));
  product2("inner", contracted(() => 1));
  product2("tensordot", (a, b, k) => {
    const n = k.axes ?? 2;
    const pairs = Array.isArray(n) ? n.map((axes) => axes.array?.values ?? [axes].flat()) : [range(n).map((i) => a - n + i), range(n)];
    const [left, right] = [free("a", a), free("b", b)];
    const [ofA, ofB] = [nd.axesOf(a, pairs[0]), nd.axesOf(b, pairs[1])];
    ofA.forEach((axis, i) => (left[axis] = right[ofB[i]] = `k${i}`));
    return [[left, right], [...left, ...right].filter((label) => !label.startsWith("k"))];
  }, { axes: null });
  declare(
    "vdot",
    ({ a, b }) => nd.scalar(dot(a.values, b.values)),
    (g, argument, x) => array(x[argument].shape, (argument === "a" ? x.b : x.a).values.map((value) => value * g.values[0])),
  );
  const flat = (a) => array([sizeOf(a.shape)], a.values);
  declare(
    "outer",
    ({ a, b }, k, shapes) => array(shapes[0], a.values.flatMap((one) => b.values.map((other) => one * other))),
    (g, argument, { a, b }) =>
      argument === "a"
        ? array(a.shape, nd.contract([g, flat(b)], [["i", "j"], ["j"]], ["i"], { i: sizeOf(a.shape), j: sizeOf(b.shape) }).values)
        : array(b.shape, nd.contract([flat(a), g], [["i"], ["i", "j"]], ["j"], { i: sizeOf(a.shape), j: sizeOf(b.shape) }).values),
  );

  function einsumLabels(k, arrays) {
    const [inputs, written] = k.subscripts.replaceAll(" ", "").split("->");
    const counts = inputs.split(",").map((term, i) => (term.includes(".") ? arrays[i].shape.length - term.replace("...", "").length : 0));
    const dots = (n) => range(n).map((i) => `dot${Math.max(...counts) - n + i}`);
    const spell = (term, n) => term.split("...").flatMap((part, i) => [...(i ? dots(n) : []), ...part]);
    const letters = [...inputs.replaceAll(/[.,]/g, "")].sort();
    const single = letters.filter((letter) => letters.indexOf(letter) === letters.lastIndexOf(letter)).join("");
    const output = written ?? (inputs.includes(".") ? "..." : "") + single;
    return [inputs.split(",").map((term, i) => spell(term, counts[i])), spell(output, Math.max(...counts))];
  }
  declare(
    "einsum",
    (x, k) => {
      const [terms, output] = einsumLabels(k, operands(x));
      return nd.contract(operands(x), terms, output, nd.labelSizes(operands(x), terms));
    },
    (g, argument, x, k) => {
      const arrays = operands(x);
      const [terms, output] = einsumLabels(k, arrays);
      const rest = range(arrays.length).filter((i) => i !== Number(argument));
      const sizes = nd.labelSizes(arrays, terms);
      return nd.contract([g, ...rest.map((i) => arrays[i])], [output, ...rest.map((i) => terms[i])], terms[argument], sizes);
    },
    { subscripts: null, optimize: null },
  );

  // --- networks: compositions, whose gradients minigrad gives in the shapes of the operands ---

  const matmul = (x, y) => rules.get("matmul").forward({ x, y });
  const matmulVjp = (g, argument, x, y) => rules.get("matmul").vjp(g, argument, { x, y });
  const times = (a, b) => map((x, y) => x * y, a, b);
  declare(
    "affine",
    ({ x, weight, bias }) => map((a, b) => a + b, matmul(x, weight), bias),
    (g, argument, { x, weight, bias }) => {
      if (argument === "bias") return nd.fit(g, g.shape.length > 1 && bias.shape.length === 1 ? g.shape.slice(-1) : bias.shape);
      return argument === "x" ? nd.fit(matmulVjp(g, "x", x, weight), x.shape) : nd.fit(matmulVjp(g, "y", x, weight), weight.shape);
    },
  );

  function rowwise(f, ...arrays) {
    const d = arrays[0].shape[arrays[0].shape.length - 1];
    const rows = d ? arrays[0].values.length / d : 0;
    return array(arrays[0].shape, range(rows).flatMap((j) => f(...arrays.map((a) => a.values.slice(j * d, (j + 1) * d)))));
  }
  const normed = (x, eps = 1e-5) => rowwise((row) => deviations(row).map((one) => one / Math.sqrt(variance(row) + eps)), x);
  declare(
    "layer_norm",
    ({ x, gamma, beta }, k) => map((z, a, b) => z * a + b, normed(x, k.eps), gamma, beta),
    (g, argument, { x, gamma, beta }, k) => {
      if (argument === "beta") return nd.fit(g, beta.shape);
      const z = normed(x, k.eps);
      if (argument === "gamma") return nd.fit(times(g, z), gamma.shape);
      const pull = (h, row, zs) => {
        const along = dot(h, zs) / h.length;
        const deviation = Math.sqrt(variance(row) + (k.eps ?? 1e-5));
        return deviations(h).map((one, i) => (one - zs[i] * along) / deviation);
      };
      return rowwise(pull, times(g, gamma), x, z);
    },
    { eps: null },
  );

  declare(
    "cross_entropy",
    ({ logits, labels }, k, shapes) => {
      const d = logits.shape[logits.shape.length - 1];
      const losses = labels.values.map((label, j) => {
        const row = logits.values.slice(j * d, (j + 1) * d);
        return logSumExp(row) - row[label];
      });
      const reduced = { mean: () => [mean(losses)], sum: () => [sum(losses)], none: () => losses };
      return array(shapes[0], reduced[k.reduction ?? "mean"]());
    },
    (g, argument, { logits, labels }, k) => {
      const n = (k.reduction ?? "mean") === "mean" ? labels.values.length : 1;
      const ofRow = (j) => (k.reduction === "none" ? g.values[j] : g.values[0] / n);
      let j = 0;
      return rowwise((row) => {
        const [label, factor] = [labels.values[j], ofRow(j++)];
        return softmax(row).map((share, i) => (share - (i === label)) * factor);
      }, logits);
    },
    { reduction: null },
  );

  // (..., length, heads * d) -> (..., heads, length, d), and back
  function split(x, heads) {
    const [length, d] = x.shape.slice(-2);
    const apart = array([...x.shape.slice(0, -2), length, heads, d / heads], x.values);
    return nd.transpose(apart, nd.swapped(apart.shape.length, apart.shape.length - 3, apart.shape.length - 2));
  }
  function merge(x) {
    const back = nd.transpose(x, nd.swapped(x.shape.length, x.shape.length - 3, x.shape.length - 2));
    const [length, heads, d] = back.shape.slice(-3);
    return array([...back.shape.slice(0, -3), length, heads * d], back.values);
  }
  const transposed = (x) => nd.transpose(x, nd.swapped(x.shape.length, x.shape.length - 2, x.shape.length - 1));
  const softmaxRows = (scores) => rowwise(softmax, scores);

  const LOWEST = -1e30; // a score that is masked; in a bias it masks, and what is less does, too

  function attend({ query, key, value, mask, bias }, k) {
    const heads = k.num_heads ?? 1;
    const [q, keys, v] = [query, key, value].map((x) => split(x, heads));
    const scale = k.scale ?? 1 / Math.sqrt(q.shape[q.shape.length - 1]);
    let weights = map((score) => score * scale, matmul(q, transposed(keys)));
    if (bias) weights = map((b, score) => (b <= LOWEST ? LOWEST : score + b), bias, weights);
    if (mask) weights = map((allowed, score) => (allowed ? score : LOWEST), mask, weights);
    weights = softmaxRows(weights);
    if (bias) weights = map((b, weight) => (b <= LOWEST ? 0 : weight), bias, weights);
    if (mask) weights = map((allowed, weight) => (allowed ? weight : 0), mask, weights);
    return { heads, q, keys, v, scale, weights };
  }
  declare(
    "attention",
    (x, k) => {
      const { v, weights } = attend(x, k);
      return merge(matmul(weights, v));
    },
    (g, argument, x, k) => {
      const { heads, q, keys, v, scale, weights } = attend(x, k);
      const h = split(g, heads);
      if (argument === "value") return nd.fit(merge(matmul(transposed(weights), h)), x.value.shape);
      const scores = rowwise((dw, w) => w.map((one, i) => one * (dw[i] - dot(dw, w))), matmul(h, transposed(v)), weights);
      if (argument === "bias") return nd.fit(scores, x.bias.shape);
      const scaled = map((score) => score * scale, scores);
      const pulled = argument === "query" ? matmul(scaled, keys) : matmul(transposed(scaled), q);
      return nd.fit(merge(pulled), x[argument].shape);
    },
    { scale: null, num_heads: null },
  );
})();
