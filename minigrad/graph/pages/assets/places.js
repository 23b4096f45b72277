// Where in the program each operation is: the tree of scenes. Each is a small drawing of one place; a loop's shows one iteration.

const places = (() => {
  const { scenes, nodes } = original;
  const isList = Array.isArray;
  const iterationOfNode = new Int32Array(nodes.length); // in the loop that holds it; 0 elsewhere
  const iterationOfScene = new Int32Array(scenes.length);
  scenes.forEach((scene, number) => {
    scene.number = number;
    for (const box of scene.boxes) {
      if (isList(box.scene)) box.scene.forEach((child, i) => child !== null && (iterationOfScene[child] = i));
      if (isList(box.node) && !box.alias) box.node.forEach((node, i) => node !== null && (iterationOfNode[node] = i));
    }
  });

  const pick = (one, iteration) => (isList(one) ? (one[iteration] ?? null) : (one ?? null));

  // The scene of a step, or of a node.
  const ofNode = (node) => nodes[node].scene ?? 0;
  const of = (step) => ofNode(timeline.at(Math.max(step, 1))?.target ?? original.end[0]);

  // The scene and those around it, from the program down: [{scene, iteration}]; `iterations` says which iteration of loops
  // that were passed through is meant where the path itself does not tell.
  function path(scene, iteration) {
    const found = [];
    for (let at = scene, i = iteration; at !== null && at !== undefined; at = scenes[at].parent) {
      found.unshift({ scene: at, iteration: i });
      i = iterationOfScene[at];
    }
    return found;
  }

  // What the boxes and lines of a scene are in one iteration.
  const box = (scene, i, iteration) => {
    const about = scenes[scene].boxes[i];
    return { ...about, node: pick(about.node, iteration), scene: pick(about.scene, iteration) };
  };
  const edgesOf = (line, iteration) => (isList(line.edges?.[0]) || line.edges?.[0] === null ? (line.edges[iteration] ?? []) : (line.edges ?? []));

  // The chain of scenes from one up to the program, itself first.
  function around(scene) {
    const chain = [];
    for (let at = scene; at !== null && at !== undefined; at = scenes[at].parent) chain.push(at);
    return chain;
  }

  // Of each scene: how many of the timeline's forward and backward steps are within it, and which is the first and last.
  const spans = scenes.map(() => ({ forward: 0, backward: 0, steps: [] }));
  const scenesAround = scenes.map((_, scene) => around(scene));
  timeline.steps.forEach((_, i) => {
    const { kind, target } = timeline.at(i + 1);
    for (const scene of scenesAround[ofNode(target)]) {
      spans[scene][kind === "forward" ? "forward" : "backward"]++;
      spans[scene].steps.push(i + 1);
    }
  });

  // How many of a scene's forward and backward steps have been carried out: {forward, backward, of: {forward, backward}}.
  function progress(scene, step) {
    const { forward, backward, steps } = spans[scene];
    let [low, high] = [0, steps.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (steps[middle] <= step) low = middle + 1;
      else high = middle;
    }
    return { forward: Math.min(low, forward), backward: Math.max(0, low - forward), of: { forward, backward } };
  }

  // The box of a scene that shows a node, or the child scene it is in; -1 if none does.
  function boxOf(scene, iteration, node) {
    const { boxes } = scenes[scene];
    const own = boxes.findIndex((about) => pick(about.node, iteration) === node);
    if (own >= 0) return own;
    const chain = new Set(scenesAround[ofNode(node)]);
    return boxes.findIndex((about) => about.scene !== undefined && chain.has(pick(about.scene, iteration)));
  }

  return { scenes, of, ofNode, path, box, boxOf, edgesOf, progress, iterationOfNode, iterationOfScene };
})();

function sceneTitle({ kind, title, number }) {
  if (number === 0 && !title) return word("program");
  return kind === "part" ? word("partTitle", { range: title }) : title;
}
