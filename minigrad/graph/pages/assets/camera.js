// Computes the visible part of a scene, with geometry alone. A point p of the scene is at p * scale + (x, y) on the screen.

const camera = {
  TEXT: 12, // px: the height of the smallest text
  get MARGIN() {
    return 1.65 * this.TEXT; // px: a name fits between the scene and the edge
  },
  EDGE: 8, // px: between the boxes of a step and the edge; their names are inside them
  scale: 1,
  x: 0,
  y: 0,
  wanted: null, // the scale that the reader has chosen

  // Return the scale at which a box shows all of its lines. Below it, text keeps its size and a box shows fewer lines.
  get full() {
    return this.TEXT / 13;
  },

  // Return the size of text in the scene, in units of 13.
  get unit() {
    return Math.max(1, this.full / this.scale);
  },

  fitScale({ width, height }, pane, margin = this.MARGIN) {
    const part = (size) => Math.max(size - 2 * margin, size / 2);
    return Math.min(part(pane.width) / width, part(pane.height) / height);
  },

  // Show the whole scene, at any scale.
  fit(scene, pane) {
    this.wanted = null;
    this.scale = Math.max(1e-3, Math.min(this.fitScale(scene, pane), 1.4 * this.full));
    this.keepInside(scene, pane);
  },

  // Return the scale from which on boxes of four lines show three.
  get near() {
    return 0.75 * this.full;
  },

  // Show all of these boxes. If the whole scene is readable, show it, or else go near. Move the camera no further than needed.
  frame(boxes, scene, pane, whole = true) {
    const all = Math.min(this.fitScale(scene, pane, this.EDGE), 1.4 * this.full);
    if (whole && this.wanted === null && all >= 0.25 * this.full) { // the view goes nearer if the boxes of the step cannot be read
      this.scale = all;
      return this.keepInside(scene, pane);
    }
    const scale = Math.max(1e-3, Math.min(this.wanted ?? this.near, this.scaleFor(boxes, pane)));
    const centred = this.middle(boxes, scale, pane.width / 2, pane.height / 2);
    const areInside = () => boxes.every((box) => this.isInside(box, pane));
    if (this.scale !== scale || !areInside()) Object.assign(this, centred);
    this.keepInside(scene, pane);
    if (!areInside()) Object.assign(this, centred);
    if (this.wanted === null) Object.assign(this, this.uncut(boxes, scene, pane));
  },

  // Return the view near this one in which the pane's edge cuts the fewest boxes: a little smaller, or moved until a box is in sight or
  // out of it. These boxes stay in sight. One box less is worth a scale that is a fifth smaller.
  uncut(boxes, scene, pane) {
    const isShown = (view) => boxes.every((box) => inSight(this.rect(box, view), pane, this.EDGE - 1)); // 1 px for rounding
    const cuts = (view) => scene.boxes.map((box) => this.rect(box, view)).filter((rect) => overlap(rect, { left: 0, top: 0, right: pane.width, bottom: pane.height }) && !inSight(rect, pane));
    const moved = (view, axis) => {
      const [low, high, size] = axis === "x" ? ["left", "right", pane.width] : ["top", "bottom", pane.height];
      const shifts = cuts(view).flatMap((rect) => [4 - rect[low], size - 4 - rect[high], -1 - rect[high], size + 1 - rect[low]]);
      const views = shifts.map((shift) => ({ ...view, [axis]: view[axis] + shift })).filter(isShown);
      return [view, ...views].reduce((best, one) => (cuts(one).length < cuts(best).length ? one : best));
    };
    const { left, right, top, bottom } = this.around(boxes);
    const [cx, cy] = [((left + right) / 2) * this.scale + this.x, ((top + bottom) / 2) * this.scale + this.y];
    const views = nd.range(5).map((i) => moved(moved(this.middle(boxes, this.scale * 0.9 ** i, cx, cy), "x"), "y"));
    const cost = (view) => cuts(view).length + 5 * (1 - view.scale / this.scale);
    return views.reduce((best, one) => (cost(one) < cost(best) ? one : best));
  },

  scaleFor(boxes, pane) {
    const { left, right, top, bottom } = this.around(boxes);
    return this.fitScale({ width: right - left, height: bottom - top }, pane, this.EDGE);
  },

  around(boxes) {
    return {
      left: Math.min(...boxes.map(({ x, w }) => x - w / 2)),
      right: Math.max(...boxes.map(({ x, w }) => x + w / 2)),
      top: Math.min(...boxes.map(({ y, h }) => y - h / 2)),
      bottom: Math.max(...boxes.map(({ y, h }) => y + h / 2)),
    };
  },

  // Return the view in which the middle of these boxes lies at a point of the screen.
  middle(boxes, scale, cx, cy) {
    const { left, right, top, bottom } = this.around(boxes);
    return { scale, x: cx - ((left + right) / 2) * scale, y: cy - ((top + bottom) / 2) * scale };
  },

  // Show as little empty space around the scene as possible.
  keepInside({ width, height }, pane) {
    const keep = (at, size, room) => (size + 2 * this.EDGE <= room + 0.1 ? (room - size) / 2 : Math.min(this.MARGIN, Math.max(room - this.MARGIN - size, at)));
    this.x = keep(this.x, width * this.scale, pane.width);
    this.y = keep(this.y, height * this.scale, pane.height);
  },

  // Return a box on the screen, in this or another view.
  rect({ x, y, w, h }, view = this) {
    const [left, top, width, height] = [(x - w / 2) * view.scale + view.x, (y - h / 2) * view.scale + view.y, w * view.scale, h * view.scale];
    return { left, top, right: left + width, bottom: top + height, width, height };
  },

  isInside(box, pane) {
    return inSight(this.rect(box), pane);
  },

  zoom(factor, pane, [cx, cy] = [pane.width / 2, pane.height / 2]) {
    const scale = Math.max(1e-3, Math.min(4 * this.full, this.scale * factor));
    this.x = cx - ((cx - this.x) / this.scale) * scale;
    this.y = cy - ((cy - this.y) / this.scale) * scale;
    this.scale = this.wanted = scale;
  },

  pan: (dx, dy) => Object.assign(camera, { x: camera.x + dx, y: camera.y + dy }),

  // Return the same view in the coordinates of the scene around this one; inward() goes back. `place` is that of the inner scene.
  outward({ scale, x, y }, place) {
    const outer = scale / place.scale;
    return { scale: outer, x: x - place.x * outer, y: y - place.y * outer };
  },

  inward({ scale, x, y }, place) {
    return { scale: scale * place.scale, x: x + place.x * scale, y: y + place.y * scale };
  },

  // Return the view at t in [0, 1] of the way from one view to another: the width of what is seen grows by a steady factor, and a point
  // that has the same place in both views keeps it.
  between(from, to, pane, t) {
    const width = (share) => (pane.width / from.scale) * (from.scale / to.scale) ** share;
    const share = Math.abs(width(1) / width(0) - 1) < 1e-6 ? t : (width(t) - width(0)) / (width(1) - width(0));
    const centre = ({ scale, x, y }) => [(pane.width / 2 - x) / scale, (pane.height / 2 - y) / scale];
    const [begin, end] = [centre(from), centre(to)];
    const [x, y] = begin.map((start, axis) => start + (end[axis] - start) * share);
    const scale = pane.width / width(t);
    return { scale, x: pane.width / 2 - x * scale, y: pane.height / 2 - y * scale };
  },
};

const rectAt = (x, y, w, h) => ({ left: x - w / 2, top: y - h / 2, right: x + w / 2, bottom: y + h / 2 });
const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const inSight = ({ left, top, right, bottom }, pane, edge = 2) => left >= edge && top >= edge && right <= pane.width - edge && bottom <= pane.height - edge;

// Return the first of these rectangles, in the order of preference, that is in sight and covers none of those taken; null if all do.
const freePlace = (rects, taken, pane) => rects.find((rect) => inSight(rect, pane) && !taken.some((other) => overlap(rect, other))) ?? null;
