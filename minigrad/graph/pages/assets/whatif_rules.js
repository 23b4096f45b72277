// What whatif.js can compute again: for each operation `forward(x, keywords, shapes)`, which gives the output, or a list of
// several, and `vjp(g, argument, x, keywords, y)`, which gives what minigrad's rule gives before un-broadcasting. `x` holds
// the operands by argument, `shapes` are those of the outputs. `keywords` are those that it understands, with a function that
// says which values (null: all).

const whatIfRules = (() => {
  const { array, map, range, sizeOf } = nd;
  const { deviations, dot, largest, logSumExp, mean, order, product, softmax, sum, variance } = lists;
  const rules = new Map();
  const declare = (name, forward, vjp, keywords = {}) => rules.set(name, { forward, vjp, keywords });

  // --- elementwise: the function, and for each argument what becomes of g ---

  function elementwise(name, f, derivatives, keywords) {
    const names = Object.keys(derivatives);
    declare(
      name,
      (x, k) => map((...values) => f(...values, k), ...names.map((argument) => x[argument])),
      (g, argument, x, k, y) => map((...values) => derivatives[argument](...values, k), g, ...names.map((one) => x[one]), y),
      keywords,
    );
  }

  // From -0.5 to 0.5 Math.expm1 and its kin are exact; erf is the series of exp(-x^2) (1 + 2x^2/3 + 4x^4/15 ...), all of
  // whose terms are positive (Abramowitz and Stegun, 7.1.6).
  function erf(x) {
    if (Number.isNaN(x) || Math.abs(x) > 6) return Number.isNaN(x) ? x : Math.sign(x);
    let term = x;
    let sum = x;
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }

  const sigmoid = (x) => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));
  const logAddExp = (x, y) => (x === y ? x + Math.LN2 : Math.max(x, y) + Math.log1p(Math.exp(-Math.abs(x - y))));
  const phi = (x) => Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
  const ratio = (x, length) => (length === 0 ? 0 : x / length);
  const even = (x) => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));

  function remainder(x, y) {
    const rest = x % y;
    return rest !== 0 && rest < 0 !== y < 0 ? rest + y : rest;
  }

  const zero = (g) => 0 * g;
  const same = (g) => g;
  const functions = {
    negative: [(x) => -x, (g) => -g],
    positive: [(x) => x, same],
    copy: [(a) => a, same, "a"],
    astype: [(x) => x, same],
    conjugate: [(x) => x, same],
    square: [(x) => x * x, (g, x) => 2 * g * x],
    reciprocal: [(x) => 1 / x, (g, x, y) => -g * y * y],
    sqrt: [Math.sqrt, (g, x, y) => (0.5 * g) / y],
    cbrt: [Math.cbrt, (g, x, y) => g / (3 * y * y)],
    exp: [Math.exp, (g, x, y) => g * y],
    exp2: [(x) => 2 ** x, (g, x, y) => g * y * Math.LN2],
    expm1: [Math.expm1, (g, x, y) => g * (y + 1)],
    log: [Math.log, (g, x) => g / x],
    log2: [Math.log2, (g, x) => g / (x * Math.LN2)],
    log10: [Math.log10, (g, x) => g / (x * Math.LN10)],
    log1p: [Math.log1p, (g, x) => g / (1 + x)],
    sin: [Math.sin, (g, x) => g * Math.cos(x)],
    cos: [Math.cos, (g, x) => -g * Math.sin(x)],
    tan: [Math.tan, (g, x, y) => g * (1 + y * y)],
    arcsin: [Math.asin, (g, x) => g / Math.sqrt((1 - x) * (1 + x))],
    arccos: [Math.acos, (g, x) => -g / Math.sqrt((1 - x) * (1 + x))],
    arctan: [Math.atan, (g, x) => g / (1 + x * x)],
    sinh: [Math.sinh, (g, x) => g * Math.cosh(x)],
    cosh: [Math.cosh, (g, x) => g * Math.sinh(x)],
    tanh: [Math.tanh, (g, x, y) => g * (1 - y * y)],
    arcsinh: [Math.asinh, (g, x, y) => g / Math.cosh(y)],
    arccosh: [Math.acosh, (g, x, y) => g / Math.sinh(y)],
    arctanh: [Math.atanh, (g, x) => g / ((1 - x) * (1 + x))],
    deg2rad: [(x) => x * (Math.PI / 180), (g) => g * (Math.PI / 180)],
    rad2deg: [(x) => x * (180 / Math.PI), (g) => g * (180 / Math.PI)],
    absolute: [Math.abs, (g, x) => g * Math.sign(x)],
    fabs: [Math.abs, (g, x) => g * Math.sign(x)],
    sign: [Math.sign, zero],
    floor: [Math.floor, zero],
    ceil: [Math.ceil, zero],
    trunc: [Math.trunc, zero],
    rint: [even, zero],
    round: [even, zero, "a"],
    erf: [erf, (g, x) => g * (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x)],
    relu: [(x) => Math.max(x, 0), (g, x, y) => g * (y > 0)],
    sigmoid: [sigmoid, (g, x, y) => g * y * (1 - y)],
    silu: [(x) => x * sigmoid(x), (g, x) => g * sigmoid(x) * (1 + x * (1 - sigmoid(x)))],
  };
  for (const [name, [f, derivative, argument = "x"]] of Object.entries(functions)) {
    elementwise(name, (x) => f(x), { [argument]: derivative }, name === "astype" || name === "copy" ? { dtype: null, order: null } : {});
  }

  const tanhInside = (x) => Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3));
  elementwise(
    "gelu",
    (x, k) => (k.approximate === "tanh" ? 0.5 * x * (1 + tanhInside(x)) : 0.5 * x * (1 + erf(x * Math.SQRT1_2))),
    {
      x: (g, x, y, k) => {
        if (k.approximate !== "tanh") return g * (0.5 * (1 + erf(x * Math.SQRT1_2)) + x * phi(x));
        const t = tanhInside(x);
        return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * Math.sqrt(2 / Math.PI) * (1 + 3 * 0.044715 * x * x));
      },
    },
    { approximate: null },
  );

  const extreme = (better) => [(g, x, y) => g * better(x, y) + 0.5 * g * (x === y), (g, x, y) => g * better(y, x) + 0.5 * g * (x === y)];
  const number = (x, y, better) => (Number.isNaN(x) ? y : Number.isNaN(y) ? x : better(x, y)); // the one that is no NaN
  const hasNaN = (better) => (x, y) => better(x, y) || Number.isNaN(y);
  const larger = (x, y) => x > y;
  const smaller = (x, y) => x < y;
  const lengths = [(g, x, y, out) => g * ratio(x, out), (g, x, y, out) => g * ratio(y, out)];
  const pairs = {
    add: [(x, y) => x + y, same, same],
    subtract: [(x, y) => x - y, same, (g) => -g],
    multiply: [(x, y) => x * y, (g, x, y) => g * y, (g, x) => g * x],
    divide: [(x, y) => x / y, (g, x, y) => g / y, (g, x, y, out) => (-g * out) / y],
    power: [
      (x, y) => x ** y,
      (g, x, y) => (y === 0 ? 0 * g : g * (y * x ** (y - 1))),
      (g, x, y, out) => g * out * Math.log(x === 0 && y >= 0 ? 1 : x),
    ],
    remainder: [remainder, same, (g, x, y) => -g * Math.round((x - remainder(x, y)) / y)],
    floor_divide: [(x, y) => Math.round((x - remainder(x, y)) / y), zero, zero],
    fmod: [(x, y) => x % y, same, (g, x, y, out) => -g * Math.round((x - out) / y)],
    maximum: [(x, y) => Math.max(x, y), ...extreme(larger)],
    minimum: [(x, y) => Math.min(x, y), ...extreme(smaller)],
    fmax: [(x, y) => number(x, y, Math.max), ...extreme(hasNaN(larger))],
    fmin: [(x, y) => number(x, y, Math.min), ...extreme(hasNaN(smaller))],
    hypot: [(x, y) => Math.hypot(x, y), ...lengths],
    logaddexp: [logAddExp, (g, x, y) => g * Math.exp(-logAddExp(0, y - x)), (g, x, y) => g * Math.exp(-logAddExp(0, x - y))],
  };
  for (const [name, [f, byX, byY]] of Object.entries(pairs)) elementwise(name, (x, y) => f(x, y), { x: byX, y: byY });
  rules.set("float_power", rules.get("power"));
  elementwise("arctan2", (y, x) => Math.atan2(y, x), {
    y: (g, y, x) => g * ratio(ratio(x, Math.hypot(x, y)), Math.hypot(x, y)),
    x: (g, y, x) => -g * ratio(ratio(y, Math.hypot(x, y)), Math.hypot(x, y)),
  });
  elementwise("where", (c, x, y) => (c ? x : y), { condition: zero, x: (g, c) => (c ? g : 0), y: (g, c) => (c ? 0 : g) });
  elementwise("clip", (a, low, high) => Math.min(Math.max(a, low), high), {
    a: (g, a, low, high) => g * (a >= low && a <= high),
    a_min: (g, a, low, high) => g * (a < low) * (low <= high),
    a_max: (g, a, low, high) => g * (Math.max(a, low) > high),
  });
  const { forward: clip, vjp: clipVjp } = rules.get("clip");
  const bounded = (x) => ({ a_min: nd.scalar(-Infinity), a_max: nd.scalar(Infinity), ...x });
  declare("clip", (x, k) => clip(bounded(x), k), (g, argument, x, k, y) => clipVjp(g, argument, bounded(x), k, y));

  // --- along axes: `f` and `pull` see the elements of one group ---

  const AXIS = { axis: null, dtype: null };
  // A number for each group.
  function reduction(name, f, pull, keywords = {}) {
    const groupsOf = (a, k) => nd.groups(a.shape, k.axis ?? null);
    const forward = (x, k, shapes) => {
      const [a] = Object.values(x);
      return array(shapes[0], groupsOf(a, k).map((group) => f(group.map((i) => a.values[i]), k)));
    };
    const vjp = (g, argument, { [argument]: a }, k, y) => {
      const result = nd.full(a.shape, 0);
      groupsOf(a, k).forEach((group, j) => {
        const pulled = pull(g.values[j], group.map((i) => a.values[i]), y.values[j], k);
        group.forEach((i, n) => (result.values[i] = pulled[n]));
      });
      return result;
    };
    declare(name, forward, vjp, { ...AXIS, keepdims: null, ...keywords });
  }

  // A function of a whole group, as many numbers as it has.
  function along(name, argument, f, pull, usual) {
    const groupsOf = (a, k) => nd.groups(a.shape, k.axis === undefined ? usual : k.axis);
    const fill = (a, shape, groups, compute) => {
      const result = nd.full(shape, 0);
      groups.forEach((group) => compute(group).forEach((value, n) => (result.values[group[n]] = value)));
      return result;
    };
    const of = (a, group) => group.map((i) => a.values[i]);
    declare(
      name,
      (x, k, shapes) => fill(x[argument], shapes[0], groupsOf(x[argument], k), (group) => f(of(x[argument], group))),
      (g, _, x, k, y) => fill(g, x[argument].shape, groupsOf(x[argument], k), (group) => pull(of(g, group), of(x[argument], group), of(y, group))),
      AXIS,
    );
  }

  const shared = (g, values, y) => values.map((value) => (value === y ? g / values.filter((other) => other === y).length : 0));
  const others = (values, i) => product(values.filter((_, j) => j !== i));

  reduction("sum", sum, (g, values) => values.map(() => g));
  reduction("mean", mean, (g, values) => values.map(() => g / values.length));
  reduction("prod", product, (g, values) => values.map((_, i) => g * others(values, i)));
  reduction("max", largest, shared);
  reduction("min", (values) => -largest(values.map((value) => -value)), shared);
  reduction("logsumexp", logSumExp, (g, values) => softmax(values).map((share) => g * share));
  const pullVariance = (g, values, ddof = 0) => deviations(values).map((d) => (2 * g * d) / (values.length - ddof));
  reduction("var", (values, k) => variance(values, k.ddof), (g, values, y, k) => pullVariance(g, values, k.ddof), { ddof: null });
  reduction(
    "std",
    (values, k) => Math.sqrt(variance(values, k.ddof)),
    (g, values, y, k) => pullVariance(0.5 * ratio(g, y), values, k.ddof),
    { ddof: null },
  );

  const euclidean = (ord) => ord === null || ord === "fro";
  reduction("norm", (values) => Math.sqrt(dot(values, values)), (g, values, y) => values.map((value) => g * ratio(value, y)), { ord: euclidean });

  const until = (values, i) => values.slice(0, i + 1);
  along("softmax", "x", softmax, (g, x, y) => y.map((one, i) => one * (g[i] - dot(g, y))), -1);
  along("log_softmax", "x", (x) => x.map((one) => one - largest(x) - Math.log(sum(x.map((other) => Math.exp(other - largest(x)))))),
    (g, x, y) => y.map((one, i) => g[i] - Math.exp(one) * sum(g)), -1);
  along("cumsum", "a", (a) => a.map((_, i) => sum(until(a, i))), (g) => g.map((_, i) => sum(g.slice(i))), null);
  along("cumprod", "a", (a) => a.map((_, i) => product(until(a, i))),
    (g, a) => g.map((_, i) => sum(g.slice(i).map((one, j) => one * others(until(a, i + j), i)))), null);
  along("sort", "a", (a) => order(a).map((i) => a[i]), (g, a) => {
    const back = [];
    order(a).forEach((i, place) => (back[i] = g[place]));
    return back;
  }, -1);

  // --- shapes: elements stay in their order, or go where the rule says ---

  for (const [name, argument, keywords] of [
    ["reshape", "a", { shape: null }], ["squeeze", "a", { axis: null }], ["expand_dims", "a", { axis: null }],
  ]) {
    declare(name, (x, k, shapes) => array(shapes[0], x[argument].values), (g, _, x) => array(x[argument].shape, g.values), keywords);
  }
  declare("broadcast_to", (x, k, shapes) => nd.pick(x.array, nd.places(x.array.shape, shapes[0]), shapes[0]), (g) => g, { shape: null });

  // `places(x, keywords)`: for each element of the output its place in the operand, or -1 for a 0.
  function moving(name, argument, places, keywords) {
    declare(
      name,
      (x, k, shapes) => array(shapes[0], places(x, k).map((place) => (place < 0 ? 0 : x[argument].values[place]))),
      (g, _, x, k) => nd.addAt(g, places(x, k), x[argument].shape),
      keywords,
    );
  }

  const all = (axes) => axes.map(() => ({ slice: [null, null, null] }));
  moving("transpose", "a", ({ a }, k) => nd.transposed(a.shape, k.axes ? nd.axesOf(a.shape.length, k.axes) : range(a.shape.length).reverse()), { axes: null });
  moving("swapaxes", "a", ({ a }, k) => {
    const [i, j] = nd.axesOf(a.shape.length, [k.axis1, k.axis2]);
    return nd.transposed(a.shape, nd.swapped(a.shape.length, i, j));
  }, { axis1: null, axis2: null });
  moving("getitem", "x", ({ x }, k) => nd.indexed(x.shape, k.index), { index: null });
  moving("take", "a", ({ a, indices }, k) => {
    const flat = k.axis === undefined || k.axis === null;
    const shape = flat ? [sizeOf(a.shape)] : a.shape;
    return nd.indexed(shape, [...all(flat ? [] : range(nd.axesOf(shape.length, k.axis)[0])), { array: indices }]);
  }, { axis: null });
  moving("take_along_axis", "arr", ({ arr, indices }, k) => {
    const shape = k.axis === null ? [sizeOf(arr.shape)] : arr.shape;
    const axis = k.axis === null ? 0 : nd.axesOf(shape.length, k.axis ?? -1)[0];
    const steps = nd.strides(shape);
    const others = nd.broadcastShape([shape, indices.shape].map((one) => one.map((n, i) => (i === axis ? 1 : n))));
    const full = others.map((n, i) => (i === axis ? indices.shape[axis] : n));
    const start = nd.places(shape.map((n, i) => (i === axis ? 1 : n)), full); // of a shape whose strides are others
    const from = nd.indexed(shape, all(shape).map((one, i) => (i === axis ? { slice: [0, 1, null] } : one)));
    return nd.places(indices.shape, full).map((place, i) => {
      const index = indices.values[place];
      return from[start[i]] + (index < 0 ? index + shape[axis] : index) * steps[axis];
    });
  }, { axis: null });
  moving("flip", "m", ({ m }, k) => {
    const flipped = nd.axesOf(m.shape.length, k.axis ?? null);
    return nd.indexed(m.shape, m.shape.map((_, i) => ({ slice: [null, null, flipped.includes(i) ? -1 : 1] })));
  }, { axis: null });
  moving("roll", "a", ({ a }, k) => {
    const shape = k.axis === null || k.axis === undefined ? [sizeOf(a.shape)] : a.shape;
    const shifts = shape.map(() => 0);
    nd.axesOf(shape.length, k.axis ?? null).forEach((axis, i) => (shifts[axis] += [k.shift].flat()[i] ?? [k.shift].flat()[0]));
    const steps = nd.strides(shape);
    return nd.grid(0, shape.map((n, axis) => range(n).map((i) => remainder(i - shifts[axis], n) * steps[axis])));
  }, { shift: null, axis: null });
  moving("repeat", "a", ({ a }, k) => {
    const shape = k.axis === null || k.axis === undefined ? [sizeOf(a.shape)] : a.shape;
    const axis = nd.axesOf(shape.length, k.axis ?? 0)[0];
    const counts = k.repeats.array ? k.repeats.array.values : new Array(shape[axis]).fill(k.repeats);
    const numbers = range(shape[axis]).flatMap((i) => new Array(counts[i]).fill(i));
    return nd.indexed(shape, [...all(range(axis)), { array: array([numbers.length], numbers) }]);
  }, { repeats: null, axis: null });
  moving("diagonal", "a", ({ a }, k) => {
    const [first, second] = nd.axesOf(a.shape.length, [k.axis1 ?? 0, k.axis2 ?? 1]);
    const [offset, steps] = [k.offset ?? 0, nd.strides(a.shape)];
    const [row, column] = [Math.max(-offset, 0), Math.max(offset, 0)];
    const length = Math.max(0, Math.min(a.shape[first] - row, a.shape[second] - column));
    const others = range(a.shape.length).filter((axis) => axis !== first && axis !== second);
    const start = row * steps[first] + column * steps[second];
    const along = range(length).map((i) => i * (steps[first] + steps[second]));
    return nd.grid(start, [...others.map((axis) => range(a.shape[axis]).map((i) => i * steps[axis])), along]);
  }, { offset: null, axis1: null, axis2: null });
  // Of each matrix the elements that lie far enough above the diagonal, or below it; the others become 0.
  function triangle(name, keep) {
    const kept = (a, k) => {
      const [rows, columns] = a.shape.slice(-2);
      const above = (i) => (i % columns) - (Math.floor(i / columns) % rows);
      return array(a.shape, a.values.map((value, i) => (keep(above(i), k.k ?? 0) ? value : 0)));
    };
    const forward = ({ m }, k, shapes) => kept(nd.pick(m, nd.places(m.shape, shapes[0]), shapes[0]), k);
    declare(name, forward, (g, _, x, k) => kept(g, k), { k: null });
  }
  triangle("tril", (above, k) => above <= k);
  triangle("triu", (above, k) => above >= k);
  declare(
    "scatter_add",
    ({ updates }, k, shapes) => nd.addAt(updates, nd.indexed(shapes[0], k.index), shapes[0]),
    (g, _, { updates }, k) => nd.pick(g, nd.indexed(g.shape, k.index), updates.shape),
    { index: null, shape: null },
  );

  // --- joining and splitting: blocks of consecutive elements, one of each part in turn ---

  function join(parts, axis, shape) {
    const sizes = parts.map((part) => sizeOf(part.shape.slice(axis)));
    const rounds = range(sizeOf(shape.slice(0, axis)));
    return array(shape, rounds.flatMap((j) => parts.flatMap((part, i) => part.values.slice(j * sizes[i], (j + 1) * sizes[i]))));
  }

  function cut(whole, axis, shapes) {
    const sizes = shapes.map((shape) => sizeOf(shape.slice(axis)));
    const rounds = range(sizeOf(whole.shape.slice(0, axis)));
    return shapes.map((shape, i) => {
      const start = (j) => j * sum(sizes) + sum(sizes.slice(0, i));
      return array(shape, rounds.flatMap((j) => whole.values.slice(start(j), start(j) + sizes[i])));
    });
  }

  const axisOf = (k, shape) => (k.axis === null ? 0 : nd.axesOf(shape.length, k.axis ?? 0)[0]);
  const operands = (x) => Object.values(x);
  for (const name of ["concatenate", "stack"]) {
    // Each part cut off at the axis is a block; without an axis, a part is a block.
    declare(
      name,
      (x, k, shapes) => join(operands(x).map((part) => (k.axis === null ? array([sizeOf(part.shape)], part.values) : part)), axisOf(k, shapes[0]), shapes[0]),
      (g, argument, x, k) => {
        const shapes = operands(x).map((part) => (k.axis === null ? [sizeOf(part.shape)] : part.shape));
        return array(x[argument].shape, cut(g, axisOf(k, g.shape), shapes)[argument].values);
      },
      { axis: null },
    );
  }
  declare(
    "split",
    (x, k, shapes) => cut(x.ary, axisOf(k, x.ary.shape), shapes),
    (gs, _, x, k, y) => join(gs.map((g, i) => g ?? nd.full(y[i].shape, 0)), axisOf(k, x.ary.shape), x.ary.shape),
    { axis: null, indices_or_sections: null },
  );

  return { rules, declare };
})();
