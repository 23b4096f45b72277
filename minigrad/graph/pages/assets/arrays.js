// Writes the page's arrays as text: {shape, dtype, values}, or {shape, dtype}, a summary and often a map for a large one.

function numberText(value, allDigits) {
  if (typeof value === "string" && value.endsWith("i")) return value; // complex
  const x = Number(value);
  if (Number.isNaN(x)) return "NaN";
  if (x === 0) return "0"; // also -0
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "-∞";
  if (allDigits) return String(x); // with all digits that distinguish x from its neighbours
  const near = Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5;
  return near ? String(Number(x.toPrecision(4))) : x.toExponential(3).replace(/\.?0*e\+?/, "e");
}

function isScalar(array) {
  return array !== null && array.values !== undefined && array.values.length === 1;
}

function shapeText(shape) {
  return shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
}

// A short text for an array: its number, or its shape.
function shortText(array) {
  if (array === null) return "–";
  return isScalar(array) ? numberText(array.values[0]) : shapeText(array.shape);
}

// The number that a reader typed, with a point or a comma; NaN if it is not a number.
const typedNumber = (text) => (text.trim() === "" ? NaN : Number(text.trim().replace(",", ".")));

// The real numbers of an array with all its numbers; the magnitudes of complex ones, which are texts such as "1.0-2.0i".
function numbersOf(array) {
  const parts = (text) => /^(.+?)([+-][^+-]+(?:e[+-]?\d+)?)i$/.exec(text).slice(1);
  return array.dtype.startsWith("complex") ? array.values.map((text) => Math.hypot(...parts(text).map(Number))) : array.values.map(Number);
}

// A summary of an array: counts of zeros, NaN and infinities, the norm, the finite entries' min, mean, max and histogram
// (bins), the columns that are zero in every row (dead), the smallest and the largest sum of a row. tensors.py makes it if
// the numbers are not on the page.
const BINS = 24;
const summaryOf = (() => {
  const known = new WeakMap();
  function made(array) {
    const numbers = numbersOf(array);
    const finite = numbers.filter(Number.isFinite);
    const columns = array.shape.at(-1) ?? 1;
    const count = (test) => numbers.reduce((n, x) => n + test(x), 0);
    const [min, max] = [finite.reduce((a, b) => Math.min(a, b), Infinity), finite.reduce((a, b) => Math.max(a, b), -Infinity)];
    const bins = new Array(BINS).fill(0);
    for (const x of finite) bins[max === min ? 0 : Math.min(BINS - 1, Math.floor(((x - min) / (max - min)) * BINS))]++;
    const [sums, alive] = [[], new Set()];
    numbers.forEach((x, i) => {
      sums[Math.floor(i / columns)] = (sums[Math.floor(i / columns)] ?? 0) + x;
      if (x !== 0) alive.add(i % columns);
    });
    const scale = Math.max(1e-300, Math.abs(min), Math.abs(max)); // so that no square overflows
    return {
      min, max, bins, mean: finite.reduce((a, b) => a + b, 0) / finite.length,
      norm: finite.length < numbers.length ? NaN : scale * Math.sqrt(numbers.reduce((sum, x) => sum + (x / scale) ** 2, 0)),
      zeros: count((x) => x === 0), nans: count(Number.isNaN), infs: count((x) => Math.abs(x) === Infinity),
      dead: columns - alive.size, sumLeast: sums.reduce((a, b) => Math.min(a, b), Infinity), sumMost: sums.reduce((a, b) => Math.max(a, b), -Infinity),
    };
  }
  return (array) => {
    if (array.values === undefined) return array;
    if (!known.has(array)) known.set(array, made(array));
    return known.get(array);
  };
})();

const norm = (array) => Number(summaryOf(array).norm);

// Rows and columns, as NumPy prints them.
function valuesText(array, allDigits) {
  const cells = array.values.map((value) => numberText(value, allDigits));
  if (array.shape.length === 0) return cells[0];
  const width = Math.max(0, ...cells.map((cell) => cell.length));
  let next = 0;
  const block = (axis) => {
    const parts = [];
    for (let i = 0; i < array.shape[axis]; i++) {
      parts.push(axis === array.shape.length - 1 ? cells[next++].padStart(width) : block(axis + 1));
    }
    const between = array.shape.length - 1 - axis;
    return `[${parts.join(between ? "\n".repeat(between) + " ".repeat(axis + 1) : "  ")}]`;
  };
  return block(0);
}

// [1, 0, 2] for the seventh element ...
function indexOf(flat, shape) {
  return `[${nd.strides(shape).map((step, axis) => Math.floor(flat / step) % shape[axis]).join(", ")}]`;
}
