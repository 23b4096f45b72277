// What if a leaf had another value? whatif.js computes everything again; the page then shows those numbers instead.

const editing = {
  edits: {}, // leaf -> its values in one list
  said: null,
  reasons: {},

  // Why it is not possible, as a sentence; null if it is.
  reason() {
    if (!(words.language in this.reasons)) this.reasons[words.language] = whatIf.reason(original, words.language);
    return this.reasons[words.language];
  },

  // The numbers of a leaf now; with element i replaced.
  values: (node) => graph.nodes[node].values[0].values.map(Number),
  changed: (node, i, value) => editing.values(node).map((old, k) => (k === i ? value : old)),

  // Give leaves other values, {node: [numbers]}, and compute; the caller renders.
  apply(edits) {
    Object.assign(this.edits, edits);
    graph = this.compute();
  },

  set(node, i, text) {
    const value = Number(text.trim().replace(",", "."));
    this.said = text.trim() === "" || Number.isNaN(value) ? word("notNumber") : null;
    if (this.said === null) {
      this.apply({ [node]: this.changed(node, i, value) });
      play.begin();
    }
    // Only when the focus has arrived where it is going, for the panel is written again.
    setTimeout(render);
  },

  reset() {
    this.edits = {};
    this.said = null;
    graph = original;
    play.begin();
    render();
  },

  // The graph with the values that follow from the edits.
  compute() {
    const { values, cotangents, contributions } = whatIf.run(original, this.edits);
    const like = (array, old) => (array === null || old === null || old === undefined ? null : { ...array, dtype: old.dtype });
    const nodes = original.nodes.map((node, i) => ({
      ...node,
      values: node.values.map((old, output) => like(values[i][output], old)),
      gradients: node.gradients.map((old, output) => like(cotangents[i][output], old)),
    }));
    const edges = original.edges.map((edge, i) => {
      if (contributions[i] === null) return { ...edge, value: null };
      const { raw, amount, sum } = contributions[i];
      const parts = { raw: like(raw, edge.raw), amount: like(amount, edge.amount), sum: like(sum, edge.sum) };
      return { ...edge, ...parts, value: null, check: null };
    });
    return { ...original, nodes, edges };
  },

  // What a node had in the program's run where it is other now: {value, gradient} as text, or null each; null if nothing is.
  ghost(number) {
    if (graph === original) return null;
    const changed = (...arrays) => {
      const [before, now] = arrays.map((array) => (isScalar(array ?? null) ? numberText(array.values[0], state.digits) : null));
      return before === now ? null : before;
    };
    const [before, now] = [original.nodes[number], graph.nodes[number]];
    const complete = timeline.gradient(number, 0, state.step) !== null && timeline.missing(number, 0, state.step) === 0;
    const value = timeline.known(number, state.step) ? changed(before.values[0], now.values[0]) : null;
    const gradient = complete ? changed(before.gradients[0], now.gradients[0]) : null;
    return value === null && gradient === null ? null : { value, gradient };
  },
};
