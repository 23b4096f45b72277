// The page's data as the other scripts read it: nodes and edges as lists of objects, from the columns of packing.py. In a
// large page their arrays are made when somebody asks for them.

const LAZY_FROM = 2000; // rows

function unpacked(data) {
  if (!data.packed) return data;
  const { rules, kinds, packed, ...rest } = data;
  const nodes = unpackedRows(data.nodes, kinds, {});
  const ofRule = Object.fromEntries(Object.keys(rules[0] ?? {}).map((name) => [name, (row) => rules[row.rule][name]]));
  return { ...rest, nodes, edges: unpackedRows(data.edges, kinds, ofRule) };
}

// computed: by the name of a field a function of the row.
function unpackedRows({ count, same, columns }, kinds, computed) {
  const plain = Object.keys(columns).filter((name) => Array.isArray(columns[name]));
  const fields = Object.entries(computed);
  for (const [name, column] of Object.entries(columns)) {
    if (!Array.isArray(column)) fields.push([name, arrayReader(column, kinds)]);
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

// A function from a row to its array.
function arrayReader({ flat, kinds: ofRow, lists, other }, kinds) {
  const begins = new Int32Array(ofRow.length);
  let end = 0;
  ofRow.forEach((kind, i) => {
    begins[i] = end;
    if (kind >= 0) end += kinds[kind].size;
  });
  const array = (row) => {
    const kind = ofRow[row.row];
    if (kind === -2) return row.amount ?? row.raw;
    if (kind < 0) return null;
    const { shape, dtype, keys, size } = kinds[kind];
    const values = flat.slice(begins[row.row], begins[row.row] + size);
    return { shape, dtype, ...(keys === null ? { values } : Object.fromEntries(keys.map((key, i) => [key, values[i]]))) };
  };
  if (!lists) return array;
  return (row) => (ofRow[row.row] === -3 ? [] : ofRow[row.row] === -4 ? other[row.row] : [array(row)]);
}
