// The drawing: Graphviz has laid it out for many choices of the modules that are open. For another choice the smallest one
// in which all of them are open is shown, with covers over modules that are closed.

const SVG = "http://www.w3.org/2000/svg";

class Drawing {
  // act: {select(node), toggle(module)}
  constructor(container, data, act) {
    this.container = container;
    this.data = data;
    this.act = act;
    this.scale = null; // null: as wide as fits
    this.current = null; // the drawing in use
    this.covers = new Map(); // closed module -> its cover
    container.addEventListener("click", (event) => this.use(event.target));
    container.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.use(event.target);
    });
  }

  // Whether there is a drawing in which the module is open.
  canOpen(module) {
    return this.data.drawings.some(({ open }) => open.includes(module));
  }

  // The modules around a node, the outermost first.
  around(node) {
    const modules = [];
    for (let m = this.data.nodes[node].module; m !== null; m = this.data.modules[m].parent) modules.unshift(m);
    return modules;
  }

  // Show the graph with these modules open.
  show(open) {
    this.open = open;
    const wanted = this.data.modules.map((_, m) => m).filter((m) => this.isOpen(m));
    const found = this.data.drawings.find((drawing) => wanted.every((m) => drawing.open.includes(m)));
    if (found !== this.current) {
      this.current = found;
      const svg = new DOMParser().parseFromString(found.svg, "image/svg+xml").documentElement;
      this.svg = document.importNode(svg, true);
      this.container.replaceChildren(this.svg);
      this.size = this.svg.viewBox.baseVal;
      this.prepare();
    }
    this.cover();
    this.zoom(this.scale);
  }

  // Open itself, and within open ones only.
  isOpen(module) {
    for (let m = module; m !== null; m = this.data.modules[m].parent) if (!this.open.has(m)) return false;
    return true;
  }

  prepare() {
    this.amount = document.createElementNS(SVG, "text");
    this.amount.setAttribute("class", "amount");
    this.top = this.svg.querySelector("#graph0");
    this.top.append(this.amount);
    const groups = this.current.shows.map((_, i) => this.svg.querySelector(`#node${i}`));
    // All boxes first: to measure after a change has the browser lay everything out again.
    const boxes = groups.map((group) => group.querySelector("path, polygon, ellipse").getBBox());
    this.nodes = this.current.shows.map((shown, i) => {
      const [group, box] = [groups[i], boxes[i]];
      const texts = [...group.querySelectorAll("text")];
      const constant = this.data.nodes[shown].kind === "constant";
      const gradient = constant ? null : texts.pop();
      const value = texts.pop();
      for (const text of [value, gradient]) {
        if (text === null) continue;
        text.setAttribute("text-anchor", "middle");
        text.setAttribute("x", box.x + box.width / 2);
      }
      if (gradient !== null) gradient.setAttribute("class", "gradient");
      group.setAttribute("role", "button");
      group.setAttribute("tabindex", "-1");
      return { group, value, gradient, shown };
    });
    const drawnEdges = Math.max(-1, ...this.current.edges) + 1;
    this.edges = Array.from({ length: drawnEdges }, (_, i) => this.svg.querySelector(`#edge${i}`));
    this.clusters = this.data.modules.map((_, m) => this.svg.querySelector(`#module${m}`));
    this.clusters.forEach((cluster) => cluster?.querySelector("text")?.setAttribute("role", "button"));
  }

  // Put covers over closed modules, and hide what is in them.
  cover() {
    for (const cover of this.covers.values()) cover.group.remove();
    this.covers.clear();
    this.data.modules.forEach((module, m) => {
      const outermost = !this.isOpen(m) && (module.parent === null || this.isOpen(module.parent));
      if (outermost && this.clusters[m] !== null) this.covers.set(m, this.makeCover(m));
    });
    const covered = (node) => this.coverOf(node) !== undefined;
    const hide = (element, hidden) => element?.setAttribute("visibility", hidden ? "hidden" : "visible");
    this.nodes.forEach(({ group, shown }) => hide(group, covered(shown)));
    const visible = new Set();
    this.data.edges.forEach(({ source, target }, i) => {
      if (!covered(source) || this.coverOf(source) !== this.coverOf(target)) visible.add(this.current.edges[i]);
    });
    this.edges.forEach((edge, i) => hide(edge, !visible.has(i)));
    this.clusters.forEach((cluster, m) => hide(cluster, !this.isOpen(m)));
  }

  coverOf(node) {
    return this.covers.get(this.around(node).find((m) => !this.open.has(m)));
  }

  makeCover(module) {
    const box = this.clusters[module].querySelector("path, polygon").getBBox();
    const { name, kind } = this.data.modules[module];
    const group = document.createElementNS(SVG, "g");
    group.setAttribute("class", "cover");
    group.setAttribute("role", "button");
    group.setAttribute("tabindex", "-1");
    const rect = document.createElementNS(SVG, "rect");
    for (const side of ["x", "y", "width", "height"]) rect.setAttribute(side, box[side]);
    rect.setAttribute("rx", 8);
    group.append(rect);
    const lines = [name, kind === name ? "" : kind, ""].map((text, i) => {
      const line = document.createElementNS(SVG, "text");
      line.setAttribute("x", box.x + box.width / 2);
      line.setAttribute("y", box.y + box.height / 2 + 14 * (i - 0.7));
      line.textContent = text;
      group.append(line);
      return line;
    });
    lines[0].setAttribute("class", "title");
    lines[2].setAttribute("class", "gradient");
    const numbers = this.data.nodes.map((_, n) => n);
    const inside = numbers.filter((n) => this.data.nodes[n].operation !== null && this.around(n).includes(module));
    this.top.insertBefore(group, this.amount);
    return { group, value: null, gradient: lines[2], shown: Math.max(...inside), module };
  }

  // As what a node is drawn: itself, or the closed module that it is in.
  drawn(node) {
    return this.coverOf(node) ?? this.nodes[this.current.nodes[node]];
  }

  // The closed module that a part of the drawing is, or null.
  moduleOf(part) {
    return part.module ?? this.current.boxes[this.nodes.indexOf(part)] ?? null;
  }

  // All that is to be seen, in the order of execution.
  parts() {
    const parts = [...this.nodes.filter(({ shown }) => this.coverOf(shown) === undefined), ...this.covers.values()];
    return parts.sort((a, b) => a.shown - b.shown);
  }

  // A click on something, or Enter.
  use(target) {
    const part = this.parts().find(({ group }) => group.contains(target));
    const title = this.clusters.findIndex((cluster) => cluster?.querySelector("text")?.contains(target));
    if (part !== undefined && this.moduleOf(part) !== null && this.canOpen(this.moduleOf(part))) {
      this.act.toggle(this.moduleOf(part));
    } else if (part !== undefined) {
      this.act.select(part.shown);
    } else if (title >= 0) {
      this.act.toggle(title);
    }
  }

  // step: the edge of the current step or null; past: the edges before it; applies, receives, selected: nodes or null;
  // texts(node): {value, gradient, known, label}; amount: to write beside the edge; matches: a set of nodes.
  update({ edge, past, applies, receives, selected, texts, amount, matches }) {
    const now = edge === null ? -1 : this.current.edges[edge];
    const before = new Set(past.map((i) => this.current.edges[i]));
    this.edges.forEach((group, i) => {
      group.classList.toggle("now", i === now);
      group.classList.toggle("past", i !== now && before.has(i));
    });
    const marked = Object.entries({ applies, receives, selected }).map(([name, node]) => [name, node === null ? null : this.drawn(node)]);
    const matching = new Set([...matches].map((node) => this.drawn(node)));
    for (const part of this.parts()) {
      const { value, gradient, known, label } = texts(part.shown);
      if (part.value) part.value.textContent = value;
      if (part.gradient) part.gradient.textContent = gradient;
      part.group.setAttribute("aria-label", label);
      part.group.classList.toggle("has", known);
      part.group.classList.toggle("match", matching.has(part));
      for (const [name, one] of marked) part.group.classList.toggle(name, one === part);
      part.group.setAttribute("tabindex", part.group.matches(".selected") ? "0" : "-1");
    }
    this.writeAmount(now, amount, applies === null ? [] : [this.drawn(applies), this.drawn(receives)]);
  }

  // Beside the middle of a steep edge; above that of a flat one; and outside of its ends where there is no room between them.
  writeAmount(edge, text, ends) {
    const hidden = edge < 0 || this.edges[edge].getAttribute("visibility") === "hidden";
    this.amount.textContent = hidden ? "" : text;
    if (hidden) return;
    const path = this.edges[edge].querySelector("path");
    const [start, middle, end] = [0, 0.5, 1].map((part) => path.getPointAtLength(part * path.getTotalLength()));
    const flat = Math.abs(end.x - start.x) > Math.abs(end.y - start.y);
    const room = flat ? Math.abs(end.x - start.x) > this.amount.getComputedTextLength() + 8 : Math.abs(end.y - start.y) > 20;
    const right = Math.max(...ends.map(({ group }) => group.getBBox()).map((box) => box.x + box.width));
    this.amount.style.textAnchor = flat ? "middle" : "start";
    this.amount.setAttribute("x", flat ? middle.x : room ? middle.x + 6 : right + 4);
    this.amount.setAttribute("y", flat ? middle.y - (room ? 4 : 24) : middle.y + 3);
  }

  // Scroll so that these nodes, and of those that do not fit the last, are in sight.
  bringIntoSight(...nodes) {
    const smooth = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    const frame = this.container.getBoundingClientRect();
    const boxes = nodes.map((node) => this.drawn(node).group.getBoundingClientRect());
    const inSight = boxes.every(
      (box) => box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom,
    );
    if (inSight) return;
    const box = boxes[boxes.length - 1];
    this.container.scrollBy({
      left: box.left + box.width / 2 - frame.left - frame.width / 2,
      top: box.top + box.height / 2 - frame.top - frame.height / 2,
      behavior: smooth ? "smooth" : "auto",
    });
  }

  focus(node) {
    this.drawn(node).group.focus({ preventScroll: true });
  }

  // scale: pixels for a point of Graphviz's; null: as much as fits the width, but no more than 2 and no less than 1.
  zoom(scale) {
    this.scale = scale;
    const style = getComputedStyle(this.container);
    const width = this.container.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const height = this.container.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
    const fit = Math.min(width / this.size.width, Math.max(height / this.size.height, 1));
    this.shownScale = scale ?? Math.min(2, Math.max(1, fit));
    this.svg.style.width = `${this.size.width * this.shownScale}px`;
    this.svg.style.height = `${this.size.height * this.shownScale}px`;
  }
}
