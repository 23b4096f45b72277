// Writes the page's arrays as text: {shape, dtype, values}, or {shape, dtype, min, mean, max, norm} for a large one.

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

function norm(array) {
  return array.values === undefined ? Number(array.norm) : Math.hypot(...array.values.map(Number));
}

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
