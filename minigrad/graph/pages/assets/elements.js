// Helpers that make parts of the page. Text never becomes HTML.

const find = (id) => document.getElementById(id);
const word = (name, values) => words.text(name, values);

// element("p", {class: "note"}, "text", child ...). Attributes that are false or null, and null children, are left out.
const makerIn = (namespace) => (tag, attributes = {}, ...children) => {
  const made = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.addEventListener("click", value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, value);
  }
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

// Write a text only if it has changed, because each write costs a layout.
function setText(part, text) {
  if (part.textContent !== text) part.textContent = text;
}

function setAttributes(part, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) part.removeAttribute(name);
    else if (part.getAttribute(name) !== String(value)) part.setAttribute(name, value);
  }
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
