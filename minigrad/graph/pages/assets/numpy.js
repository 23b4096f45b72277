// NumPy's functions for the arrays of nd.js, with NumPy's names, and functions of minigrad that rules use, with their full names:
// replay.py reads these names from here. There are no derivatives here: they are trees in the page's data (python.js).

const numpy = (() => {
  const { array, axesOf, map, pick, range, sizeOf } = nd;
  const functions = new Map();
  const define = (name, parameters, f) => functions.set(name, Object.assign(f, { parameters: parameters.split(" ") }));

  // Turn a number, a list of numbers, or an array of the page's data into an array.
  function arrayOf(x) {
    if (Array.isArray(x)) return array([x.length], x.map(Number));
    if (x === null || typeof x !== "object") return nd.scalar(Number(x));
    return x.array ? nd.read(x.array) : x;
  }
  const listOf = (x) => (Array.isArray(x) ? x : arrayOf(x).values);
  const numberOf = (x) => (typeof x === "object" ? arrayOf(x).values[0] : Number(x));
  const flat = (a) => array([sizeOf(a.shape)], a.values);

  // --- elementwise ---

  // The series exp(-x^2) (1 + 2x^2/3 + 4x^4/15 ...) (Abramowitz and Stegun, 7.1.6). All its terms are positive, so nothing cancels.
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

  const even = (x) => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));
  const above = (x, y) => (x === y ? x : Math.max(x, y)); // the number that logaddexp factors out
  const number = (x, y, better) => (Number.isNaN(x) ? y : Number.isNaN(y) ? x : better(x, y)); // the number that is not NaN
  function remainder(x, y) {
    const rest = x % y;
    return rest !== 0 && rest < 0 !== y < 0 ? rest + y : rest;
  }
  const elementwise = {
    negative: (x) => -x, positive: (x) => x, copy: (a) => a, astype: (x) => x, conjugate: (x) => x, real: (val) => val,
    square: (x) => x * x, reciprocal: (x) => 1 / x, exp2: (x) => 2 ** x, arcsin: (x) => Math.asin(x),
    arccos: (x) => Math.acos(x), arctan: (x) => Math.atan(x), arcsinh: (x) => Math.asinh(x),
    arccosh: (x) => Math.acosh(x), arctanh: (x) => Math.atanh(x), deg2rad: (x) => x * (Math.PI / 180),
    rad2deg: (x) => x * (180 / Math.PI), absolute: (x) => Math.abs(x), fabs: (x) => Math.abs(x),
    rint: even, round: (a) => even(a), isnan: (x) => Number.isNaN(x),
    isinf: (x) => Math.abs(x) === Infinity, isfinite: (x) => Number.isFinite(x), logical_not: (x) => !x, float: (x) => x,
    add: (x, y) => x + y, subtract: (x, y) => x - y, multiply: (x, y) => x * y, divide: (x, y) => x / y,
    power: (x, y) => x ** y, float_power: (x, y) => x ** y, remainder, fmod: (x, y) => x % y,
    floor_divide: (x, y) => Math.round((x - remainder(x, y)) / y), ldexp: (x, exponent) => x * 2 ** exponent,
    maximum: (x, y) => Math.max(x, y), minimum: (x, y) => Math.min(x, y),
    fmax: (x, y) => number(x, y, Math.max), fmin: (x, y) => number(x, y, Math.min), hypot: (x, y) => Math.hypot(x, y),
    arctan2: (y, x) => Math.atan2(y, x), heaviside: (x, y) => (x === 0 ? y : Number.isNaN(x) ? x : Number(x > 0)),
    copysign: (x, y) => (y < 0 || Object.is(y, -0) ? -Math.abs(x) : Math.abs(x)),
    logaddexp: (x, y) => (x === y ? x + Math.LN2 : above(x, y) + Math.log1p(Math.exp(-Math.abs(x - y)))),
    logaddexp2: (x, y) => (x === y ? x + 1 : above(x, y) + Math.log1p(2 ** -Math.abs(x - y)) / Math.LN2),
    logical_and: (x, y) => x && y, logical_or: (x, y) => x || y, equal: (x, y) => x === y, not_equal: (x, y) => x !== y,
    less: (x, y) => x < y, less_equal: (x, y) => x <= y, greater: (x, y) => x > y, greater_equal: (x, y) => x >= y,
    where: (condition, x, y) => (condition ? x : y),
  };
  // These functions have the same names in Math.
  for (const name of "sqrt cbrt exp expm1 log log2 log10 log1p sin cos tan sinh cosh tanh sign floor ceil trunc".split(" ")) {
    elementwise[name] = (x) => Math[name](x);
  }
  const plain = (x) => x === null || typeof x !== "object";
  function defineElementwise(name, f) {
    const one = (x, y, z) => Number(f(x, y, z));
    const parameters = f.toString().match(/\(([^)]*)\)/)[1];
    define(name, parameters.replaceAll(",", ""), (...xs) => (xs.every(plain) ? one(...xs.map(Number)) : map(one, ...xs.map(arrayOf))));
  }
  Object.entries(elementwise).forEach(([name, f]) => defineElementwise(name, f));
  defineElementwise("minigrad.rules.special.erf", erf);
  for (const name of ["copy", "astype"]) functions.get(name).parameters.push("order");
  const call = (name, ...xs) => functions.get(name)(...xs);
  define("clip", "a a_min a_max", (a, low, high) => call("minimum", call("maximum", a, low ?? -Infinity), high ?? Infinity));

  // --- along axes ---

  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const product = (values) => values.reduce((total, value) => total * value, 1);
  const mean = (values) => sum(values) / values.length;
  const largest = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
  function variance(values, ddof) {
    const middle = mean(values);
    return sum(values.map((value) => (value - middle) ** 2)) / (values.length - (ddof ?? 0));
  }
  const reductions = {
    sum, prod: product, max: largest, mean, var: variance,
    min: (values) => -largest(values.map((value) => -value)), std: (values, ddof) => Math.sqrt(variance(values, ddof)),
    any: (values) => Number(values.some(Boolean)),
  };
  for (const [name, f] of Object.entries(reductions)) {
    const reduce = (given, axis = null, keepdims = false, ddof = 0) => {
      if (Array.isArray(given)) return f(given.map(Number));
      const a = arrayOf(given);
      const reduced = axesOf(a.shape.length, axis);
      const shape = a.shape.map((n, i) => (reduced.includes(i) ? 1 : n)).filter((_, i) => keepdims || !reduced.includes(i));
      return array(shape, nd.groups(a.shape, axis).map((group) => f(group.map((i) => a.values[i]), ddof)));
    };
    define(name, `a axis keepdims${name === "var" || name === "std" ? " ddof" : ""}`, reduce);
  }
  define("minigrad.engine.fitting.sum_over", "array axes", (a, axes) => call("sum", a, axes, true));
  define("norm", "x ord axis keepdims", (x, ord = null, axis = null, keepdims = false) => {
    const euclidean = ord === null || ord === "fro" || (ord === 2 && axesOf(x.shape.length, axis).length === 1);
    if (!euclidean) throw Object.assign(new Error("another norm"), { keyword: "ord" });
    return call("sqrt", call("sum", call("square", x), axis, keepdims));
  });

  // Return the indices that sort the numbers, with NaN at the end. The sort is stable.
  function order(values) {
    const compare = (i, j) => Number.isNaN(values[i]) - Number.isNaN(values[j]) || values[i] - values[j] || i - j;
    return values.map((_, i) => i).sort(compare);
  }

  for (const [name, usual, f] of [
    ["cumsum", null, (a) => a.map((_, i) => sum(a.slice(0, i + 1)))], ["cumprod", null, (a) => a.map((_, i) => product(a.slice(0, i + 1)))],
    ["sort", -1, (a) => order(a).map((i) => a[i])], ["argsort", -1, order],
  ]) {
    define(name, "a axis", (given, axis = usual) => {
      const a = axis === null ? flat(arrayOf(given)) : arrayOf(given);
      const result = nd.full(a.shape, 0);
      const each = (group) => f(group.map((i) => a.values[i])).forEach((value, n) => (result.values[group[n]] = value));
      nd.groups(a.shape, axis).forEach(each);
      return result;
    });
  }

  // --- making and reshaping arrays ---

  const whole = (n) => new Array(n).fill({ slice: [null, null, null] });
  const shapeOf = (x) => (plain(x) ? [] : Array.isArray(x) ? [x.length] : arrayOf(x).shape);
  define("shape", "a", shapeOf);
  define("ndim", "a", (a) => shapeOf(a).length);
  define("size", "a", (a) => sizeOf(shapeOf(a)));
  define("len", "a", (a) => shapeOf(a)[0]);
  define("tolist", "a", listOf);
  define("dtype", "a", () => null);
  define("isinstance", "x kinds", (x, kinds) => kinds.includes(Array.isArray(x) ? "list" : { number: "number", string: "text" }[typeof x]));
  define("range", "start stop", (start, stop) => (stop === undefined ? range(start) : range(Math.max(stop - start, 0)).map((i) => start + i)));
  define("enumerate", "a", (a) => listOf(a).map((value, i) => [i, value]));
  define("zip", "a b", (a, b) => listOf(a).slice(0, listOf(b).length).map((value, i) => [value, listOf(b)[i]]));
  define("arange", "n", (n) => array([numberOf(n)], range(numberOf(n))));
  define("eye", "n", (n) => array([n, n], range(n * n).map((i) => Number(i % (n + 1) === 0))));
  for (const [name, value] of [["zeros", 0], ["ones", 1]]) {
    define(name, "shape", (shape) => nd.full([listOf(shape)].flat(), value));
    define(`${name}_like`, "a", (a) => nd.full(shapeOf(a), value));
  }
  define("minigrad.rules.axes.axes_of", "ndim axis", axesOf);
  define("minigrad.engine.fitting.unbroadcast", "array shape", (g, shape) => nd.fit(arrayOf(g), shape));
  define("bincount", "x weights minlength", (x, weights, least = 0) => {
    const n = arrayOf(x).values.reduce((most, i) => Math.max(most, i + 1), numberOf(least));
    return nd.addAt(arrayOf(weights), arrayOf(x).values, [n]);
  });
  define("ravel", "a", (a) => flat(arrayOf(a)));
  define("reshape", "a shape order", (given, shape, order = "C", ...rest) => {
    const sizes = typeof order === "number" ? [shape, order, ...rest] : listOf(shape);
    if (order === "F") throw Object.assign(new Error("another order"), { keyword: "order" });
    const a = arrayOf(given);
    const known = sizes.reduce((product, n) => (n < 0 ? product : product * n), 1);
    return array(sizes.map((n) => (n < 0 ? sizeOf(a.shape) / known : n)), a.values);
  });
  define("squeeze", "a axis", (a, axis = null) => {
    const gone = axis === null ? range(a.shape.length).filter((i) => a.shape[i] === 1) : axesOf(a.shape.length, axis);
    return array(a.shape.filter((_, i) => !gone.includes(i)), a.values);
  });
  define("expand_dims", "a axis", (given, axis) => {
    const a = arrayOf(given);
    const added = axesOf(a.shape.length + [axis].flat().length, axis);
    const sizes = [...a.shape];
    return array(range(a.shape.length + added.length).map((i) => (added.includes(i) ? 1 : sizes.shift())), a.values);
  });
  define("broadcast_to", "array shape", (a, shape) => pick(arrayOf(a), nd.places(shapeOf(a), listOf(shape)), listOf(shape)));
  define("transpose", "a axes", (a, axes = null) => {
    const n = a.shape.length;
    return nd.transpose(a, axes === null ? range(n).reverse() : axesOf(n, listOf(axes)));
  });
  define("swapaxes", "a axis1 axis2", (a, axis1, axis2) => {
    const [i, j] = axesOf(a.shape.length, [axis1, axis2]);
    return nd.transpose(a, range(a.shape.length).map((axis) => (axis === i ? j : axis === j ? i : axis)));
  });
  define("flip", "m axis", (m, axis = null) => {
    const flipped = axesOf(m.shape.length, axis);
    return getitem(m, m.shape.map((_, i) => ({ slice: [null, null, flipped.includes(i) ? -1 : 1] })));
  });
  // --- picking ---

  // Read an index with nd.js.
  const indexOf = (x) => (Array.isArray(x) || x?.shape ? { array: arrayOf(x) } : x);
  const partsOf = (index) => (Array.isArray(index) ? index.map(indexOf) : [indexOf(index)]);
  function getitem(x, index) {
    const { places, shape } = nd.indexed(x.shape, partsOf(index));
    return pick(x, places, shape);
  }
  define("getitem", "x index", getitem);
  define("minigrad.rules.indexing.scatter_add", "updates index shape", (updates, index, shape) =>
    nd.addAt(arrayOf(updates), nd.indexed(shape, partsOf(index)).places, shape));
  define("take", "a indices axis", (given, indices, axis = null) => {
    const a = axis === null ? flat(given) : given;
    return getitem(a, [...whole(axis === null ? 0 : axesOf(a.shape.length, axis)[0]), indices]);
  });
  define("repeat", "a repeats axis", (given, repeats, axis = null) => {
    const a = axis === null ? flat(arrayOf(given)) : given;
    const along = axesOf(a.shape.length, axis ?? 0)[0];
    const counts = plain(repeats) ? new Array(a.shape[along]).fill(repeats) : listOf(repeats);
    return call("take", a, counts.flatMap((n, i) => new Array(n).fill(i)), along);
  });
  define("take_along_axis", "arr indices axis", (given, indices, axis = -1) => {
    const a = axis === null ? flat(given) : given;
    const along = axesOf(a.shape.length, axis ?? 0)[0];
    const others = nd.broadcastShape([a.shape, indices.shape].map((one) => one.map((n, i) => (i === along ? 1 : n))));
    const full = others.map((n, i) => (i === along ? indices.shape[along] : n));
    const ofAxis = (n, i) => array(full.map((_, j) => (i === j ? n : 1)), range(n));
    return getitem(a, full.map((n, i) => (i === along ? indices : a.shape[i] === 1 ? array([1], [0]) : ofAxis(n, i))));
  });

  // --- joining and splitting: blocks of consecutive elements, taken from each part in turn ---

  define("concatenate", "arrays axis", (arrays, axis = 0) => {
    const parts = axis === null ? arrays.map(flat) : arrays;
    const along = axesOf(parts[0].shape.length, axis ?? 0)[0];
    const sizes = parts.map((part) => sizeOf(part.shape.slice(along)));
    const shape = parts[0].shape.map((n, i) => (i === along ? sum(parts.map((part) => part.shape[along])) : n));
    const rounds = range(sizeOf(shape.slice(0, along)));
    return array(shape, rounds.flatMap((j) => parts.flatMap((part, i) => part.values.slice(j * sizes[i], (j + 1) * sizes[i]))));
  });
  define("stack", "arrays axis", (arrays, axis = 0) => call("concatenate", arrays.map((a) => call("expand_dims", a, axis)), axis));
  define("split", "ary indices_or_sections axis", (ary, parts, axis = 0) => {
    const n = ary.shape[axesOf(ary.shape.length, axis)[0]];
    const ends = plain(parts) ? range(parts).map((i) => ((i + 1) * n) / parts) : [...listOf(parts), n];
    const before = whole(axesOf(ary.shape.length, axis)[0]);
    return ends.map((end, i) => getitem(ary, [...before, { slice: [i ? ends[i - 1] : 0, end, null] }]));
  });

  // --- products: sums over labels ---

  function contract(factors, terms, output, shape = []) {
    const arrays = factors.map(arrayOf);
    return nd.contract(arrays, terms, output, nd.labelSizes([...arrays, { shape }], shape.length ? [...terms, output] : terms));
  }
  define("minigrad.rules.einsum.contraction", "factors terms mine shape", contract);
  define("matmul", "x y", (x, y) => {
    const [a, b] = [x.shape.length, y.shape.length];
    const batch = range(Math.max(a, b, 2) - 2).map((i) => `batch${i}`);
    const left = a === 1 ? ["k"] : [...batch.slice(batch.length - a + 2), "i", "k"];
    const right = b === 1 ? ["k"] : [...batch.slice(batch.length - b + 2), "k", "j"];
    return contract([x, y], [left, right], [...batch, ...(a === 1 ? [] : ["i"]), ...(b === 1 ? [] : ["j"])]);
  });
  // Return the pairs of axes that a product of two arrays sums over, and the free axes of each array.
  function pairedAxes(a, b, axes) {
    const pairs = plain(axes) ? [range(axes).map((i) => a - axes + i), range(axes)] : axes.map((part) => [part?.array?.values ?? part].flat());
    const [ofA, ofB] = [axesOf(a, pairs[0]), axesOf(b, pairs[1])];
    return [ofA, ofB, range(a).filter((i) => !ofA.includes(i)), range(b).filter((i) => !ofB.includes(i))];
  }
  define("minigrad.rules.linalg._paired_axes", "a_ndim b_ndim axes", pairedAxes);
  function tensordot(x, y, axes = 2) {
    const [a, b] = [arrayOf(x), arrayOf(y)];
    const [left, right] = [a.shape.map((_, i) => `a${i}`), b.shape.map((_, i) => `b${i}`)];
    const [ofA, ofB, freeA, freeB] = pairedAxes(left.length, right.length, axes);
    ofA.forEach((axis, i) => (left[axis] = right[ofB[i]] = `k${i}`));
    return contract([a, b], [left, right], [...freeA.map((i) => left[i]), ...freeB.map((i) => right[i])]);
  }
  define("tensordot", "a b axes", tensordot);
  const ndims = (a, b) => [shapeOf(a).length, shapeOf(b).length];
  define("dot", "a b", (a, b) => tensordot(a, b, ndims(a, b).every(Boolean) ? [-1, Math.max(-2, -shapeOf(b).length)] : 0));
  define("inner", "a b", (a, b) => tensordot(a, b, ndims(a, b).every(Boolean) ? [-1, -1] : 0));
  define("outer", "a b", (a, b) => tensordot(flat(arrayOf(a)), flat(arrayOf(b)), 0));
  define("vdot", "a b", (a, b) => tensordot(flat(arrayOf(a)), flat(arrayOf(b)), 1));

  // Return the labels of each operand, and of the output.
  function einsumLabels(subscripts, ndims) {
    const [inputs, written] = subscripts.replaceAll(" ", "").split("->");
    const counts = inputs.split(",").map((term, i) => (term.includes(".") ? ndims[i] - term.replace("...", "").length : 0));
    const dots = (n) => range(n).map((i) => `dot${Math.max(...counts) - n + i}`);
    const spell = (term, n) => term.split("...").flatMap((part, i) => [...(i ? dots(n) : []), ...part]);
    const letters = [...inputs.replaceAll(/[.,]/g, "")].sort();
    const single = letters.filter((letter) => letters.indexOf(letter) === letters.lastIndexOf(letter)).join("");
    const output = written ?? (inputs.includes(".") ? "..." : "") + single;
    return [inputs.split(",").map((term, i) => spell(term, counts[i])), spell(output, Math.max(...counts))];
  }
  define("minigrad.rules.einsum.explicit", "subscripts ndims", (subscripts, ndims) => einsumLabels(subscripts, listOf(ndims)));
  define("einsum", "operands subscripts optimize", (operands, subscripts) =>
    contract(operands, ...einsumLabels(subscripts, operands.map((operand) => shapeOf(operand).length))));

  // These functions only check, and the program's run has passed their checks already.
  define("minigrad.rules.attention.as_mask", "mask shape", (mask) => mask);
  define("minigrad.rules.attention.as_bias", "bias shape dtype", (bias) => bias);
  // The page has no Tensors, and computes in double precision.
  define("minigrad.engine.methods.values_of", "x", (x) => x);
  define("minigrad.rules.axes.at_least_float32", "a", (a) => a);

  return { arrayOf, functions, listOf, numberOf };
})();
