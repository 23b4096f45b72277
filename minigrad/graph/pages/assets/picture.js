// Draws the whole program behind the visible scene: every scene in the box that stands for it, each box a small rectangle. It is a
// canvas, because it has thousands of boxes and is drawn again in each frame of a flight.

const INKS = ["--ink", "--pane", "--folder", "--edge", "--forward", "--forward-soft", "--backward", "--backward-soft", "--step"];

class Picture {
  constructor(host) {
    for (const name of INKS) CSS.registerProperty({ name, syntax: "<color>", inherits: true, initialValue: "gray" }); // so that a canvas can read them
    this.canvas = element("canvas", { class: "picture", "aria-hidden": "true" });
    this.context = this.canvas.getContext("2d");
    host.append(this.canvas);
  }

  // Return the view of a scene, given that of another one.
  viewOf(number, iteration, shown) {
    return camera.inward(camera.outward(shown.view, places.inProgram(shown.number, shown.iteration)), places.inProgram(number, iteration));
  }

  draw({ number, iteration, view }, pane, flying) {
    const { canvas, context } = this;
    const sharp = devicePixelRatio || 1;
    const [width, height] = [Math.round(pane.width * sharp), Math.round(pane.height * sharp)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    context.clearRect(0, 0, pane.width, pane.height);
    Object.assign(this, { pane, flying, inSight: 0, visible: { number, iteration } });
    this.layers = Object.fromEntries(["folder", "pale", "known", "has", "line", "past", "now"].map((name) => [name, new Path2D()]));
    this.names = [];
    if (flying) this.scene(0, 0, this.viewOf(0, 0, { number, iteration, view }));
    else this.scene(number, iteration, view); // at rest, the scenes around are out of sight
    this.paint();
  }

  // Collect the shapes of a scene and of the scenes inside it.
  scene(number, iteration, view) {
    const { boxes, lines, width, height } = places.scenes[number];
    if (!overlap({ left: view.x, top: view.y, right: view.x + width * view.scale, bottom: view.y + height * view.scale }, { left: 0, top: 0, right: this.pane.width, bottom: this.pane.height })) return;
    const shown = number === this.visible.number && iteration === this.visible.iteration; // its own boxes are not on the canvas
    if (!shown && width * view.scale > 24) for (const line of lines) this.line(line, iteration, view);
    for (let i = 0; i < boxes.length; i++) this.box(places.box(number, i, iteration), view, shown);
  }

  line({ points, edges }, iteration, { scale, x, y }) {
    const own = places.edgesOf({ edges }, iteration);
    const path = this.layers[own.some((edge) => timeline.done[edge] > 0 && timeline.done[edge] <= state.step) ? "past" : "line"];
    points.forEach(([px, py], i) => (i === 0 ? path.moveTo(px * scale + x, py * scale + y) : path.lineTo(px * scale + x, py * scale + y)));
  }

  box({ x, y, w, h, node, scene, result, alias }, view, shown) {
    if (node === null && scene === null) return;
    const { left, top, width: wide, height: high } = camera.rect({ x, y, w, h }, view);
    const rect = [left, top, wide, high];
    const { width, height } = this.pane;
    if (wide < 0.8 || left > width || top > height || left + wide < 0 || top + high < 0) return;
    if (scene !== null) {
      this.layers.folder.rect(...rect);
      if (!shown) this.name(sceneTitle(places.scenes[scene]), rect, HEAD * view.scale);
      if (result !== null && !this.flying && wide < this.pane.width / 2) return; // it shows its result
      const { count } = places.scenes[scene];
      for (let i = 0; i < count; i++) {
        const place = places.placement(scene, i);
        if (place.cell.w * view.scale > 3) this.scene(scene, i, camera.inward(view, place));
      }
      return;
    }
    if (shown || alias) return;
    const at = timeline.at(state.step);
    const layer = at !== null && (at.source ?? at.target) === node ? "now" : [...arrivalsOf[node].values()].some(([first]) => first.step <= state.step) ? "has" : timeline.known(node, state.step) ? "known" : "pale";
    this.layers[layer].rect(...rect);
    if (wide >= 3 && left >= 0 && top >= 0 && left + wide <= width && top + high <= height) this.inSight++;
    this.name(labelOf(node), rect, high);
  }

  // Write a name if it is readable and fits.
  name(text, [left, top, wide], high) {
    if (high < camera.TEXT * 1.6 || wide > 4 * this.pane.width || text.length * camera.TEXT * 0.62 > wide) return;
    this.names.push([text, left + wide / 2, top + Math.min(high / 2, camera.TEXT * 1.5)]);
  }

  paint() {
    const { context, layers } = this;
    const style = getComputedStyle(find("graph"));
    const ink = (name) => style.getPropertyValue(name);
    context.lineWidth = 1;
    const looks = { folder: ["--folder", "--edge"], line: [null, "--edge"], past: [null, "--backward"], pale: ["--pane", "--edge"], known: ["--forward-soft", "--forward"], has: ["--backward-soft", "--backward"], now: ["--step", "--step"] };
    for (const [name, [fill, stroke]] of Object.entries(looks)) {
      context.strokeStyle = ink(stroke);
      if (fill !== null) {
        context.fillStyle = ink(fill);
        context.fill(layers[name]);
      }
      context.stroke(layers[name]);
    }
    Object.assign(context, { font: `600 ${camera.TEXT}px ${style.fontFamily}`, textAlign: "center", textBaseline: "middle", fillStyle: ink("--ink") });
    for (const name of this.names) context.fillText(...name);
  }
}
