// Helpers that make parts of the page. Text never becomes HTML.

const find = (id) => document.getElementById(id);
const word = (name, values) => words.text(name, values);

// Return what a map holds under a key. It is made if it is not there.
function keptIn(map, key, make) {
  if (!map.has(key)) map.set(key, make());
  return map.get(key);
}

// element("p", {class: "note"}, "text", child ...). Attributes that are false or null, and null children, are left out.
const makerIn = (namespace) => (tag, attributes = {}, ...children) => {
  const made = document.createElementNS(namespace, tag);
  const { onclick, ...others } = attributes;
  if (onclick) made.addEventListener("click", onclick);
  setAttributes(made, others);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};
const element = makerIn(document.documentElement.namespaceURI); // HTML
const svgElement = makerIn("http://www.w3.org/2000/svg");
const mathElement = makerIn("http://www.w3.org/1998/Math/MathML");

// Return a button that keeps the focus when the panel is written again. Its key identifies it.
function button(key, text, onclick, attributes = {}) {
  return element("button", { type: "button", "data-key": key, onclick, ...attributes }, text);
}

function term(name, ...content) {
  return [element("dt", {}, name), element("dd", {}, ...content)];
}

const wordsOf = (name) => name.split(/(?<=[._\s\[,])|(?<=\()(?!\d)/);

// Return a name in parts between which a line can be broken.
const breakable = (name) => wordsOf(name).flatMap((part) => [part, element("wbr")]);

// Write a text only if it has changed, because each write costs a layout.
function setText(part, text) {
  if (part.textContent !== text) part.textContent = text;
}

function setAttributes(part, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) part.removeAttribute(name);
    else if (part.getAttribute(name) !== String(value)) part.setAttribute(name, value === true ? "" : value);
  }
}

// The width of a text in a drawing, 13 px high. A canvas measures it, so the browser need not lay out the page for it.
const widthOf = (() => {
  const WEIGHTS = { operation: "italic 400", value: "400", flag: "900", name: "700" };
  const context = document.createElement("canvas").getContext("2d");
  const known = new Map();
  let family = null; // asking for it again would make the browser compute all styles
  return (text, kind) => {
    if (known.size > 20000) known.clear();
    return keptIn(known, `${kind} ${text}`, () => {
      context.font = `${WEIGHTS[kind] ?? "600"} 13px ${(family ??= getComputedStyle(document.body).fontFamily)}`;
      return context.measureText(text).width;
    });
  };
})();

// Return a text that fits, or its beginning with an ellipsis, and the round of its loops if at least half of the room is left.
function cut(text, kind, room) {
  if (widthOf(text, kind) <= room) return text;
  const at = text.lastIndexOf(" · ");
  const place = at > 0 && widthOf(text.slice(at), kind) < room / 2 ? text.slice(at) : "";
  const letters = [...text.slice(0, text.length - place.length)];
  while (letters.pop() !== undefined) if (widthOf(`${letters.join("")}…${place}`, kind) <= room) break;
  return letters.length === 0 ? "" : `${letters.join("").trimEnd()}…${place}`;
}

// Write a section again. The focus stays on the part with the same data-key.
function refill(section, parts) {
  const inside = section.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  section.replaceChildren(...parts.filter((part) => part !== null));
  section.hidden = section.childElementCount === 0;
  if (inside === undefined) return;
  const again = section.querySelector(`[data-key="${CSS.escape(inside)}"]`) ?? find("next");
  again?.focus({ preventScroll: true });
}
