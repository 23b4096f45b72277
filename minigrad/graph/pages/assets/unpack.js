// Turns the columns of packing.py into lists of nodes and edges for the other scripts. Arrays are made when they are first
// read, because a reader looks at only some of the arrays of a large page.

function unpacked(data) {
  const { rules, arrays, ...rest } = data;
  const array = arrayReader(arrays);
  const list = (numbers) => numbers.map(array);
  const arraysOfRow = { value: array, raw: array, amount: array, sum: array, values: list, gradients: list };
  const nodes = unpackedRows(data.nodes, arraysOfRow, {});
  const ofRule = Object.fromEntries(Object.keys(rules[0] ?? {}).map((name) => [name, (row) => rules[row.rule][name]]));
  return { ...rest, nodes, edges: unpackedRows(data.edges, arraysOfRow, ofRule) };
}

// readers: for some fields, a function that reads a column's entry. computed: for other fields, a function of the row.
function unpackedRows({ count, same, columns }, readers, computed) {
  const shared = { ...same };
  const plain = [];
  const field = (name, read) => Object.defineProperty(shared, name, once(name, read));
  for (const [name, read] of Object.entries(computed)) field(name, read);
  for (const [name, column] of Object.entries(columns)) {
    if (readers[name]) field(name, ({ row }) => readers[name](column[row]));
    else plain.push([name, column]);
  }
  return Array.from({ length: count }, (_, i) => {
    const row = Object.create(shared);
    row.row = i;
    for (const [name, column] of plain) row[name] = column[i];
    return row;
  });
}

// A field that is computed when it is first read.
function once(name, read) {
  return {
    get() {
      const value = read(this);
      Object.defineProperty(this, name, { value, writable: true, enumerable: true });
      return value;
    },
  };
}

// A function from an array's number to the array; null for null. Several rows may share an array.
function arrayReader({ flat, kinds, kindOf }) {
  const begins = new Int32Array(kindOf.length);
  for (let i = 1; i < kindOf.length; i++) begins[i] = begins[i - 1] + kinds[kindOf[i - 1]].size;
  const made = [];
  const float32 = (value) => (typeof value === "number" ? Math.fround(value) : value); // "NaN" is text
  const make = (number) => {
    const { shape, dtype, keys, size } = kinds[kindOf[number]];
    const values = flat.slice(begins[number], begins[number] + size);
    if (keys !== null) return { shape, dtype, ...Object.fromEntries(keys.map((key, i) => [key, values[i]])) };
    return { shape, dtype, values: dtype === "float32" ? values.map(float32) : values };
  };
  return (number) => (number === null ? null : (made[number] ??= make(number)));
}
