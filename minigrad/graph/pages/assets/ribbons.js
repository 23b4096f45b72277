// Draws attention as ribbons from words to words: the width is the weight. The heads have colours, and lie side by side.

const ribbons = (() => {
  const [row, wide] = [24, 150];
  const MOST = 2000; // ribbons; of more, the widest are drawn

  function ribbon([i, j, weight, head], count, largest, pale) {
    const most = (0.85 * row) / count;
    const [y1, y2] = [i, j].map((place) => (row * (place + 0.5) + (head - (count - 1) / 2) * most).toFixed(1));
    const share = Math.min(1, weight / largest);
    const look = { class: count === 1 ? "ribbon" : `ribbon k${head % 6}`, "stroke-width": Math.max(0.7, share * most).toFixed(2), "stroke-opacity": (pale * (0.2 + 0.75 * share)).toFixed(3) };
    return svgElement("path", { d: `M0 ${y1}C${wide / 2} ${y1} ${wide / 2} ${y2} ${wide} ${y2}`, ...look });
  }

  // Return two columns of words with the ribbons between them. `heads` has for each head that is shown its weights in one list. `asked`,
  // {side, place}, is the word under the pointer or with the focus: its weights (the mean of the heads) stand beside the other words.
  // A column is `room` wide.
  function view({ tokens, heads, asked, ask, room }) {
    const [queries, keys] = tokens;
    const all = heads.flatMap((weights, head) => weights.map((weight, n) => [Math.floor(n / keys.length), n % keys.length, weight, head]));
    const largest = all.reduce((most, one) => Math.max(most, one[2] || 0), 0) || 1;
    const near = all.filter((one) => one[2] >= 0.02 * largest && (asked.side === null || one[asked.side] === asked.place));
    const shown = near.sort((a, b) => b[2] - a[2]).slice(0, MOST);
    const mean = (i, j) => heads.reduce((sum, weights) => sum + weights[i * keys.length + j], 0) / heads.length;
    const weightsOf = (side, place) => (side === 0 ? keys.map((_, j) => mean(place, j)) : queries.map((_, i) => mean(i, place)));
    const shares = asked.side === null ? [] : weightsOf(asked.side, asked.place);
    const label = (text, place, side) => {
      const best = Array.from(weightsOf(side, place), (weight, other) => [weight, other]).filter(([weight]) => weight > 0).sort((a, b) => b[0] - a[0]).slice(0, 3);
      const weights = best.map(([weight, other]) => `${tokens[1 - side][other]} ${weight.toFixed(2)}`).join(", ");
      return weights === "" ? text : word(side === 0 ? "looksAt" : "lookedAtBy", { token: text, weights });
    };
    const token = (text, place, side) => {
      const share = asked.side === 1 - side ? shares[place] : null;
      const said = [cut(text, "name", room - (share === null ? 6 : 44)), share?.toFixed(2) ?? ""];
      const look = { class: asked.side === side && asked.place === place ? "token asked" : "token", "text-anchor": side === 0 ? "end" : "start", x: side === 0 ? room - 6 : room + wide + 6, y: row * (place + 0.5) + 4.5 };
      const made = svgElement("text", { ...look, tabindex: "0", role: "img", "aria-label": label(text, place, side), "data-key": `token ${side} ${place}`, "data-weight": share }, svgElement("title", {}, text), (side === 0 ? said.reverse() : said).filter(Boolean).join(" "));
      for (const kind of ["pointerenter", "focus"]) made.addEventListener(kind, () => ask({ side, place }));
      return made;
    };
    const drawing = svgElement("svg", { class: "ribbons", viewBox: `0 0 ${2 * room + wide} ${row * Math.max(...tokens.map((texts) => texts.length))}` });
    const lines = svgElement("g", { transform: `translate(${room} 0)` });
    for (const one of shown) lines.append(ribbon(one, heads.length, largest, asked.side === null ? 0.8 : 1));
    drawing.append(lines, ...tokens.flatMap((texts, side) => texts.map((text, i) => token(text, i, side))));
    drawing.addEventListener("pointerleave", () => ask({ side: null, place: null }));
    return drawing;
  }

  return { view };
})();
