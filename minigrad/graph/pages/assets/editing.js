// Edits the values of leaves, and adds numbers to the results of operations. whatif.js then computes everything again, and the page
// shows the new numbers.

const editing = {
  edits: {}, // leaf -> its values in one list; operation -> the numbers added to its result
  said: null,
  cannot: undefined, // {word, values}; null if it is possible

  // Return the reason why editing is not possible, as a sentence; null if it is possible.
  reason() {
    if (this.cannot === undefined) this.cannot = whatIf.reason(original);
    return this.cannot && word(this.cannot.word, this.cannot.values);
  },

  // Return the current numbers of a node, and the edit that makes element i another number.
  values: (node) => graph.nodes[node].values[0].values.map(Number),
  changed(node, i, value) {
    const now = this.values(node);
    const before = original.nodes[node].operation === null ? now : (this.edits[node] ?? now.map(() => 0));
    return before.map((old, k) => (k === i ? old + value - now[i] : old));
  },

  // Set the values of leaves, {node: [numbers]}, and compute. The caller renders.
  apply(edits) {
    Object.assign(this.edits, edits);
    graph = this.compute();
  },

  // Set an element to a typed number, once the focus has arrived at its target, because the panel is written again.
  set(node, i, text) {
    const value = typedNumber(text);
    if (Number.isNaN(value)) this.said = word("notNumber");
    setTimeout(() => (Number.isNaN(value) ? render() : play.move(node, i, value)));
  },

  reset() {
    this.edits = {};
    this.said = null;
    graph = original;
    play.begin();
    render();
  },

  // Return the graph with the values computed from the edits.
  compute() {
    const { values, cotangents, contributions } = whatIf.run(original, this.edits);
    const like = (array, old) => (array === null || old === null || old === undefined ? null : { ...array, dtype: old.dtype });
    const changed = (row, fields) => Object.create(row, Object.getOwnPropertyDescriptors(fields));
    const nodes = original.nodes.map((node, i) => changed(node, {
      values: node.values.map((old, output) => like(values[i][output], old)),
      gradients: node.gradients.map((old, output) => like(cotangents[i][output], old)),
    }));
    const edges = original.edges.map((edge, i) => {
      if (contributions[i] === null) return changed(edge, { value: null });
      const { raw, amount, sum } = contributions[i];
      const parts = { raw: like(raw, edge.raw), amount: like(amount, edge.amount), sum: like(sum, edge.sum) };
      return changed(edge, { ...parts, value: null, check: null });
    });
    return { ...original, nodes, edges };
  },
};
