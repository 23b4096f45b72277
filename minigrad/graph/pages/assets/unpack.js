// Turns the columns of explain.py into lists of nodes and edges for the other scripts. Arrays are made when they are first
// read, because a reader looks at only some of the arrays of a large page.

function unpacked(data) {
  const { arrays, sweep, ...rest } = data;
  const array = arrayReader(arrays);
  const list = (numbers) => numbers.map(array);
  const readers = { value: array, raw: array, amount: array, sum: array, weights: array, values: list, gradients: list };
  const [nodes, edges] = [unpackedRows(data.nodes, readers), unpackedRows(data.edges, readers)];
  const forward = nodes.flatMap(({ operation }, number) => (operation === null ? [] : [["forward", number]]));
  const backward = sweep.flatMap((number) => (edges[number].amount === null ? [["product", number]] : [["product", number], ["fit", number]]));
  return { ...rest, nodes, edges, steps: [...forward, ...backward] };
}

// Rows with equal facts share a prototype. readers: for some fields, a function that reads an item of a column.
function unpackedRows({ facts, of, same, columns }, readers) {
  const shared = { ...same };
  const plain = [];
  for (const [name, column] of Object.entries(columns)) {
    if (!readers[name]) {
      plain.push([name, column]);
      continue;
    }
    const get = function () { // the first reading makes it a field of the row
      const value = readers[name](column[this.row]);
      Object.defineProperty(this, name, { value, writable: true, enumerable: true });
      return value;
    };
    Object.defineProperty(shared, name, { get });
  }
  const models = facts.map((fact) => Object.assign(Object.create(shared), fact));
  return of.map((fact, i) => {
    const row = Object.create(models[fact]);
    row.row = i;
    for (const [name, column] of plain) row[name] = column[i];
    return row;
  });
}

// Return a function from an array's number to the array; null for null. Several rows may share an array.
function arrayReader({ parts, texts, kinds, kindOf }) {
  const typed = { f8: Float64Array, f4: Float32Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };
  const numbers = { c: texts };
  for (const [dtype, text] of Object.entries(parts)) numbers[dtype] = new typed[dtype](bytesOf(text).buffer);
  const next = Object.fromEntries(Object.keys(numbers).map((dtype) => [dtype, 0]));
  const begins = kindOf.map((kind) => kinds[kind].fields.map(([, dtype, size]) => (next[dtype] += size) - size));
  const made = [];
  const make = (number) => {
    const { shape, dtype, fields } = kinds[kindOf[number]];
    const read = ([name, stored, size, axes], i) => {
      const values = Array.from(numbers[stored].slice(begins[number][i], begins[number][i] + size));
      return [name, axes === 0 ? values[0] : values];
    };
    return { shape, dtype, ...Object.fromEntries(fields.map(read)) };
  };
  return (number) => (number === null ? null : (made[number] ??= make(number)));
}

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
