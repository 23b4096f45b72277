// Draws the data of the program with the model's answer: points with the decision or the curve, images with the classes, and words with
// the attention between them. The answer for other inputs comes from running the program's own operations again in the page.

const data = (() => {
  const about = original.data; // from points.py
  const SIDE = 26; // cells on a side of the background
  const STEPS = 100; // of the curve
  const input = about && original.nodes[about.input];
  const [count, features = 1] = input?.values[0]?.shape ?? [];
  const drawn = { graph: null }; // the last drawing, which stays while no number changes

  // --- the model's answer ---

  const rowsOf = ({ values }) => nd.range(count).map((i) => values.slice((i * values.length) / count, ((i + 1) * values.length) / count).map(Number));
  const examples = () => rowsOf(graph.nodes[about.input].values[0]);
  const answers = () => (about.answer === null ? null : rowsOf(graph.nodes[about.answer].values[0]));

  // Return the model's answers to any number of inputs, as lists of numbers. The program runs on as many as it has examples.
  function answersTo(inputs) {
    const runs = nd.range(Math.ceil(inputs.length / count)).map((run) => {
      const values = new Map([[about.input, [nd.array(input.values[0].shape, nd.range(count).flatMap((i) => inputs[Math.min(run * count + i, inputs.length - 1)]))]]]);
      for (const node of about.path) {
        const operands = operandsOf(node).map((edge) => graph.edges[edge]).map(({ argument, source, output }) => [argument, values.get(source)?.[output] ?? nd.read(graph.nodes[source].values[output])]);
        values.set(node, whatIf.forward(graph, node, Object.fromEntries(operands)));
      }
      return rowsOf(values.get(about.answer)[0]);
    });
    return runs.flat().slice(0, inputs.length);
  }

  // Return why the page cannot answer for other inputs, [word, values]; null if it can. In the program's run, the answer to an example
  // must be the program's own, also in other company.
  function reason() {
    if (about.answer === null) return ["dataNoAnswer"];
    const answer = labelOf(about.answer);
    if (about.others.length > 0) return ["dataOthers", { answer, names: about.others.join(", "), x: labelOf(about.input) }];
    try {
      const [all, rows] = [examples(), answers()];
      const near = (a, b) => a.every((x, k) => Object.is(x, b[k]) || Math.abs(x - b[k]) <= 1e-3 * Math.max(1, Math.abs(b[k])));
      const alone = answersTo(all).every((row, i) => near(row, rows[i])) && answersTo(all.map(() => all[0])).every((row) => near(row, rows[0]));
      return alone ? null : ["dataMixed", { answer }];
    } catch {
      return ["dataUnknown", { answer }];
    }
  }

  // Return an answer as shares of the classes: itself if it has them, or else the softmax of it.
  function shares(row) {
    if (row.every((x) => x >= 0) && Math.abs(row.reduce((a, b) => a + b, 0) - 1) < 1e-3) return row;
    const powers = row.map((x) => Math.exp(x - Math.max(...row)));
    return powers.map((x) => x / powers.reduce((a, b) => a + b, 0));
  }

  // Return the class of an answer, and how sure it is, from 0 to 1.
  function decision(row) {
    if (row.length === 1) return { chosen: Number(row[0] > about.level), sure: about.level > 0 ? Math.abs(2 * row[0] - 1) : Math.abs(Math.tanh(row[0] / 2)) };
    const p = shares(row);
    const [first, second] = p.toSorted((a, b) => b - a);
    return { chosen: p.indexOf(first), sure: first - second };
  }

  // --- points ---

  const [LEFT, RIGHT, TOP, BOTTOM] = [42, 332, 8, 218]; // the frame of a plot
  const MARKS = ["M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z", "M-4 -4h8v8h-8z", "M0 -5.5L5 4h-10z", "M0 -6L5 0L0 6L-5 0z", "M-5 -4h10L0 5.5z", "M-5.5 -1.8h3.7v-3.7h3.6v3.7h3.7v3.6h-3.7v3.7h-3.6v-3.7h-3.7z"];
  const along = ([low, high], from, to) => (x) => from + ((x - low) / (high - low || 1)) * (to - from);
  const px = (range, from, to) => (x) => Number(along(range, from, to)(x).toFixed(1));
  const around = (numbers, part) => {
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    return [low - part * (high - low || 1), high + part * (high - low || 1)];
  };
  const signed = (x, most) => (x === 0 ? "zero" : `${x < 0 ? "minus" : "plus"} s${Math.min(5, Math.max(1, Math.ceil((5 * Math.abs(x)) / most)))}`);

  // Return a plot: its frame, the ends and the names of its axes, and the parts inside, which are clipped.
  function plot(across, up, names, inside, label) {
    const text = (words, x, y, anchor, more = {}) => svgElement("text", { x, y, "text-anchor": anchor, ...more }, typeof words === "number" ? numberText(Number(words.toPrecision(3))) : words);
    const [wide, high, middle] = [RIGHT - LEFT, BOTTOM - TOP, (TOP + BOTTOM) / 2];
    return svgElement("svg", { class: "data-plot", viewBox: "0 0 340 250", role: "img", "aria-label": label },
      svgElement("svg", { x: LEFT, y: TOP, width: wide, height: high, viewBox: `${LEFT} ${TOP} ${wide} ${high}` }, ...inside), svgElement("path", { class: "frame", d: `M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}` }),
      text(across[0], LEFT, BOTTOM + 13, "start"), text(names[0], (LEFT + RIGHT) / 2, BOTTOM + 26, "middle"), text(across[1], RIGHT, BOTTOM + 13, "end"),
      text(up[0], LEFT - 4, BOTTOM, "end"), text(names[1], 11, middle, "middle", { transform: `rotate(-90 11 ${middle})` }), text(up[1], LEFT - 4, TOP + 10, "end"));
  }

  // Return the background: a cell for each place, in the colour of its class or of the sign of its number.
  function ground(across, up, most) {
    const [x, y] = [along([0, SIDE], ...across), along([0, SIDE], ...up)].map((place) => (i) => place(i + 0.5));
    const [left, top] = [px([0, SIDE], LEFT, RIGHT), px([0, SIDE], BOTTOM, TOP)];
    const paths = new Map();
    answersTo(nd.range(SIDE * SIDE).map((i) => [x(i % SIDE), y(Math.floor(i / SIDE))])).forEach((row, i) => {
      const { chosen, sure } = about.classes ? decision(row) : {};
      const name = about.classes ? `k${chosen % 6} s${Math.max(1, Math.ceil(5 * sure))}` : signed(row[0], most);
      const [column, line] = [i % SIDE, Math.floor(i / SIDE)];
      paths.set(name, `${paths.get(name) ?? ""}M${left(column)} ${top(line)}H${left(column + 1)}V${top(line + 1)}H${left(column)}z`);
    });
    return [...paths].map(([name, d]) => svgElement("path", { class: `ground ${name}`, d }));
  }

  // Return the mark of an example, which says its target and the model's answer.
  function mark(i, x, y, row, most) {
    const target = about.targets?.[i];
    const told = (value) => (about.classes ? about.classes[value] : numberText(value));
    const chosen = row && about.classes ? decision(row).chosen : row?.[0];
    const name = about.classes ? `k${target % 6}${row && chosen !== target ? " wrong" : ""}` : features === 2 ? signed(target ?? 0, most) : "";
    const said = [`${labelOf(about.input)}[${i}]`, ...(about.targets ? [told(target)] : []), ...(row ? [told(chosen)] : [])].join(" → ");
    return svgElement("path", { class: `mark ${name}`, d: MARKS[about.classes ? target % MARKS.length : 0], transform: `translate(${x} ${y})` }, svgElement("title", {}, said));
  }

  function scatter(canRun, rows) {
    const all = examples();
    const [across, up] = [0, 1].map((axis) => around(all.map((row) => row[axis]), 0.15));
    const [x, y] = [px(across, LEFT, RIGHT), px(up, BOTTOM, TOP)];
    const most = about.classes ? 1 : Math.max(1e-300, ...(about.targets ?? rows?.map(([one]) => one) ?? [1]).map(Math.abs));
    const name = labelOf(about.input);
    return plot(across, up, [`${name}[:, 0]`, `${name}[:, 1]`], [...(canRun ? ground(across, up, most) : []), ...all.map((row, i) => mark(i, x(row[0]), y(row[1]), rows?.[i], most))], word("dataPoints", { count, name }));
  }

  // If the program cannot run for other inputs, the answers to the examples are joined by straight lines.
  function curve(canRun, rows) {
    const xs = examples().map(([x]) => x);
    const across = around(xs, 0.1);
    const inputs = canRun ? nd.range(STEPS + 1).map(along([0, STEPS], ...across)) : xs.toSorted((a, b) => a - b);
    const line = canRun ? answersTo(inputs.map((x) => [x])) : inputs.map((x) => rows?.[xs.indexOf(x)] ?? []);
    drawn.first ??= line; // of the program's run: the axes stay as they are, and later it is a ghost
    const heights = (about.targets ?? []).map((target) => (!about.classes ? target : line[0].length > 1 ? 1 : about.level > 0 ? target : 2 * target - 1));
    const up = around([...heights, ...drawn.first.flat()], 0.1);
    const [x, y] = [px(across, LEFT, RIGHT), px(up, BOTTOM, TOP)];
    const lines = (of, name) => of[0].map((_, k, all) => svgElement("polyline", { class: `curve ${name} ${all.length > 1 ? `k${k % 6}` : ""}`, points: of.map((row, i) => `${x(inputs[i])},${y(row[k])}`).join(" ") }));
    const marks = heights.map((height, i) => mark(i, x(xs[i]), y(height), rows?.[i]));
    const name = labelOf(about.input);
    return plot(across, up, [name, about.answer === null ? "" : labelOf(about.answer)], [...(graph === original ? [] : lines(drawn.first, "ghost-line")), ...lines(line, ""), ...marks], word("dataPoints", { count, name }));
  }

  // Return the marks of the classes, and how many examples the model puts into the right one.
  function legend(rows) {
    if (!about.classes || !about.targets) return null;
    const marks = about.kind === "images" ? [] : about.classes.map((name, k) => element("span", {}, svgElement("svg", { viewBox: "-7 -7 14 14", width: 14, height: 14, "aria-hidden": "true" }, svgElement("path", { class: `mark k${k % 6}`, d: MARKS[k % MARKS.length] })), ` ${name}`));
    return element("p", { class: "legend" }, ...marks, rows && element("strong", {}, word("dataRight", { right: rows.filter((row, i) => decision(row).chosen === about.targets[i]).length, count })));
  }

  // --- images ---

  // Return the first images, each with the shares of the classes, and a mark at the right one.
  function images(rows) {
    const { shape, values } = graph.nodes[about.input].values[0];
    const view = input.show?.shape ?? shape;
    const [high, wide] = view.slice(-2);
    const [size, area] = [nd.sizeOf(shape) / count, high * wide];
    const [low, top] = [Math.min, Math.max].map((of) => values.reduce((a, b) => of(a, Number(b))));
    return element("div", { class: "data-images" }, ...nd.range(Math.min(count, 6)).map((n) => {
      const canvas = element("canvas", { width: wide, height: high, role: "img", "aria-label": `${labelOf(about.input)}[${n}]` });
      const pixels = canvas.getContext("2d").createImageData(wide, high);
      nd.range(4 * area).forEach((i) => (pixels.data[i] = i % 4 === 3 ? 255 : (255 * (values[n * size + (size === 3 * area ? (i % 4) * area : 0) + Math.floor(i / 4)] - low)) / (top - low || 1)));
      canvas.getContext("2d").putImageData(pixels, 0, 0);
      const bars = about.classes && rows?.[n].length > 1 ? shares(rows[n]).slice(0, 10) : [];
      return element("figure", {}, canvas, ...bars.map((p, k) => element("div", { class: about.targets?.[n] === k ? "bar target" : "bar" }, element("span", {}, about.classes[k]), element("meter", { value: p, "aria-label": about.classes[k] }), element("span", {}, p.toFixed(2)))));
    }));
  }

  // --- words ---

  const attention = original.nodes.flatMap(({ show }, node) => (show?.tokens ? [node] : []));
  const asked = { side: null, place: null, head: null };
  const ask = (wanted) => {
    if (Object.entries(wanted).every(([name, value]) => asked[name] === value)) return;
    Object.assign(asked, wanted);
    render();
  };

  // Return the weights of an attention, (..., head, query, key), or of a softmax. It is null if the page cannot compute them after an edit.
  function weightsOf(node) {
    const { weights, operation, keywords } = original.nodes[node];
    if (!weights || graph === original) return weights ?? graph.nodes[node].values[0];
    const { operations, helpers } = graph.replay;
    const { query, key, mask = null, bias = null } = Object.fromEntries(operandsOf(node).map((edge) => [graph.edges[edge].argument, operandOf(graph.edges[edge])]));
    try {
      return python.interpreter(helpers).call(operations[operation].weights, [query, key, mask, bias, keywords.scale ?? null, keywords.num_heads ?? 1]);
    } catch {
      return null;
    }
  }

  // Return the words with ribbons between them: where each one looks, in the attention that the program has computed last.
  function sentence() {
    const node = attention.findLast((one) => timeline.computed[one] <= state.step) ?? attention[0];
    const { tokens } = original.nodes[node].show;
    const { shape, values: numbers } = weightsOf(node) ?? {};
    if (!numbers) return [];
    const heads = nd.range(shape.at(-3) ?? 1);
    const shown = heads.filter((head) => asked.head === null || asked.head === head);
    const size = shape.at(-2) * shape.at(-1);
    const drawing = ribbons.view({ tokens, heads: shown.map((head) => numbers.slice(head * size, (head + 1) * size).map(Number)), asked, ask, room: 95 });
    const buttons = heads.length < 2 ? [] : heads.map((head) => button(`head${head}`, word("dataHead", { number: head + 1 }), () => ask({ head: asked.head === head ? null : head }), { class: `head k${head % 6}`, "aria-pressed": String(asked.head === head) }));
    return [element("h2", {}, word("dataWords", { name: labelOf(node) })), element("p", { class: "legend" }, ...buttons), drawing, element("p", { class: "note" }, word("dataWordsHow"))];
  }

  // --- the section ---

  function figure() {
    if (!input?.values[0]?.values || (about.answer !== null && !graph.nodes[about.answer].values[0].values)) return [];
    const rows = answers();
    if (drawn.why === undefined) drawn.why = about.kind === "images" ? null : reason(); // before the first edit
    const { why } = drawn;
    const drawing = about.kind === "images" ? images(rows) : (features === 2 ? scatter : curve)(why === null, rows);
    return [element("h2", {}, word("dataTitle")), drawing, legend(rows), why && element("p", { class: "note" }, word(...why))].filter(Boolean);
  }

  function render() {
    if (drawn.graph !== graph || drawn.language !== words.language) Object.assign(drawn, { graph, language: words.language }, { parts: about ? figure() : [] });
    refill(find("data-section"), [...drawn.parts, ...(attention.length > 0 ? sentence() : [])]);
  }

  return { plot, px, render, LEFT, RIGHT, TOP, BOTTOM };
})();
