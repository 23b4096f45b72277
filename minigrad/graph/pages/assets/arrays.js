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

// Return a short text for an array: its number, the numbers of a short vector, or its shape.
function shortText(array) {
  if (array === null) return "–";
  const few = array.shape.length === 1 && array.values?.length <= 4;
  return isScalar(array) ? numberText(array.values[0]) : few ? `[${array.values.map((x) => numberText(x)).join(" ")}]` : shapeText(array.shape);
}

// Return the number that a reader typed, with a point or a comma; NaN if it is not a number.
const typedNumber = (text) => (text.trim() === "" ? NaN : Number(text.trim().replace(",", ".")));

// Return the numbers of an array that has all of them on the page. Complex ones, texts such as "1.0-2.0i", become their magnitudes.
function numbersOf(array) {
  const parts = (text) => /^(.+?)([+-][^+-]+(?:e[+-]?\d+)?)i$/.exec(text).slice(1);
  return array.dtype.startsWith("complex") ? array.values.map((text) => Math.hypot(...parts(text).map(Number))) : array.values.map(Number);
}

// Return a summary of an array: counts of zeros, NaN and infinities, the norm, the min, mean and max of the finite elements, the columns
// that are zero in every row (dead), and the least and the greatest sum of a row. tensors.py makes it for large arrays.
const summaries = new WeakMap();
const summaryOf = (array) => (array.values === undefined ? array : keptIn(summaries, array, () => summarized(array)));
function summarized(array) {
  const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = (values) => -least(values.map((x) => -x));
  const numbers = numbersOf(array);
  const finite = numbers.filter(Number.isFinite);
  const columns = array.shape.at(-1) ?? 1;
  const [min, max] = [least(finite), most(finite)];
  const [sums, alive] = [new Array(numbers.length / columns || 0).fill(0), new Set()];
  numbers.forEach((x, i) => {
    sums[Math.floor(i / columns)] += x;
    if (x !== 0) alive.add(i % columns);
  });
  const count = (test) => numbers.filter(test).length;
  const counts = { zeros: count((x) => x === 0), nans: count(Number.isNaN), infs: count((x) => Math.abs(x) === Infinity), dead: columns - alive.size };
  const mean = finite.reduce((a, b) => a + b, 0) / finite.length;
  return { ...counts, min, mean, max, norm: counts.nans > 0 ? NaN : numbers.reduce((a, b) => Math.hypot(a, b), 0), sumLeast: least(sums), sumMost: most(sums) };
}

const norm = (array) => Number(summaryOf(array).norm);

// Return the numbers in rows and columns, as NumPy prints them. A row of more than `most` characters goes on in the next line.
function valuesText(array, allDigits, most = Infinity) {
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
    const inLine = Math.max(1, Math.floor((most - 2 * axis) / (width + 2)));
    const gap = (i) => (between || i % inLine === 0 ? "\n".repeat(between || 1) + " ".repeat(axis + 1) : "  ");
    return `[${parts.map((part, i) => (i === 0 ? part : gap(i) + part)).join("")}]`;
  };
  return block(0);
}

// Return the index of an element as text: "[1, 0, 2]".
function indexOf(flat, shape) {
  return `[${nd.unravel(flat, shape).join(", ")}]`;
}
