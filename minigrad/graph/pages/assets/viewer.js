// The drawing of a graph: it scrolls, grows and shrinks, and tells about a node when it is chosen.

const graph = pageData();
const svg = document.querySelector("#graph svg");
const find = (id) => document.getElementById(id);
let scale = null; // of the drawing; null: as wide as the page, but no wider than it was drawn
let chosen = null; // the number of a node

const PIXELS = 4 / 3; // of a point
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
  box.scrollLeft = middle * box.scrollWidth - box.clientWidth / 2; // what was in the middle stays there
  box.scrollTop = height * box.scrollHeight - box.clientHeight / 2;
}

function add(parent, tag, text, name = "") {
  const element = parent.appendChild(document.createElement(tag));
  element.textContent = text;
  element.className = name;
  return element;
}

// A word with what it is about: ["below", "0.1"]
function say([name, ...values]) {
  return words.text(name, { a: values[0], b: values[1] });
}

function show() {
  find("title").textContent = graph.title;
  document.title = graph.title;
  find("kinds").replaceChildren();
  for (const [kind, fill, outline] of graph.kinds) {
    const element = add(find("kinds"), "span", words.text(kind));
    element.style.background = fill;
    element.style.borderColor = outline;
  }
  find("legend").replaceChildren();
  for (const row of graph.legend) {
    for (const [text, color] of row) add(find("legend"), color ? "i" : "span", say(text)).style.background = color ?? "none";
  }
  const panel = find("panel");
  panel.replaceChildren();
  if (chosen === null) {
    add(panel, "p", words.text(svg ? "how" : "undrawn"), "note");
    return;
  }
  const node = graph.nodes[chosen];
  add(panel, "h2", node.title);
  const list = add(panel, "dl", "");
  for (const [name, value] of node.facts) {
    add(list, "dt", words.text(name));
    add(list, "dd", Array.isArray(value) ? say(value) : value, name === "source" || name === "call" ? "code" : "");
  }
}

function choose(number) {
  document.querySelector(".selected")?.classList.remove("selected");
  chosen = number;
  if (number !== null) find(`node${number}`).classList.add("selected");
  show();
}

for (const element of document.querySelectorAll("#graph .node")) {
  const number = Number(element.id.slice("node".length));
  element.setAttribute("tabindex", "0");
  element.setAttribute("role", "button");
  element.setAttribute("aria-label", graph.nodes[number].title);
  element.addEventListener("click", () => choose(number));
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(number);
  });
}

find("larger").addEventListener("click", () => resize((scale ?? fitting()) * FACTOR));
find("smaller").addEventListener("click", () => resize((scale ?? fitting()) / FACTOR));
find("whole").addEventListener("click", () => resize(null));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
  if (event.key === "+" || event.key === "=") find("larger").click();
  else if (event.key === "-") find("smaller").click();
  else if (event.key === "0") find("whole").click();
  else if (event.key === "Escape") choose(null);
});
window.addEventListener("resize", () => resize(scale));
resize(null);
words.listen(show);
