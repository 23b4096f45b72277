// Gives the tree of scenes, and the scene of each operation. A scene is a small drawing; that of a loop shows one iteration. The
// box of a scene shows the scene itself, small, with all of its iterations side by side. So the whole program is one picture.

const HEAD = 66; // the height of the words in the box of a scene, as in scenes.py

const places = (() => {
  const { scenes, nodes } = original;
  const isList = Array.isArray;
  const iterationOfNode = new Int32Array(nodes.length); // its iteration in the loop around it; else 0
  const iterationOfScene = new Int32Array(scenes.length);
  const holders = scenes.map(() => null); // the box that holds each scene
  scenes.forEach((scene, number) => {
    scene.number = number;
    for (const box of scene.boxes) {
      [box.scene ?? []].flat().forEach((child, i) => child !== null && ([iterationOfScene[child], holders[child]] = [i, box]));
      if (isList(box.node) && !box.alias) box.node.forEach((node, i) => node !== null && (iterationOfNode[node] = i));
    }
  });

  const pick = (one, iteration) => (isList(one) ? (one[iteration] ?? null) : (one ?? null));

  // Return the scene of a node.
  const ofNode = (node) => nodes[node].scene;

  // Return the scene and the scenes around it, from the program down: [{scene, iteration}].
  function path(scene, iteration) {
    const found = [];
    for (let at = scene, i = iteration; at !== null; at = scenes[at].parent) {
      found.unshift({ scene: at, iteration: i });
      i = iterationOfScene[at];
    }
    return found;
  }

  // Return a box of a scene, or the edges of a line, in one iteration.
  const box = (scene, i, iteration) => {
    const about = scenes[scene].boxes[i];
    return { ...about, node: pick(about.node, iteration), scene: pick(about.scene, iteration), result: pick(about.result, iteration) };
  };
  const edgesOf = (line, iteration) => (isList(line.edges[0]) ? line.edges[iteration] : line.edges);

  // For each scene, the number of forward and backward steps of the timeline inside it, and the first and last one.
  const spans = scenes.map(() => ({ forward: 0, backward: 0, steps: [] }));
  const scenesAround = scenes.map((_, number) => path(number, 0).map(({ scene }) => scene));
  timeline.steps.forEach((_, i) => {
    const { kind, target } = timeline.at(i + 1);
    for (const scene of scenesAround[ofNode(target)]) {
      spans[scene][kind === "forward" ? "forward" : "backward"]++;
      spans[scene].steps.push(i + 1);
    }
  });

  // Return the number of a scene's forward and backward steps that have run: {forward, backward, of: {forward, backward}}.
  function progress(scene, step) {
    const { forward, backward, steps } = spans[scene];
    const done = steps.findLastIndex((one) => one <= step) + 1;
    return { forward: Math.min(done, forward), backward: Math.max(0, done - forward), of: { forward, backward } };
  }

  // Return the box of a scene that shows a node or the child scene around it; -1 if there is none.
  function boxOf(scene, iteration, node) {
    const { boxes } = scenes[scene];
    const own = boxes.findIndex((about) => pick(about.node, iteration) === node);
    if (own >= 0) return own;
    const chain = new Set(scenesAround[ofNode(node)]);
    return boxes.findIndex((about) => about.scene !== undefined && chain.has(pick(about.scene, iteration)));
  }

  // Use for each scene the layout that is best in a pane: large, and with few lines that run round. Return whether one has changed.
  function fit(pane) {
    let changed = false;
    for (const scene of scenes) {
      const sizes = scene.forms.map((form) => form.worth * Math.min(camera.fitScale(form, pane), 1.2 * camera.full));
      const best = scene.forms[sizes.indexOf(Math.max(...sizes))];
      if (scene.form === best) continue;
      changed = true;
      Object.assign(scene, { form: best, width: best.width, height: best.height });
      scene.boxes.forEach((about, i) => ([about.x, about.y] = best.at[i]));
      scene.lines.forEach((line, i) => (line.points = best.points[i]));
    }
    if (changed) grids = scenes.map(gridOf);
    return changed;
  }

  // Return the rows and columns in which a box shows the iterations of a scene, as large as possible.
  let grids = [];
  const headOf = (holder) => (holder.result === undefined ? HEAD : 6); // a box with a result has no words above the picture
  function gridOf({ width, height, count }, number) {
    const holder = holders[number];
    if (holder === null) return null;
    const [w, h] = [holder.w - 12, holder.h - headOf(holder) - 8];
    const sizes = nd.range(count).map((i) => Math.min(w / (i + 1) / width, h / Math.ceil(count / (i + 1)) / height));
    const scale = Math.max(...sizes);
    const columns = sizes.indexOf(scale) + 1;
    return { columns, w: w / columns, h: h / Math.ceil(count / columns), scale: scale * 0.92 };
  }

  // Return where one iteration of a scene lies in the scene around it: a point p is at p * scale + (x, y) there.
  function placement(number, iteration) {
    const { columns, w, h, scale } = grids[number];
    const { width, height } = scenes[number];
    const holder = holders[number];
    const [column, row] = [iteration % columns, Math.floor(iteration / columns)];
    return {
      scale, cell: { x: holder.x - holder.w / 2 + 6 + column * w, y: holder.y - holder.h / 2 + headOf(holder) + row * h, w, h },
      x: holder.x - holder.w / 2 + 6 + (column + 0.5) * w - (width * scale) / 2,
      y: holder.y - holder.h / 2 + headOf(holder) + (row + 0.5) * h - (height * scale) / 2,
    };
  }

  // Return the same for its place in the whole program.
  function inProgram(number, iteration) {
    const around = path(number, iteration).slice(1);
    return around.reduce((outer, one) => camera.inward(outer, placement(one.scene, one.iteration)), { scale: 1, x: 0, y: 0 });
  }

  return { scenes, fit, ofNode, path, box, boxOf, edgesOf, progress, placement, inProgram, iterationOfNode };
})();

// Return the title of a scene. Inside a loop, it names the iteration.
function sceneTitle({ title, number, rounds }, iteration = -1) {
  return rounds?.[iteration] ?? (number === 0 && !title ? word("program") : title);
}
