// Evaluates the trees from replay.py. A number, true, false or null is itself, and a text is a name. A list is a call of its
// first item with the others as arguments: ["multiply", "g", ["cos", "x"]]. An object at its end has the keywords.

const python = (() => {
  const { functions, listOf, numberOf } = numpy;
  const isTrue = (x) => (x !== null && typeof x === "object" && !Array.isArray(x) ? Boolean(numberOf(x)) : Array.isArray(x) ? x.length > 0 : Boolean(x));
  const among = (x, all) => (Array.isArray(all) && all.some((one) => one?.shape) ? all[x] != null : listOf(all).includes(x));

  // `own`: the helpers in the page's data, by name: [parameters, defaults, body].
  function interpreter(own) {
    const listed = (trees, names) => trees.flatMap((tree) => (tree?.[0] === "*" && Array.isArray(tree) ? listOf(evaluate(tree[1], names)) : [evaluate(tree, names)]));
    const assign = (target, value, names) => {
      if (typeof target === "string") names[target] = value;
      else target.slice(1).forEach((one, i) => assign(one, listOf(value)[i], names));
      return value;
    };

    const forms = {
      "'": (names, text) => text,
      "[]": (names, ...parts) => listed(parts, names),
      "?": (names, test, yes, no) => evaluate(isTrue(evaluate(test, names)) ? yes : no, names),
      "=": (names, target, value) => assign(target, evaluate(value, names), names),
      ";": (names, ...steps) => steps.map((step) => evaluate(step, names)).at(-1),
      "...": () => ({ ellipsis: true }),
      ":": (names, ...ends) => ({ slice: ends.map((end) => (end === null ? null : numberOf(evaluate(end, names) ?? 0))) }),
      and: (names, a, b) => (isTrue(evaluate(a, names)) ? evaluate(b, names) : false),
      or: (names, a, b) => (isTrue(evaluate(a, names)) ? true : evaluate(b, names)),
      not: (names, a) => !isTrue(evaluate(a, names)),
      is: (names, a, b) => evaluate(a, names) === evaluate(b, names),
      in: (names, a, b) => among(numberOf(evaluate(a, names)), evaluate(b, names)),
      at: (names, ...parts) => at(...parts.map((part) => evaluate(part, names))),
      for: (names, target, all, body, test = true) =>
        listOf(evaluate(all, names)).flatMap((value) => {
          const inside = { ...names };
          assign(target, value, inside);
          return isTrue(evaluate(test, inside)) ? [evaluate(body, inside)] : [];
        }),
    };

    function at(of, index) {
      if (!Array.isArray(of)) return functions.get("getitem")(of, index);
      if (!index?.slice) return of.at(numberOf(index));
      return of.slice(index.slice[0] ?? 0, index.slice[1] ?? of.length);
    }

    function evaluate(tree, names) {
      if (typeof tree === "string" && !(tree in names)) throw new Error(`no ${tree}`);
      if (!Array.isArray(tree)) return typeof tree === "string" ? names[tree] : tree;
      const [kind, ...rest] = tree;
      if (Object.hasOwn(forms, kind)) return forms[kind](names, ...rest);
      const last = rest.at(-1);
      const given = last !== null && typeof last === "object" && !Array.isArray(last) ? rest.pop() : {};
      const keywords = Object.entries(given).map(([name, value]) => [name, evaluate(value, names)]);
      return call(kind, listed(rest, names), Object.fromEntries(keywords));
    }

    // Call a NumPy function or a helper. An unknown keyword is allowed only if its value has no effect. An unknown function raises.
    function call(name, given, keywords = {}) {
      if (name === "add" && Array.isArray(given[0])) return [...given[0], ...given[1]];
      if (name === "equal" && given.some((x) => typeof x === "string")) return given[0] === given[1];
      if (!own[name] && !functions.has(name)) throw Object.assign(new Error(name), { unknown: true });
      const [parameters, defaults, body] = own[name] ?? [functions.get(name).parameters];
      const values = [...given];
      for (const [keyword, value] of Object.entries(keywords)) {
        const place = parameters.indexOf(keyword);
        if (place >= 0) values[place] = value;
        else if (keyword !== "dtype" && keyword !== "kind" && ![null, true, false].includes(value)) throw Object.assign(new Error(name), { keyword });
      }
      if (!own[name]) return functions.get(name)(...values);
      const names = { ...defaults };
      parameters.forEach((one, i) => values[i] !== undefined && (names[one] = values[i]));
      return evaluate(body, names);
    }

    return { call, evaluate };
  }

  return { interpreter };
})();
