// What is known at which step. State 0 is before everything; the first `turn` steps are forward, each computes one operation;
// the others are backward: "product" applies one operation's rule for one operand, and what it gives is added to that
// operand's gradient, unless "fit" follows, which first makes it one of the operand's. All functions depend on the step's
// number alone, so that going back restores exactly.

const original = whole(unpacked(pageContents));
let graph = original; // with other numbers while the reader edits a value

// The scenes that are drawn like another take its geometry.
function whole(data) {
  for (const scene of data.scenes ?? []) {
    if (scene.like === undefined) continue;
    const model = data.scenes[scene.like];
    const boxes = (scene.boxes ?? []).map((box, i) => ({ ...model.boxes[i], ...box }));
    const lines = model.lines.map((line, i) => ({ ...line, ...scene.lines?.[i] }));
    Object.assign(scene, { ...model, ...scene, boxes, lines });
  }
  return data;
}

const operandsOf = (() => {
  const into = original.nodes.map(() => []);
  original.edges.forEach((edge, number) => into[edge.target].push(number));
  return (node) => into[node];
})();

// What an operation saw as this operand.
function operandOf(edge) {
  return edge.value ?? graph.nodes[edge.source].values[edge.output] ?? null;
}

// What a step adds to a gradient.
function amountOf(edge) {
  return graph.edges[edge].amount ?? graph.edges[edge].raw;
}

const labelOf = (number) => graph.nodes[number].name;

const timeline = {
  steps: original.steps,
  turn: original.turn,
  count: original.steps.length,

  // What the step with this number, 1 to count, does; null at 0.
  at(step) {
    if (step < 1 || step > this.count) return null;
    const [kind, number] = this.steps[step - 1];
    if (kind === "forward") return { kind, edge: null, target: number, source: null };
    const { source, target } = graph.edges[number];
    return { kind, edge: number, target, source };
  },

  // Whether the step adds to a gradient: not if its product must be made to fit first.
  adds(step) {
    const at = this.at(step);
    return at !== null && (at.kind === "fit" || (at.kind === "product" && graph.edges[at.edge].amount === null));
  },

  receiver(step) {
    return this.at(step)?.source ?? null;
  },

  // The steps that add to the gradient of a node's output, in their order, each with its edge.
  arrivals(node, output) {
    return arrivalsOf[node].get(output) ?? [];
  },

  arrived(node, output, step) {
    return this.arrivals(node, output).filter((arrival) => arrival.step <= step);
  },

  missing(node, output, step) {
    return this.arrivals(node, output).length - this.arrived(node, output, step).length;
  },

  // The step after which a node's gradient is complete; 0 if none leads there.
  completed(node) {
    const last = graph.nodes[node].gradients.map((_, output) => this.arrivals(node, output).at(-1)?.step ?? 0);
    return Math.max(0, ...last);
  },

  // The gradient so far, or null. That of the end is given, and begins the backward pass.
  gradient(node, output, step) {
    if (step < this.turn) return null;
    const all = graph.nodes[node].gradients[output] ?? null;
    const arrivals = this.arrivals(node, output);
    if (arrivals.length === 0) return node === graph.end[0] && output === graph.end[1] ? all : null;
    const arrived = this.arrived(node, output, step);
    if (arrived.length === 0) return null;
    return arrived.length < arrivals.length || all === null ? graph.edges[arrived.at(-1).edge].sum : all;
  },

  // The sum before the last addend that has arrived; null if that is the first.
  before(node, output, step) {
    const arrived = this.arrived(node, output, step);
    return arrived.length < 2 ? null : graph.edges[arrived.at(-2).edge].sum;
  },

  known(node, step) {
    return this.computed[node] <= step;
  },

  value(node, output, step) {
    return this.known(node, step) ? (graph.nodes[node].values[output] ?? null) : null;
  },

  // Whether a hook made another gradient of the sum.
  hooked(node, output, step) {
    const all = graph.nodes[node].gradients[output] ?? null;
    const arrived = this.arrived(node, output, step);
    if (all === null || arrived.length === 0 || this.missing(node, output, step)) return false;
    const { sum } = graph.edges[arrived.at(-1).edge];
    if (!sum) return false;
    const size = Math.max(norm(all), norm(sum));
    const differs = (v, i) => Math.abs(v - all.values[i]) > 1e-3 * size;
    return Math.abs(norm(all) - norm(sum)) > 1e-3 * size || (sum.values ?? []).some(differs);
  },
};

// The step at which each node's value is there: 0 for what the program was given.
timeline.computed = new Int32Array(original.nodes.length);
// The last step of each edge, and its first; 0 if nothing went along it.
timeline.done = new Int32Array(original.edges.length);
timeline.began = new Int32Array(original.edges.length);

const arrivalsOf = original.nodes.map(() => new Map());
original.steps.forEach(([kind, number], i) => {
  if (kind === "forward") {
    timeline.computed[number] = i + 1;
    return;
  }
  timeline.done[number] = i + 1;
  timeline.began[number] ||= i + 1;
  if (!timeline.adds(i + 1)) return;
  const { source, output } = original.edges[number];
  if (!arrivalsOf[source].has(output)) arrivalsOf[source].set(output, []);
  arrivalsOf[source].get(output).push({ step: i + 1, edge: number });
});
