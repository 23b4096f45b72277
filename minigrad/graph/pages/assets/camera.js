// The visible part of a scene. A point p of the scene is at p * scale + (x, y) on the screen. Pure geometry.

const camera = {
  READABLE: 12 / 13, // the scale at which text is 12 px high; stepping never uses a smaller one
  MARGIN: 14,
  scale: 1,
  x: 0,
  y: 0,
  wanted: null, // the scale that the reader has chosen

  fitScale({ width, height }, pane) {
    return Math.min((pane.width - 2 * this.MARGIN) / width, (pane.height - 2 * this.MARGIN) / height);
  },

  // Show the whole scene, at any scale.
  fit(scene, pane) {
    this.wanted = null;
    this.scale = Math.max(0.02, Math.min(this.fitScale(scene, pane), 1.4));
    this.keepInside(scene, pane);
  },

  // Show these boxes. The first one is the most important. If the whole scene is readable, show it. Else move the camera no
  // further than needed. If the boxes are too far apart, centre the first one.
  frame(boxes, scene, pane) {
    const all = Math.min(this.fitScale(scene, pane), 1.4);
    if (this.wanted === null && all >= this.READABLE) {
      this.scale = all;
      this.keepInside(scene, pane);
      return;
    }
    const usual = Math.max(this.wanted ?? 1, this.READABLE);
    const scale = [usual, 1, this.READABLE].filter((s) => s <= usual).find((s) => this.roomFor(boxes, s, pane));
    const moved = this.scale !== (scale ?? usual);
    this.scale = scale ?? this.READABLE;
    const focus = scale === undefined ? this.together(boxes, pane) : boxes;
    if (focus.length === 0) return this.keepInside(scene, pane);
    if (moved || !focus.every((box) => this.isInside(box, pane))) this.centre(focus, pane);
    this.keepInside(scene, pane);
    if (!focus.every((box) => this.isInside(box, pane))) this.centre(focus, pane);
  },

  // The first box, and as many of the nearest others as fit.
  together([first, ...others], pane) {
    const apart = ({ x, y }) => Math.hypot(x - first.x, y - first.y);
    const found = first === undefined ? [] : [first];
    for (const box of others.sort((a, b) => apart(a) - apart(b))) if (this.roomFor([...found, box], this.scale, pane)) found.push(box);
    return found;
  },

  around(boxes) {
    return {
      left: Math.min(...boxes.map(({ x, w }) => x - w / 2)),
      right: Math.max(...boxes.map(({ x, w }) => x + w / 2)),
      top: Math.min(...boxes.map(({ y, h }) => y - h / 2)),
      bottom: Math.max(...boxes.map(({ y, h }) => y + h / 2)),
    };
  },

  roomFor(boxes, scale, pane) {
    if (boxes.length === 0) return true;
    const { left, right, top, bottom } = this.around(boxes);
    return (right - left) * scale <= pane.width - 2 * this.MARGIN && (bottom - top) * scale <= pane.height - 2 * this.MARGIN;
  },

  centre(boxes, pane) {
    const { left, right, top, bottom } = this.around(boxes);
    this.x = pane.width / 2 - ((left + right) / 2) * this.scale;
    this.y = pane.height / 2 - ((top + bottom) / 2) * this.scale;
  },

  // Show as little empty space around the scene as possible.
  keepInside({ width, height }, pane) {
    const keep = (at, size, room) => (size + 2 * this.MARGIN <= room ? (room - size) / 2 : Math.min(this.MARGIN, Math.max(room - this.MARGIN - size, at)));
    this.x = keep(this.x, width * this.scale, pane.width);
    this.y = keep(this.y, height * this.scale, pane.height);
  },

  // A box on the screen.
  rect({ x, y, w, h }) {
    const { scale } = this;
    return { left: (x - w / 2) * scale + this.x, top: (y - h / 2) * scale + this.y, right: (x + w / 2) * scale + this.x, bottom: (y + h / 2) * scale + this.y };
  },

  isInside(box, pane) {
    const { left, right, top, bottom } = this.rect(box);
    return left >= 2 && top >= 2 && right <= pane.width - 2 && bottom <= pane.height - 2;
  },

  isSeen(box, pane) {
    return overlap(this.rect(box), { left: 0, top: 0, right: pane.width, bottom: pane.height });
  },

  point([x, y]) {
    return [x * this.scale + this.x, y * this.scale + this.y];
  },

  zoom(factor, pane, [cx, cy] = [pane.width / 2, pane.height / 2]) {
    const scale = Math.max(0.02, Math.min(4, this.scale * factor));
    this.x = cx - ((cx - this.x) / this.scale) * scale;
    this.y = cy - ((cy - this.y) / this.scale) * scale;
    this.scale = this.wanted = scale;
  },

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
  },
};
