// Draws attention as ribbons from words to words: the width is the weight. The heads have colours, and lie side by side.

// Return the ribbons of weights, [query, key, weight, head], between two columns of words. `heads` is their number; the ribbons of one
// head have one colour. `pale` is their opacity.
function ribbonsOf(weights, { wide, row, largest, heads, pale = 1 }) {
  const most = (0.85 * row) / heads;
  return [...weights].sort((a, b) => b[2] - a[2]).map(([i, j, weight, head]) => {
    const [y1, y2] = [i, j].map((place) => (row * (place + 0.5) + (head - (heads - 1) / 2) * most).toFixed(1));
    const share = Math.min(1, weight / largest);
    const look = { class: heads === 1 ? "ribbon" : `ribbon k${head % 6}`, "stroke-width": Math.max(0.7, share * most).toFixed(2), "stroke-opacity": (pale * (0.2 + 0.75 * share)).toFixed(3) };
    return svgElement("path", { d: `M0 ${y1}C${wide / 2} ${y1} ${wide / 2} ${y2} ${wide} ${y2}`, ...look });
  });
}
