// Turns the columns of explain.py into lists of nodes and edges for the other scripts. An array reads its numbers when they are first
// asked for, because a reader looks at only some of the arrays of a large page.

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

// Return the rows: each one has the fields that are the same in all, those of its facts, and its own.
function unpackedRows({ facts, of, same, columns }, readers) {
  const own = Object.entries(columns).map(([name, column]) => [name, column.map(readers[name] ?? ((value) => value))]);
  return of.map((fact, i) => ({ ...same, ...facts[fact], ...Object.fromEntries(own.map(([name, column]) => [name, column[i]])) }));
}

// Return a function from an array's number to the array; null for null. Several rows may share an array.
function arrayReader({ parts, texts, kinds, kindOf }) {
  const typed = { f8: Float64Array, f4: Float32Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };
  const numbers = { c: texts };
  for (const [dtype, text] of Object.entries(parts)) numbers[dtype] = new typed[dtype](bytesOf(text).buffer);
  const next = Object.fromEntries(Object.keys(numbers).map((dtype) => [dtype, 0]));
  const made = kindOf.map((kind) => {
    const { shape, dtype, fields } = kinds[kind];
    const array = { shape, dtype };
    for (const [name, stored, size, axes] of fields) {
      const begin = next[stored];
      next[stored] += size;
      const get = () => {
        const values = Array.from(numbers[stored].slice(begin, begin + size));
        Object.defineProperty(array, name, { value: axes === 0 ? values[0] : values });
        return array[name];
      };
      Object.defineProperty(array, name, { get, enumerable: true, configurable: true });
    }
    return array;
  });
  return (number) => (number === null ? null : made[number]);
}

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
