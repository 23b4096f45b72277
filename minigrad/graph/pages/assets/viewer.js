// The drawing of a graph. It scrolls and zooms, and the page describes the chosen node.

const graph = pageData();
const svg = document.querySelector("#graph svg");
let scale = null; // the drawing's scale; null fits the page's width, up to the original size
let chosen = null; // the number of a node
let matches = []; // the numbers of the nodes that the reader searches for

const PIXELS = 4 / 3; // pixels per point
const FACTOR = 1.25;
const drawn = svg ? svg.viewBox.baseVal.width * PIXELS : 1;

function fitting() {
  const style = getComputedStyle(find("graph"));
  const room = find("graph").clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  return Math.min(1, room / drawn);
}

function resize(next) {
  if (!svg) return;
  const box = find("graph");
  const middle = (box.scrollLeft + box.clientWidth / 2) / box.scrollWidth;
  const height = (box.scrollTop + box.clientHeight / 2) / box.scrollHeight;
  scale = next === null ? null : Math.min(8, Math.max(0.02, next));
  svg.style.width = `${drawn * (scale ?? fitting())}px`;
  svg.style.height = "auto";
  box.scrollLeft = middle * box.scrollWidth - box.clientWidth / 2; // the middle stays in the middle
  box.scrollTop = height * box.scrollHeight - box.clientHeight / 2;
}

// Return a word with its values: ["below", "0.1"]
const say = ([name, a, b]) => word(name, { a, b });

function show() {
  find("title").textContent = graph.title;
  document.title = graph.title;
  const kind = ([name, background, borderColor]) => coloured("span", word(name), { background, borderColor });
  find("kinds").replaceChildren(...graph.kinds.map(kind));
  const sample = ([text, background]) => coloured(background ? "i" : "span", say(text), { background });
  find("legend").replaceChildren(...graph.legend.flat().map(sample));
  search(find("search").value);
  const help = [element("p", { class: "note" }, word(svg ? "how" : "undrawn"))];
  find("panel").replaceChildren(...(chosen === null ? help : about(graph.nodes[chosen])));
}

function coloured(tag, text, style) {
  const made = element(tag, {}, text);
  Object.assign(made.style, style);
  return made;
}

function about({ title, facts }) {
  const isCode = (name) => name === "source" || name === "call";
  const rows = facts.flatMap(([name, value]) => [
    element("dt", {}, word(name)),
    element("dd", { class: isCode(name) ? "code" : null }, Array.isArray(value) ? say(value) : value),
  ]);
  return [element("h2", {}, title), element("dl", {}, ...rows)];
}

function choose(number) {
  document.querySelector(".selected")?.classList.remove("selected");
  chosen = number;
  if (number !== null) find(`node${number}`).classList.add("selected");
  show();
}

// Mark the nodes whose name or operation contains a text.
function search(text) {
  const wanted = text.trim().toLowerCase();
  matches = graph.nodes.flatMap((node, i) => (wanted && node.search.toLowerCase().includes(wanted) ? [i] : []));
  graph.nodes.forEach((_, i) => find(`node${i}`)?.classList.toggle("found", matches.includes(i)));
  find("found").textContent = wanted ? word("found", { a: matches.length }) : "";
}

function nextMatch() {
  if (!svg || matches.length === 0) return;
  const next = matches.find((number) => chosen !== null && number > chosen) ?? matches[0];
  choose(next);
  find(`node${next}`).scrollIntoView({ block: "center", inline: "center" });
}

for (const node of document.querySelectorAll("#graph .node")) {
  const number = Number(node.id.slice("node".length));
  setAttributes(node, { tabindex: "0", role: "button", "aria-label": graph.nodes[number].title });
  node.addEventListener("click", () => choose(number));
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(number);
  });
}

find("larger").addEventListener("click", () => resize((scale ?? fitting()) * FACTOR));
find("smaller").addEventListener("click", () => resize((scale ?? fitting()) / FACTOR));
find("whole").addEventListener("click", () => resize(null));
find("search").addEventListener("input", () => search(find("search").value));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
  if (event.target === find("search")) {
    if (event.key === "Enter") nextMatch();
    return;
  }
  if (event.key === "+" || event.key === "=") find("larger").click();
  else if (event.key === "-") find("smaller").click();
  else if (event.key === "0") find("whole").click();
  else if (event.key === "Escape") choose(null);
  else if (event.key === "/") {
    event.preventDefault();
    find("search").focus();
  }
});
window.addEventListener("resize", () => resize(scale));
resize(null);
words.listen(show);
