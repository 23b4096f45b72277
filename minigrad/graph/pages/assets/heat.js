// Small matrices as cells. The strength of the colour shows the size of a number, and the hue its sign. Negative cells also
// have a bar, which is visible without colour. NaN and infinity are crossed out.

const heat = (() => {
  const MOST = 8;
  const STRENGTHS = 5;

  // Rows and columns, if the array is small enough to be drawn; else null.
  function grid(array) {
    if (!array?.values || array.values.length < 2 || array.dtype.startsWith("complex")) return null;
    const shape = array.shape.filter((n, i) => n !== 1 || i >= array.shape.length - 2);
    if (shape.length > 2) return null;
    const [rows, columns] = shape.length === 2 ? shape : [1, shape[0]];
    return rows <= MOST && columns <= 2 * MOST ? { rows, columns } : null;
  }

  // The size of a cell in a space of this size.
  function cellSize({ rows, columns }, width, height) {
    return Math.floor(Math.min(width / columns, height / rows, 28));
  }

  // The cells as an SVG group of few elements: one path for each strength and sign.
  function cells(array, x, y, size) {
    const { columns } = grid(array);
    const numbers = array.values.map(Number);
    const largest = numbers.reduce((most, v) => (Number.isFinite(v) ? Math.max(most, Math.abs(v)) : most), 0);
    const paths = new Map();
    const bars = [];
    const crosses = [];
    const gap = size >= 6 ? 1 : 0.5;
    const edge = size - gap;
    numbers.forEach((value, i) => {
      const [left, top] = [x + (i % columns) * size, y + Math.floor(i / columns) * size];
      const strength = value === 0 || largest === 0 ? 0 : Math.max(1, Math.ceil((Math.abs(value) / largest) * STRENGTHS));
      const key = !Number.isFinite(value) ? "odd" : strength === 0 ? "zero" : `${value < 0 ? "minus" : "plus"} s${strength}`;
      paths.set(key, `${paths.get(key) ?? ""}M${left} ${top}h${edge}v${edge}h${-edge}z`);
      if (key === "odd") crosses.push(`M${left} ${top}l${edge} ${edge}m0 ${-edge}l${-edge} ${edge}`);
      else if (value < 0) bars.push(`M${left + edge * 0.25} ${top + edge / 2}h${edge / 2}`);
    });
    const group = svgElement("g", { class: "heat" });
    for (const [key, d] of paths) group.append(svgElement("path", { class: `cell ${key}`, d }));
    if (bars.length > 0) group.append(svgElement("path", { class: "bar", d: bars.join("") }));
    if (crosses.length > 0) group.append(svgElement("path", { class: "cross", d: crosses.join("") }));
    group.heat = { array, x, y, size, columns };
    return group;
  }

  // The number under the pointer: {flat, text}; null if there is none.
  function under(group, event) {
    const { array, x, y, size, columns } = group.heat;
    const matrix = group.getScreenCTM();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const [column, row] = [Math.floor((point.x - x) / size), Math.floor((point.y - y) / size)];
    const flat = row * columns + column;
    if (column < 0 || row < 0 || column >= columns || flat >= array.values.length) return null;
    return { flat, text: `${indexOf(flat, array.shape)} ${numberText(array.values[flat], state.digits)}` };
  }

  // A separate drawing for the panel. A click on a cell calls choose(flat); `chosen` is framed.
  function picture(array, label, { choose = null, chosen = null, most = 26, width = 300 } = {}) {
    const size = Math.max(5, Math.min(most, Math.floor(width / grid(array).columns)));
    const { rows, columns } = grid(array);
    const svg = svgElement("svg", { class: choose ? "cells choose" : "cells", width: columns * size + 2, height: rows * size + 2, viewBox: `-1 -1 ${columns * size + 2} ${rows * size + 2}`, role: "img", "aria-label": label });
    const group = cells(array, 0, 0, size);
    svg.append(group);
    if (chosen !== null && chosen < array.values.length) {
      svg.append(svgElement("rect", { class: "chosen", x: (chosen % columns) * size - 0.5, y: Math.floor(chosen / columns) * size - 0.5, width: size, height: size }));
    }
    svg.addEventListener("pointermove", (event) => tip.show(under(group, event)?.text ?? null, event));
    svg.addEventListener("pointerleave", () => tip.show(null));
    if (choose) {
      svg.addEventListener("click", (event) => {
        const found = under(group, event);
        if (found) choose(found.flat);
      });
    }
    return svg;
  }

  return { grid, cellSize, cells, under, picture };
})();

// The small text at the pointer.
const tip = {
  show(text, event) {
    const box = find("tip");
    box.hidden = text === null;
    if (text === null) return;
    setText(box, text);
    const { width, height } = box.getBoundingClientRect();
    box.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - width - 4))}px`;
    box.style.top = `${event.clientY + 18 + height > innerHeight ? event.clientY - height - 8 : event.clientY + 18}px`;
  },
};
