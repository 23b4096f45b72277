// Gives the state at each step. State 0 is before the first step. The first `turn` steps are forward, and each computes one
// operation. The others are backward. "product" applies one operation's rule for one operand and adds the result to the
// operand's gradient. If "fit" follows, it first changes the result to the operand's shape and adds it instead. All
// functions depend only on the step's number, so going back restores the state exactly.

const original = whole(unpacked(pageContents));
let graph = original; // has other numbers while the reader edits a value

// Scenes that look like another one use its geometry.
function whole(data) {
  for (const scene of data.scenes) {
    if (scene.like === undefined) continue;
    const model = data.scenes[scene.like];
    const boxes = scene.boxes.map((box, i) => ({ ...model.boxes[i], ...box }));
    const lines = model.lines.map((line, i) => ({ ...line, ...scene.lines[i] }));
    Object.assign(scene, { ...model, ...scene, boxes, lines });
  }
  return data;
}

const intoOriginal = whatIf.edgesInto(original);
const operandsOf = (node) => intoOriginal[node];

// Return the value of this operand when the operation read it.
function operandOf(edge) {
  return edge.value ?? graph.nodes[edge.source].values[edge.output] ?? null;
}

// Return the array that a step adds to a gradient.
function amountOf(edge) {
  return graph.edges[edge].amount ?? graph.edges[edge].raw;
}

const labelOf = (number) => graph.nodes[number].name;

const timeline = {
  steps: original.steps,
  turn: original.turn,
  count: original.steps.length,

  // Return the step with this number, 1 to count; null at 0.
  at(step) {
    if (step < 1 || step > this.count) return null;
    const [kind, number] = this.steps[step - 1];
    if (kind === "forward") return { kind, edge: null, target: number, source: null };
    const { source, target } = graph.edges[number];
    return { kind, edge: number, target, source };
  },

  // Return whether the step adds to a gradient. A product before a "fit" step does not.
  adds(step) {
    const at = this.at(step);
    return at !== null && (at.kind === "fit" || (at.kind === "product" && graph.edges[at.edge].amount === null));
  },

  // Return the steps that add to the gradient of a node's output, in their order, each with its edge.
  arrivals(node, output) {
    return arrivalsOf[node].get(output) ?? [];
  },

  arrived(node, output, step) {
    return this.arrivals(node, output).filter((arrival) => arrival.step <= step);
  },

  missing(node, output, step) {
    return this.arrivals(node, output).length - this.arrived(node, output, step).length;
  },

  // Return the gradient so far, or null. The gradient of the end is given and starts the backward pass.
  gradient(node, output, step) {
    if (step < this.turn) return null;
    const all = graph.nodes[node].gradients[output] ?? null;
    const arrivals = this.arrivals(node, output);
    if (arrivals.length === 0) return node === graph.end[0] && output === graph.end[1] ? all : null;
    const arrived = this.arrived(node, output, step);
    if (arrived.length === 0) return null;
    return arrived.length < arrivals.length || all === null ? graph.edges[arrived.at(-1).edge].sum : all;
  },

  // Return the sum before the last contribution that has arrived; null if it is the first.
  before(node, output, step) {
    const arrived = this.arrived(node, output, step);
    return arrived.length < 2 ? null : graph.edges[arrived.at(-2).edge].sum;
  },

  // Before the first step, the page shows the values of the whole run, unless a question would then be answered.
  known(node, step) {
    return (this.computed[node] <= step && !quiz.hidesValue(node)) || (step === 0 && !quiz.on && !lesson.asks);
  },

  value(node, output, step) {
    return this.known(node, step) ? (graph.nodes[node].values[output] ?? null) : null;
  },
};

// The step that computes each node's value; 0 for leaves.
timeline.computed = new Int32Array(original.nodes.length);
// The last step of each edge, and its first; 0 if no step uses it.
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
  keptIn(arrivalsOf[source], output, () => []).push({ step: i + 1, edge: number });
});
