// Handles the pointer on a scene: a drag or the wheel moves it, and two fingers or Ctrl and the wheel zoom.

class Hand {
  constructor(view) {
    this.view = view;
    this.pointers = new Map();
    this.moved = false;
    const { svg } = view;
    const listen = (kind, act) => svg.addEventListener(kind, act, { passive: kind !== "wheel" });
    listen("pointerdown", (event) => this.down(event));
    listen("pointermove", (event) => this.move(event));
    for (const kind of ["pointerup", "pointercancel"]) listen(kind, (event) => this.pointers.delete(event.pointerId));
    listen("pointerleave", () => {
      showTip(null);
      setHover(null);
    });
    listen("wheel", (event) => this.wheel(event));
    listen("click", (event) => this.moved || this.open(event));
    listen("keydown", (event) => event.key === "Enter" && this.open(event));
  }

  place(event) {
    const { left, top } = this.view.svg.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  down(event) {
    if (event.button > 0) return;
    this.pointers.set(event.pointerId, this.place(event));
    if (this.pointers.size === 1) this.moved = false;
  }

  move(event) {
    const at = this.place(event);
    const last = this.pointers.get(event.pointerId);
    if (last === undefined) return this.hover(event);
    const [dx, dy] = [at[0] - last[0], at[1] - last[1]];
    if (!this.moved && Math.hypot(dx, dy) < 5) return;
    if (!this.moved) this.view.svg.setPointerCapture(event.pointerId);
    this.moved = true;
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
    showTip(cells ? heat.under(cells, event).text : null, event);
    setHover(this.boxOf(event)?.node ?? null);
  }

  boxOf(event) {
    const box = event.target.closest("[data-box]")?.dataset.box;
    return box === undefined ? null : (this.view.boxes[box]?.now ?? null);
  }

  // Open a closed box, go to a value of another scene, or select a value.
  open(event) {
    const box = this.boxOf(event);
    if (box === null) return;
    if (box.node === null && typeof box.scene === "number") open(box.scene, 0);
    else if (box.alias) visit(box.node);
    else if (box.node !== null) select(box.node);
  }
}
