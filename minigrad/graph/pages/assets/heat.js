// Draws arrays as maps of cells. The strength of the colour shows the size of a number, and the hue its sign; zero is not coloured.
// Negative cells also have a bar, which is visible without colour. NaN and infinity are crossed out. A cell that stands for a
// block of elements shows the one furthest from zero (tensors.py has the same rule for arrays that are too large for the page).

const heat = (() => {
  const SIDE = 64; // cells on a side of a map
  const BOX = [16, 16]; // the most rows and columns of a map in a box of the graph
  const TALL = 12; // if an array of more than two axes has more rows than this, a box or a formula shows one slice of it
  const INLINE = [16, 24]; // the largest map in a formula
  const STRENGTHS = 5;
  // Return the sizes of the leading axes, and the numbers of rows and columns.
  const parts = (shape) => (shape.length > 1 ? [shape.slice(0, -2), ...shape.slice(-2)] : [[], 1, shape[0] ?? 1]);
  const rank = (x) => (Number.isNaN(x) ? Infinity : Math.min(Math.abs(x), Number.MAX_VALUE));

  // Return the sizes of the leading axes, as far as they are on the page.
  const slices = (array, view) => (array.grid ? array.grid.slice(0, -2) : parts(view)[0]);

  // Return a map of a slice, or of all slices below each other (null): {rows, columns, block, values, flats}, with the value and the
  // index of each cell's element. It is null if the array is a scalar, or has no map on the page.
  function map(array, { view = array?.shape, slice = null, most = [SIDE, SIDE] } = {}) {
    if (!array || (array.values?.length ?? 0) + (array.cells?.length ?? 0) < 2) return null;
    const [lead, rows, columns] = parts(view);
    const [down, across] = array.cells ? array.grid.slice(-2) : [rows, columns];
    const begin = (slice ?? 0) * down * across;
    const high = slice === null ? slices(array, view).reduce((n, size) => n * size, down) : down;
    const flatOf = (i) => {
      if (!array.cells) return i;
      const [k, row, column] = [Math.floor(i / (down * across)), Math.floor(i / across) % down, i % across];
      return (nd.ravel(nd.unravel(k, slices(array, view)), lead) * rows + row * array.block[0] + Math.floor(array.at[i] / array.block[1])) * columns + column * array.block[1] + (array.at[i] % array.block[1]);
    };
    return pooled(array.cells ?? numbersOf(array), begin, [high, across], most, flatOf, array.block ?? [1, 1]);
  }

  function pooled(numbers, begin, [high, wide], most, flatOf, inner) {
    const block = [Math.ceil(high / most[0]), Math.ceil(wide / most[1])];
    const [rows, columns] = [Math.ceil(high / block[0]), Math.ceil(wide / block[1])];
    const best = new Array(rows * columns).fill(-1);
    for (let i = 0; i < high * wide; i++) {
      const cell = Math.floor(Math.floor(i / wide) / block[0]) * columns + Math.floor((i % wide) / block[1]);
      if (best[cell] < 0 || rank(numbers[begin + i]) > rank(numbers[best[cell]])) best[cell] = begin + i;
    }
    return { rows, columns, block: block.map((n, i) => n * inner[i]), values: best.map((i) => numbers[i]), flats: best.map(flatOf) };
  }

  // --- in a box of the graph, as SVG ---

  const grids = new WeakMap();
  function grid(array, slice = null, room = BOX) {
    if (!array) return null;
    const most = BOX.map((size, axis) => Math.min(size, room[axis]));
    return keptIn(keptIn(grids, array, () => new Map()), `${slice} ${most}`, () => map(array, { slice, most }));
  }

  // Return the slice with which the maps of these arrays of one shape begin: the one with the largest elements, in the measure of each
  // array's largest. Of the first axis it is the first index, unless one of them is all zeros there, so that all arrays of a batch show one example.
  function fullest(arrays, view = arrays[0].shape) {
    const count = slices(arrays[0], view).reduce((n, size) => n * size, 1);
    const parts = arrays.filter((array) => array.cells ?? array.values).map((array) => {
      const numbers = array.cells ?? numbersOf(array);
      const size = numbers.length / count;
      return nd.range(count).map((k) => numbers.slice(k * size, (k + 1) * size).reduce((most, x) => Math.max(most, rank(x)), 0) / (largest(array) || 1));
    });
    const sums = nd.range(count).map((k) => parts.reduce((sum, sizes) => sum + sizes[k], 0));
    const few = count / (slices(arrays[0], view)[0] ?? 1);
    const isFull = parts.every((sizes) => sizes.slice(0, few).some((size) => size > 0) || sizes.every((size) => size === 0));
    return sums.indexOf((isFull ? sums.slice(0, few) : sums).reduce((a, b) => Math.max(a, b), 0));
  }

  // Return the slice that a small map shows of arrays that have too many rows for it; null if it shows all rows.
  function sliceOf(arrays) {
    const [{ shape }] = arrays;
    return shape.length > 2 && nd.sizeOf(shape) / shape.at(-1) > TALL && nd.sizeOf(slices(arrays[0], shape)) > 1 ? fullest(arrays) : null;
  }

  // Return the index of a slice, as in "[0, 2]".
  const sliceText = (array, k) => `[${nd.unravel(k, slices(array, array.shape)).join(", ")}]`;

  // Return the element of an array that the page shows first: the first one, or the largest of a slice or of a map if the
  // first one is 0.
  function first(array, slice) {
    if (!array?.values || (array.shape.length < 3 && (array.values.length <= 12 || Number(array.values[0]) !== 0))) return 0;
    const size = nd.sizeOf(array.shape.slice(-2));
    const from = array.shape.length < 3 ? 0 : (slice ?? fullest([array])) * size;
    const sizes = numbersOf(array).slice(from, from + size).map(rank);
    return from + sizes.indexOf(sizes.reduce((a, b) => Math.max(a, b), 0));
  }

  // Return the width and height of a cell, in a list. A map of one row or one column is a strip, with cells up to three times as long as wide.
  function cellSize({ rows, columns }, width, height, most) {
    const [wide, high] = [width / columns, height / rows].map((size) => Math.min(size, most));
    const ratio = Math.min(rows, columns) === 1 ? 3 : 1;
    return [Math.floor(Math.min(wide, ratio * high)), Math.floor(Math.min(high, ratio * wide))];
  }
  const largest = (array) => [summaryOf(array)].reduce((most, { min, max }) => Math.max(most, Math.abs(min), Math.abs(max)), 0);

  // Return the cells as a group of few elements: one path for each strength and sign. isCopy(i) makes cell i pale, and `grey` draws from
  // black, the smallest number, to white. `size` is the side of a cell, or its width and height in a list.
  function cells(array, x, y, size, found = grid(array), { isCopy = () => false, grey = false, strengths = STRENGTHS, gap = 0.5 } = {}) {
    const scale = largest(array);
    const { min, max } = summaryOf(array);
    const paths = new Map();
    const [bars, crosses] = [[], []];
    const [wide, high = wide] = [size].flat();
    const [w, h] = [wide, high].map((side) => side - (grey ? 0 : Math.min(wide, high) >= 6 ? 1 : gap));
    found.values.forEach((value, i) => {
      const [left, top] = [x + (i % found.columns) * wide, y + Math.floor(i / found.columns) * high];
      const odd = !Number.isFinite(value);
      const strength = Math.ceil((Math.abs(value) / scale) * strengths) / strengths;
      const look = odd ? ["odd"] : grey ? ["grey", null, Math.round((255 * (value - min)) / (max - min || 1))] : value === 0 ? ["zero"] : [`${value < 0 ? "minus" : "plus"}${isCopy(i) ? " copy" : ""}${strength < 0.25 ? " weak" : ""}`, Math.max(1 / strengths, strength)];
      paths.set(look.join("|"), [look, `${paths.get(look.join("|"))?.[1] ?? ""}M${left} ${top}h${w}v${h}h${-w}z`]);
      if (odd) crosses.push(`M${left} ${top}l${w} ${h}m0 ${-h}l${-w} ${h}`);
      else if (value < 0 && !grey && Math.min(wide, high) >= 4) bars.push(`M${left + w * 0.25} ${top + h / 2}h${w / 2}`);
    });
    const group = svgElement("g", { class: "heat" }, svgElement("rect", { class: "sheet", x, y, width: found.columns * wide, height: found.rows * high }));
    for (const [[name, opacity = null, level], d] of paths.values()) group.append(svgElement("path", { class: `cell ${name}`, "fill-opacity": opacity, fill: level === undefined ? null : `rgb(${level} ${level} ${level})`, d }));
    if (bars.length > 0) group.append(svgElement("path", { class: "bar", d: bars.join("") }));
    if (crosses.length > 0) group.append(svgElement("path", { class: "cross", d: crosses.join("") }));
    group.heat = { array, x, y, wide, high, found };
    return group;
  }

  // --- in a formula ---

  // Return an array as it is after broadcasting to a shape: the element of the array in each place, which places are copies along a
  // stretched axis, and which are lit. Of the copies, those in the row and column of the chosen element `at` are lit.
  function stretched(array, to, lit, at) {
    const { shape } = array;
    const all = to === null ? null : nd.places(shape, to);
    if (all === null) return { shape, flats: nd.range(nd.sizeOf(shape)), isCopy: () => false, isLit: (flat) => lit.includes(flat) };
    const first = new Map();
    all.forEach((flat, i) => first.has(flat) || first.set(flat, i));
    const isCopy = (i) => first.get(all[i]) !== i;
    return { shape: to, flats: all, isCopy, isLit: (i) => lit.includes(all[i]) && (i === at || !isCopy(i)) };
  }

  // Return a map for the line of a formula, as SVG: at most 3.2 em high. The lit and the chosen elements are framed. `own` is the slice
  // of the array's box. Return the map and what it shows: the index of a slice, and the shape of an array that has more elements than the
  // map cells; null if it shows them all.
  function inline({ array, to = null, lit = [], at = null, own = null }) {
    const { shape, flats, isCopy, isLit } = stretched(array, to, lit, state.cell);
    const whole = to === null ? array : { ...array, shape, values: flats.map((flat) => array.values[flat]) };
    const all = nd.sizeOf(shape.slice(-2));
    const chosen = at ?? (lit.length > 0 ? flats.indexOf(lit[0]) : null);
    const slice = sliceOf([whole]) === null ? null : to === null && own !== null ? own : chosen === null || whole.cells ? fullest([whole]) : Math.floor(chosen / all);
    const found = map(whole, { slice, most: INLINE });
    const drawn = svgElement("svg", { class: "map", role: "img", "aria-label": shapeText(shape) });
    fill(drawn, whole, found, { isCopy: (i) => isCopy(found.flats[i]) }, found.flats.map((flat) => (flat === at ? "at" : isLit(flat) ? "lit" : null)));
    const em = Math.min(0.85, 3.2 / found.rows, 12 / found.columns);
    Object.assign(drawn.style, { width: `${(found.columns + 0.3) * em}em`, height: `${(found.rows + 0.3) * em}em` });
    const index = slice === null ? null : sliceText(whole, slice);
    return { drawn, shown: found.block.every((n) => n === 1) ? index : index === null ? shapeText(shape) : word("partOf", { index, shape: shapeText(shape) }) };
  }

  // Draw a map into an SVG element, with a frame of a class around some of its cells.
  function fill(svg, array, found, { size = 10, ...look }, frames) {
    const framed = frames.flatMap((name, i) => (name ? [svgElement("rect", { class: name, x: (i % found.columns) * size - 0.5, y: Math.floor(i / found.columns) * size - 0.5, width: size, height: size })] : []));
    setAttributes(svg, { viewBox: `-1 -1 ${found.columns * size + 2} ${found.rows * size + 2}`, preserveAspectRatio: "none" });
    svg.replaceChildren(cells(array, 0, 0, size, found, look), ...framed);
  }

  // Return the cell at the pointer, or the nearest one: {cell, flat, text}.
  function under(group, event) {
    const { array, x, y, wide, high, found } = group.heat;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(group.getScreenCTM().inverse());
    const place = (at, size, count) => Math.min(count - 1, Math.max(0, Math.floor(at / size)));
    const cell = place(point.y - y, high, found.rows) * found.columns + place(point.x - x, wide, found.columns);
    return { cell, flat: found.flats[cell], text: `${indexOf(found.flats[cell], array.shape)} ${numberText(found.values[cell], state.digits)}` };
  }

  return { grid, fullest, sliceOf, sliceText, first, cellSize, cells, fill, inline, stretched, under, map, slices };
})();

// The small text at the pointer.
function showTip(text, event) {
  const box = find("tip");
  box.hidden = text === null;
  if (text === null) return;
  setText(box, text);
  box.style.setProperty("--x", `${event.clientX}px`);
  box.style.setProperty("--y", `${event.clientY}px`);
}
