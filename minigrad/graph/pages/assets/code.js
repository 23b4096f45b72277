// The user's program next to its graph. Each line is divided where a subexpression begins or ends. A piece stores the
// subexpressions around it, the smallest first, and each subexpression stores its operations (many in a loop).

const code = (() => {
  const files = original.program;
  const spans = new Map(); // "file line column endLine endColumn" -> {key, span, nodes, pieces}
  const lines = []; // {file, number, row}
  const lit = { active: null, hover: null, selected: null };

  const TOKENS = /(#.*$)|("""(?:.*?""")?|'''|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(def|return|for|in|if|else|elif|while|with|as|import|from|class|lambda|not|and|or|None|True|False|yield|raise|try|except|pass|is|await|async|del|assert|global|nonlocal|break|continue)\b/g;

  const indentOf = (text) => text.length - text.trimStart().length;

  // Return the part of this line in a span, [from, to).
  function reach([, line, column, endLine, endColumn], number, text) {
    const from = number === line ? column : indentOf(text);
    return [from, number === endLine ? endColumn : text.length];
  }

  function tokens(text) {
    return [...text.matchAll(TOKENS)].map((found) => {
      const kind = found[1] !== undefined ? "comment" : found[2] !== undefined ? "string" : "keyword";
      return [found.index, found.index + found[0].length, kind];
    });
  }

  // Return a line as pieces of text, with the classes of its words. `here`: the subexpressions on it.
  function pieces(text, number = 0, here = []) {
    const indent = indentOf(text);
    const inside = here.map((one) => [one, ...reach(one.span, number, text)]).filter(([, from, to]) => from < to);
    const found = tokens(text);
    const cuts = new Set([indent, text.length]);
    for (const [, from, to] of inside) cuts.add(Math.min(from, text.length)).add(Math.min(to, text.length));
    for (const [from, to] of found) cuts.add(from).add(to);
    const places = [...cuts].filter((at) => at >= indent).sort((a, b) => a - b);
    return places.slice(0, -1).map((from, i) => {
      const around = inside.filter(([, a, b]) => a <= from && b >= places[i + 1]).sort((one, other) => one[2] - one[1] - (other[2] - other[1]));
      const token = found.find(([a, b]) => a <= from && b >= places[i + 1])?.[2];
      const made = element("span", { class: token ?? null, "data-span": around.length > 0 ? around[0][0].key : null }, text.slice(from, places[i + 1]));
      for (const [one] of around) one.pieces.push(made);
      return made;
    });
  }

  function build(host) {
    original.nodes.forEach(({ span }, node) => {
      if (!span) return;
      const key = span.join(" ");
      keptIn(spans, key, () => ({ key, span, nodes: [], pieces: [] })).nodes.push(node);
    });
    for (const { nodes } of spans.values()) nodes.sort((a, b) => timeline.computed[a] - timeline.computed[b]);
    const blocks = files.map(fileBlock);
    const own = original.nodes[original.end[0]].span?.[0] ?? 0; // the function in which the end is computed stands first
    host.append(...blocks.slice(own, own + 1), ...blocks.filter((_, number) => number !== own));
    const under = (event) => spans.get(event.target.closest("[data-span]")?.dataset.span);
    host.addEventListener("pointerover", (event) => setHover(under(event) ? nodeOf(under(event)) : null));
    host.addEventListener("pointerleave", () => setHover(null));
    host.addEventListener("click", (event) => under(event) && select(nodeOf(under(event))));
  }

  function fileBlock(file, number) {
    const here = [...spans.values()].filter(({ span }) => span[0] === number);
    const list = element("div", { class: "lines" });
    let docstring = false;
    const indent = Math.min(...file.lines.filter((text) => text.trim() !== "").map(indentOf));
    file.lines.forEach((text, i) => {
      const inside = docstring;
      if ((text.match(/"""|'''/g) ?? []).length % 2 === 1) docstring = !docstring;
      const line = file.first + i;
      const found = here.filter(({ span }) => span[1] <= line && line <= span[3]);
      if (inside && found.length === 0) return; // of a text of several lines, such as a docstring, only the first one is shown
      const row = element("div", { class: text.length > 400 ? "line long" : "line" }, element("span", { class: "number", "aria-hidden": "true" }, String(line)), element("code", {}, ...(text.trim() === "" ? ["\u200b"] : pieces(text, line, found)), docstring && !inside ? " …" : ""));
      if (text.trim() !== "") row.style.setProperty("--indent", indentOf(text) - indent); // a long line continues below its own indentation
      lines.push({ file: number, number: line, row });
      list.append(row);
    });
    return element("section", { class: "file" }, element("h3", {}, file.name), list);
  }

  // Return the operation of a piece of code that is nearest to the operation of the current step.
  function nodeOf(one) {
    const { target } = timeline.at(state.step) ?? { target: null };
    const now = target === null ? 0 : timeline.computed[target];
    return one.nodes.reduce((best, node) => (Math.abs(timeline.computed[node] - now) < Math.abs(timeline.computed[best] - now) ? node : best));
  }

  function mark(name, node) {
    const key = node === null ? null : (original.nodes[node].span?.join(" ") ?? null);
    if (lit[name] === key) return key;
    for (const piece of spans.get(lit[name])?.pieces ?? []) piece.classList.remove(name);
    for (const piece of spans.get(key)?.pieces ?? []) piece.classList.add(name);
    lit[name] = key;
    return key;
  }

  // active: the operation of the step; selected: the node in the panel; hover: the node under the pointer.
  function update({ active, selected, hover: over = null, backward }, host) {
    const key = mark("active", active);
    mark("selected", selected === active ? null : selected);
    mark("hover", over);
    host.classList.toggle("backward", backward);
    const [file, line, , endLine] = spans.get(key)?.span ?? [];
    show(host, lines.filter((one) => one.file === file && one.number >= line && one.number <= endLine).map(({ row }) => row));
  }

  // Mark the lines of the step, and bring them into sight if others were marked. Without any, show the beginning.
  function show(host, rows) {
    const before = [...host.querySelectorAll(".now")];
    if (before.length === rows.length && before.every((row, i) => row === rows[i])) return;
    const mark = (row, isNow, isMore = false) => {
      row.classList.toggle("now", isNow);
      row.classList.toggle("more", isMore);
      setAttributes(row, { "aria-current": isNow && "step" });
    };
    for (const row of before) mark(row, false);
    rows.forEach((row, i) => mark(row, true, i > 0));
    if (rows.length === 0) host.scrollTop = 0;
    else bringIntoSight(host);
  }

  // Scroll if it is needed for the lines of the step: to the beginning of their function if this leaves them in sight. The style sheet
  // lets no line be cut above. A hidden pane does not scroll, because measuring it would lay out the page once more.
  function bringIntoSight(host) {
    const rows = [...host.querySelectorAll(".now")];
    if (host.hidden || rows.length === 0) return;
    const [top, bottom] = [rows[0].offsetTop, rows.at(-1).offsetTop + rows.at(-1).offsetHeight];
    const [head, room] = [host.querySelector("h3")?.offsetHeight ?? 0, host.clientHeight - 24];
    if (top >= host.scrollTop + head && bottom <= host.scrollTop + room) return;
    const begin = rows[0].closest(".file").offsetTop;
    host.scrollTop = bottom - begin <= room ? begin : (top + bottom - head - room) / 2;
  }

  return { build, update, show, bringIntoSight, pieces, isEmpty: files.length === 0 };
})();
