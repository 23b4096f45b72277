// What if a leaf had another value? whatif.js computes everything again; the stepper then shows those numbers instead.

const editing = {
  edits: {}, // leaf -> its values in one list
  said: null,
  reasons: {},

  // Why it is not possible, as a sentence; null if it is.
  reason() {
    if (!(words.language in this.reasons)) this.reasons[words.language] = whatIf.reason(original, words.language);
    return this.reasons[words.language];
  },

  set(node, i, text) {
    const value = Number(text.trim().replace(",", "."));
    this.said = text.trim() === "" || Number.isNaN(value) ? word("notNumber") : null;
    if (this.said === null) {
      const values = graph.nodes[node].values[0].values.map(Number);
      values[i] = value;
      this.edits[node] = values;
      graph = this.compute();
    }
    // Only when the focus has arrived where it is going, for the panel is written again.
    setTimeout(render);
  },

  reset() {
    this.edits = {};
    this.said = null;
    graph = original;
    render();
  },

  // The graph with the values that follow from the edits.
  compute() {
    const { values, cotangents, contributions } = whatIf.run(original, this.edits);
    const like = (array, old) => (array === null || old === null ? null : { ...array, dtype: old.dtype });
    const nodes = original.nodes.map((node, i) => ({
      ...node,
      values: node.values.map((old, output) => like(values[i][output], old)),
      gradients: node.gradients.map((old, output) => like(cotangents[i][output], old)),
    }));
    const edges = original.edges.map((edge, i) => {
      if (contributions[i] === null) return { ...edge, value: null };
      const { raw, amount, sum } = contributions[i];
      const parts = { raw: like(raw, edge.raw), amount: like(amount, edge.amount), sum: like(sum, edge.sum) };
      return { ...edge, ...parts, value: null, numbers: null };
    });
    return { ...original, nodes, edges };
  },

  // A formula of scalars with the new numbers in it; null where Python's showed something else.
  numbers(edge) {
    const before = original.edges[graph.edges.indexOf(edge)].numbers?.[words.language];
    if (!before?.includes(" = ") || !isScalar(edge.raw)) return null;
    const node = graph.nodes[edge.target];
    const values = { g: node.gradients[0], [edge.answer]: node.values[0] };
    for (const operand of graph.edges.filter(({ target }) => target === edge.target)) values[operand.argument] = operandOf(operand);
    if (!Object.values(values).every(isScalar)) return null;
    const filled = edge.formula[words.language].replace(/^[^:]*: /, "").replace(/[A-Za-z_]\w*(?!\w*\()/g, (name) => {
      const number = name in values ? numberText(values[name].values[0]) : name;
      return number.startsWith("-") ? `(${number})` : number;
    });
    return `${filled.replace(/^\((-[^()]*)\)/, "$1")} = ${numberText(edge.raw.values[0])}`;
  },

  banner() {
    if (graph === original) return [];
    return [element("p", { class: "note" }, word("edited"), " ", button("reset", word("reset"), () => this.reset()))];
  },

  // The inputs for the values of a leaf.
  row(number) {
    const { operation, values } = graph.nodes[number];
    if (operation !== null || !values[0]?.dtype.startsWith("float")) return [];
    const title = element("h3", {}, word("whatIf"));
    if (this.reason() !== null) return [title, element("p", { class: "note" }, word("cannotEdit", { why: this.reason() }))];
    const [{ shape }] = values;
    const inputs = values[0].values.map((value, i) => {
      const name = `${nameOf(number)}${shape.length ? ` ${indexOf(i, shape)}` : ""}`;
      const about = { "data-key": `edit${i}`, "aria-label": name, value: numberText(value, true), inputmode: "decimal" };
      const input = element("input", { ...about, size: 10, autocomplete: "off" });
      input.addEventListener("change", () => this.set(number, i, input.value));
      return input;
    });
    const parts = [title, element("p", { class: "note" }, word("edit")), element("div", { class: "edit" }, ...inputs)];
    if (this.said !== null) parts.push(element("p", { class: "wrong", role: "status" }, this.said));
    return parts;
  },
};
