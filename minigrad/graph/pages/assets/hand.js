// Handles the pointer on a scene: a drag or the wheel moves it, two fingers or Ctrl and the wheel zoom, and a drag on a number nudges it.

class Hand {
  constructor(view) {
    this.view = view;
    this.pointers = new Map();
    this.moved = false;
    const { svg } = view;
    const listen = (kind, act) => svg.addEventListener(kind, act, { passive: kind !== "wheel" });
    listen("pointerdown", (event) => this.down(event));
    listen("pointermove", (event) => this.move(event));
    for (const kind of ["pointerup", "pointercancel"]) {
      listen(kind, (event) => {
        this.pointers.delete(event.pointerId);
        this.held = null;
      });
    }
    listen("pointerleave", () => {
      tip.show(null);
      setHover(null);
    });
    listen("wheel", (event) => this.wheel(event));
    listen("click", (event) => this.click(event));
    listen("dblclick", (event) => this.open(event, true));
    svg.addEventListener("keydown", (event) => this.key(event));
  }

  place(event) {
    const { left, top } = this.view.svg.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  down(event) {
    if (event.button > 0) return;
    this.pointers.set(event.pointerId, this.place(event));
    if (this.pointers.size === 1) this.moved = false;
    this.held = this.pointers.size === 1 ? this.numberAt(event) : null;
  }

  // Return the number under the pointer, {node, i, value}, if the reader can nudge it; else null.
  numberAt(event) {
    const node = this.boxOf(event)?.node ?? null;
    const cells = event.target.closest(".heat:not(.of-gradient)");
    if (node === null || !play.aims(node) || !(cells || event.target.closest(".value"))) return null;
    const i = cells ? heat.under(cells, event)?.flat : original.nodes[node].values[0].values.length === 1 ? 0 : undefined;
    return i === undefined ? null : { node, i, value: editing.values(node)[i], from: event.clientX };
  }

  // Move the held number, once in each frame. A drag by 200 px moves it by the reach of its slider.
  nudge(event) {
    const { node, i, value, from, wanted } = this.held;
    this.held.wanted = value + ((event.clientX - from) / 200) * play.reach(node, i);
    if (wanted !== undefined) return;
    requestAnimationFrame(() => {
      if (this.held === null) return;
      state.selected = node;
      play.at.set(node, i);
      play.move(node, i, this.held.wanted);
      this.held.wanted = undefined;
      tip.show([`${labelOf(node)} = ${numberText(editing.values(node)[i], state.digits)}`, ...(play.hasLoss() && play.tells(node) ? play.told(play.nudge()) : [])].join("\n"), event);
    });
  }

  move(event) {
    const at = this.place(event);
    const last = this.pointers.get(event.pointerId);
    if (last === undefined) return this.hover(event);
    const [dx, dy] = [at[0] - last[0], at[1] - last[1]];
    if (!this.moved && Math.hypot(dx, dy) < 5) return;
    if (!this.moved) this.view.svg.setPointerCapture(event.pointerId);
    this.moved = true;
    if (this.held && this.pointers.size === 1) return this.nudge(event);
    if (this.pointers.size === 2) this.pinch(event.pointerId, last, at);
    else camera.pan(dx, dy);
    this.pointers.set(event.pointerId, at);
    this.view.place();
  }

  pinch(moving, from, to) {
    const [, other] = [...this.pointers].find(([id]) => id !== moving);
    const apart = ([x, y]) => Math.max(10, Math.hypot(x - other[0], y - other[1]));
    camera.zoom(apart(to) / apart(from), this.view.pane, other);
  }

  wheel(event) {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey || event.metaKey) camera.zoom(Math.exp(-event.deltaY * unit * 0.01), this.view.pane, this.place(event));
    else camera.pan(-event.deltaX * unit, -event.deltaY * unit);
    this.view.place();
  }

  hover(event) {
    const cells = event.target.closest(".heat");
    tip.show(cells ? (heat.under(cells, event)?.text ?? null) : null, event);
    setHover(this.boxOf(event)?.node ?? null);
  }

  boxOf(event) {
    const box = event.target.closest("[data-box]")?.dataset.box;
    return box === undefined ? null : (this.view.boxes[box]?.now ?? null);
  }

  click(event) {
    if (this.moved) return;
    const { view } = this;
    const line = event.target.closest("[data-line]")?.dataset.line;
    const box = this.boxOf(event);
    if (line !== undefined) return this.chooseLine(places.edgesOf(view.lines[line].about, view.iteration));
    if (box) this.open(event, false);
  }

  // A line answers the quiz while it asks for an edge; else a click selects the operand.
  chooseLine(edges) {
    if (quiz.asksEdge()) quiz.choose(edges);
    else if (edges.length > 0) select(graph.edges[edges[0]].source);
  }

  // A click opens a child scene. A click on a value of another scene selects it, and a double click goes there.
  open(event, doubled) {
    const box = this.boxOf(event);
    if (box === null) return;
    if (box.node === null) {
      if (!doubled && typeof box.scene === "number") open(box.scene, 0);
    } else if (doubled && box.alias) visit(box.node);
    else if (!doubled) select(box.node);
  }

  key(event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    this.moved = false;
    if (event.target.dataset.line !== undefined) return this.click(event);
    const box = this.boxOf(event);
    this.open(event, Boolean(box?.alias));
  }
}
