// The page's data as the other scripts read it: nodes and edges as lists of objects, from the columns of packing.py. In a
// large page their arrays are made when somebody asks for them.

const LAZY_FROM = 2000; // rows

function unpacked(data) {
  if (!data.packed) return data;
  const { rules, arrays, packed, ...rest } = data;
  const array = arrayReader(arrays);
  const list = (numbers) => numbers.map(array);
  const arraysOfRow = { value: array, raw: array, amount: array, sum: array, values: list, gradients: list };
  const nodes = unpackedRows(data.nodes, arraysOfRow, {});
  const ofRule = Object.fromEntries(Object.keys(rules[0] ?? {}).map((name) => [name, (row) => rules[row.rule][name]]));
  return { ...rest, nodes, edges: unpackedRows(data.edges, arraysOfRow, ofRule) };
}

// readers: by the name of a field what its column holds; computed: by the name of a field a function of the row.
function unpackedRows({ count, same, columns }, readers, computed) {
  const names = Object.keys(columns);
  const plain = names.filter((name) => readers[name] === undefined);
  const fields = Object.entries(computed);
  for (const name of names.filter((each) => !plain.includes(each))) {
    fields.push([name, (row) => readers[name](columns[name][row.row])]);
  }
  const lazy = count >= LAZY_FROM;
  const shared = {};
  if (lazy) for (const [name, read] of fields) Object.defineProperty(shared, name, once(name, read));
  const rows = [];
  for (let i = 0; i < count; i++) {
    const row = Object.assign(Object.create(lazy ? shared : Object.prototype), same);
    for (const name of plain) row[name] = columns[name][i];
    row.row = i;
    if (!lazy) for (const [name, read] of fields) row[name] = read(row);
    rows.push(row);
  }
  return rows;
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

// A function from an array's number to the array, which several rows may share; null for null.
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
