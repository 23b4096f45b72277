// Small tools for making parts of the page. Text never becomes HTML.

const find = (id) => document.getElementById(id);
const word = (name, values) => words.text(name, values);

// element("p", {class: "note"}, "text", child ...); a child that is null is left out.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.addEventListener("click", value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// A button that keeps the focus when the panel is written again: its key says which one it is.
function button(key, text, onclick, attributes = {}) {
  return element("button", { type: "button", "data-key": key, onclick, ...attributes }, text);
}

function term(name, ...content) {
  return [element("dt", {}, name), element("dd", {}, ...content)];
}

function svgElement(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function mathElement(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/1998/Math/MathML", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Write only what is new: rewriting a text costs a layout.
function setText(part, text) {
  if (part.textContent !== text) part.textContent = text;
}

function setAttributes(part, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) part.removeAttribute(name);
    else if (part.getAttribute(name) !== String(value)) part.setAttribute(name, value);
  }
}
