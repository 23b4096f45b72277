// Small arrays, {shape, values}, with the values in one list in row-major order. This is the part of NumPy for whatif.js.

const nd = (() => {
  const sizeOf = (shape) => shape.reduce((product, n) => product * n, 1);
  const range = (n) => Array.from({ length: n }, (_, i) => i);
  const array = (shape, values) => ({ shape: [...shape], values });
  const scalar = (value) => array([], [value]);
  const full = (shape, value) => array(shape, new Array(sizeOf(shape)).fill(value));

  const sameShape = (a, b) => a.length === b.length && a.every((n, axis) => n === b[axis]);

  // Read an array of the page's data, where NaN and infinities are words and booleans are booleans.
  const read = (data) => array(data.shape, data.values.map(Number));

  function strides(shape) {
    const steps = new Array(shape.length);
    let step = 1;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      steps[axis] = step;
      step *= shape[axis];
    }
    return steps;
  }

  // Return the index of the element at a place in the list, and the place of an index.
  const unravel = (flat, shape) => strides(shape).map((step, axis) => Math.floor(flat / step) % shape[axis]);
  const ravel = (index, shape) => strides(shape).reduce((sum, step, axis) => sum + step * index[axis], 0);

  function broadcastShape(shapes) {
    const ndim = Math.max(0, ...shapes.map((shape) => shape.length));
    return range(ndim).map((axis) => {
      const sizes = shapes.map((shape) => shape[axis - ndim + shape.length]).filter((n) => n !== undefined && n !== 1);
      if (sizes.some((n) => n !== sizes[0])) throw new Error("shapes that do not broadcast");
      return sizes.length ? sizes[0] : 1;
    });
  }

  // Return the flat indices `from` plus one offset of each axis, in row-major order.
  const grid = (from, offsetsOfAxes) =>
    offsetsOfAxes.reduce((places, offsets) => places.flatMap((place) => offsets.map((offset) => place + offset)), [from]);

  // Return, for each element of an array of shape `to`, the flat index of the element of `shape` that is broadcast to it.
  function places(shape, to) {
    const steps = strides(shape);
    const added = to.length - shape.length;
    return grid(0, to.map((n, axis) => range(n).map((i) => (axis < added || shape[axis - added] === 1 ? 0 : i * steps[axis - added]))));
  }

  // Return f of the elements of up to three arrays that broadcast.
  function map(f, ...arrays) {
    const shape = broadcastShape(arrays.map((a) => a.shape));
    const [a, b, c] = arrays.map((one) => (sameShape(one.shape, shape) ? one.values : places(one.shape, shape).map((place) => one.values[place])));
    return array(shape, a.map((x, i) => f(x, b?.[i], c?.[i])));
  }

  const pick = (a, from, shape) => array(shape, from.map((place) => a.values[place]));

  // Return zeros of `shape`, with each element of g added at its index in `at`. An element with index -1 is dropped.
  function addAt(g, at, shape) {
    const sum = full(shape, 0);
    at.forEach((place, i) => {
      if (place >= 0) sum.values[place] += g.values[i];
    });
    return sum;
  }

  // Sum over the axes along which an array of `shape` was broadcast.
  const fit = (g, shape) => addAt(g, places(shape, g.shape), shape);

  const axesOf = (ndim, axis) => (axis === null ? range(ndim) : [axis].flat().map((i) => (i < 0 ? i + ndim : i))).filter((i) => i < ndim);

  // Return the indices of the elements that a reduction over `axis` combines: a list for each element of the result.
  function groups(shape, axis) {
    const steps = strides(shape);
    const reduced = axesOf(shape.length, axis);
    const offsets = (axes) => axes.map((i) => range(shape[i]).map((j) => j * steps[i]));
    const kept = range(shape.length).filter((i) => !reduced.includes(i));
    return grid(0, offsets(kept)).map((start) => grid(start, offsets([...reduced].sort((a, b) => a - b))));
  }

  // einsum with lists of labels: it sums the products over all labels that are not in `output`. A label of `output` that
  // no factor has repeats the sum along its axis. A label that is twice in `output` puts the sum on the diagonal.
  function contract(factors, terms, output, sizes) {
    const result = full(output.map((label) => sizes[label]), 0);
    const kept = [...new Set(output)];
    const summed = [...new Set(terms.flat())].filter((label) => !kept.includes(label));
    const places = (shape, term, labels) => {
      const steps = strides(shape);
      const step = (label) => term.reduce((sum, other, axis) => sum + (other === label && shape[axis] > 1 ? steps[axis] : 0), 0);
      return grid(0, labels.map((label) => range(sizes[label]).map((k) => k * step(label))));
    };
    const [from, along] = [kept, summed].map((labels) => factors.map((factor, j) => places(factor.shape, terms[j], labels)));
    const count = summed.reduce((n, label) => n * sizes[label], 1);
    places(result.shape, output, kept).forEach((to, i) => {
      for (let k = 0; k < count; k++) {
        let product = 1;
        for (let j = 0; j < factors.length; j++) product *= factors[j].values[from[j][i] + along[j][k]];
        result.values[to] += product;
      }
    });
    return result;
  }

  // Permute the axes of an array.
  const transpose = (a, axes) => contract([a], [range(a.shape.length)], axes, a.shape);

  // Return the size of each label.
  function labelSizes(arrays, terms) {
    const sizes = terms.flatMap((term, i) => term.map((label, axis) => [label, arrays[i].shape[axis]]));
    return Object.fromEntries(sizes.sort(([, n], [, m]) => (m === 1) - (n === 1))); // the last one counts
  }

  // --- indexing ---

  function sliceOffsets([start, stop, step], n) {
    step = step ?? 1;
    const bound = (value, low, high) => Math.min(Math.max(value < 0 ? value + n : value, low), high);
    const first = start === null ? (step > 0 ? 0 : n - 1) : step > 0 ? bound(start, 0, n) : bound(start, -1, n - 1);
    const last = stop === null ? (step > 0 ? n : -1) : step > 0 ? bound(stop, 0, n) : bound(stop, -1, n - 1);
    return range(Math.max(0, Math.ceil((last - first) / step))).map((i) => first + i * step);
  }

  // Turn an index of the page's data into one entry for each axis of the array: {offsets}, or {advanced: array of offsets}.
  // An entry without an axis of the array (None, ...) has the offsets [0], or none.
  function entries(shape, index) {
    const steps = strides(shape);
    const parts = [...index];
    const missing = shape.length - parts.filter((part) => part !== null && !part.ellipsis).length;
    const dots = parts.findIndex((part) => part?.ellipsis);
    parts.splice(dots < 0 ? parts.length : dots + 1, 0, ...new Array(missing).fill({ slice: [null, null, null] }));
    let axis = 0;
    return parts.map((part) => {
      if (part === null) return { offsets: [0] };
      if (part.ellipsis) return {};
      const n = shape[axis];
      const step = steps[axis++];
      if (part.slice) return { offsets: sliceOffsets(part.slice, n).map((i) => i * step) };
      const numbers = typeof part === "number" ? scalar(part) : part.array && read(part.array);
      if (!numbers) throw new Error("an index of another kind");
      return { advanced: map((i) => (i < 0 ? i + n : i) * step, numbers), number: typeof part === "number" };
    });
  }

  // Return the elements that `a[index]` picks, as flat indices, and the shape of the result. The data have them for an index with masks.
  function indexed(shape, index) {
    if (index[0]?.flat) return { places: index[0].flat.values, shape: index[0].flat.shape };
    const all = entries(shape, index);
    const advanced = all.filter((entry) => entry.advanced);
    const kept = (found) => found.filter((entry) => entry.offsets);
    const sizes = (found) => kept(found).map((entry) => entry.offsets.length);
    const offsets = (found) => kept(found).map((entry) => entry.offsets);
    if (advanced.every((entry) => entry.number)) {
      const start = advanced.reduce((sum, entry) => sum + entry.advanced.values[0], 0);
      return { places: grid(start, offsets(all)), shape: sizes(all) };
    }
    const together = advanced.map((entry) => entry.advanced).reduce((a, b) => map((i, j) => i + j, a, b));
    const first = all.findIndex((entry) => entry.advanced);
    const adjacent = all.slice(first, first + advanced.length).every((entry) => entry.advanced);
    const [before, after] = adjacent ? [all.slice(0, first), all.slice(first)] : [[], all];
    return {
      places: grid(0, [...offsets(before), together.values, ...offsets(after)]),
      shape: [...sizes(before), ...together.shape, ...sizes(after)],
    };
  }

  return {
    addAt, array, axesOf, broadcastShape, contract, fit, full, grid, groups, indexed, labelSizes, map, pick, places, range, ravel,
    read, sameShape, scalar, sizeOf, strides, transpose, unravel,
  };
})();
