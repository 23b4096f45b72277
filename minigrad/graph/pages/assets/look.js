// Changes the look of the page: projector mode, and the light or the dark theme.

// Show the lesson in large type: the formula, the line at work, the graph, and a card with text and question. Or go back to the page.
function toggleProjector() {
  const isOn = document.body.classList.toggle("projector");
  const [said, asked] = [find("lesson-section"), find("quiz-section")];
  if (isOn) find("card").append(said, asked);
  else [document.querySelector("main").before(said), find("panel").prepend(asked)];
  Object.assign(camera, { TEXT: isOn && innerWidth > 900 ? 24 : 12, wanted: null }); // on a phone, projector mode is for one reader
  find("projector").setAttribute("aria-pressed", isOn);
  view.measure();
  render(true);
}

// Fit the formula into its place. If it is too large, or a name in it is broken, or it takes a quarter of a projector's or a phone's screen,
// it is written with fewer letters and numbers. If it is then still too large, or that tall on a phone, the numbers of its operands go, too.
function fitFormula() {
  const formula = find("title-section").querySelector(".equation");
  const fits = fitted(formula);
  const again = (sides = Infinity) => {
    formula.replaceChildren(...equation.math(state.step, true));
    [...formula.querySelectorAll("math:not(.answer, .element)")].slice(sides).forEach((part) => part.remove());
    return fitted(formula);
  };
  const isPhone = innerWidth <= 800;
  const isTall = () => (isPhone || document.body.classList.contains("projector")) && formula.clientHeight > innerHeight * 0.25;
  const isBroken = [...formula.querySelectorAll(".label-in-math span")].some((name) => name.getBoundingClientRect().height > 1.9 * parseFloat(getComputedStyle(name).fontSize));
  if ((!fits || isTall() || isBroken) && timeline.at(state.step) !== null && (!again() || (isPhone && isTall()))) again(2);
}

// Make the formula as large as its place allows in projector mode, and never under 24 px. A side that is too wide, there or on a phone,
// is broken before its operators; what is still too wide shrinks. Return whether all of it is seen.
function fitted(formula) {
  const section = find("title-section");
  const wide = () => [...formula.querySelectorAll("math")].filter((part) => part.scrollWidth > part.clientWidth + 1 || part.getBoundingClientRect().right > formula.getBoundingClientRect().right + 1);
  const fits = () => section.scrollHeight <= section.clientHeight && section.clientHeight <= innerHeight * 0.3 && wide().length === 0;
  const isAlone = () => formula.querySelector("math.answer:not(:has(.matrix, .map))")?.getBoundingClientRect().left < formula.getBoundingClientRect().left + 2; // the answer, in a line of its own
  const shrink = (least) => {
    let size = state.step === timeline.count ? 28 : 48; // at the end the graph is more important
    do formula.style.fontSize = `${size}px`;
    while ((!fits() || (size > 32 && isAlone())) && (size -= 4) >= least);
    return size >= least;
  };
  if (document.body.classList.contains("projector")) {
    const worked = formula.querySelector(".element > mrow");
    if (!shrink(32)) [...(worked?.children ?? [])].slice(1, -2).forEach((part) => part.remove()); // the lit arrays say it, too; the number stays
    if (formula.querySelector(".answer > .matrix") !== null && worked?.children.length === 3 || !shrink(28)) worked?.parentNode.remove(); // a matrix shows the number
    shrink(24);
  } else if (innerWidth > 800) return wide().length === 0;
  for (const part of wide()) part.replaceWith(...brokenMath(part));
  for (const part of innerWidth > 900 ? [] : wide()) {
    part.classList.add("shrunk");
    const least = 14 / parseFloat(getComputedStyle(part).fontSize); // then no letter is under 12 px
    let size = 1; // spaces do not shrink with the letters in every font, so one step may not be enough
    while (size > least && part.scrollWidth > part.clientWidth + 1) {
      size = Math.max(least, (size * (part.clientWidth - 2)) / part.scrollWidth);
      part.style.fontSize = `${size}em`;
    }
  }
  return wide().length === 0 && section.scrollHeight <= section.clientHeight + 1;
}

// Return a formula in parts, each of which begins with an operator, an array or a word. A line can be broken between them.
function brokenMath(math) {
  const wordsOf = (text) => (words.language === "ja" && !/[a-z]/.test(text) ? [...new Intl.Segmenter("ja", { granularity: "word" }).segment(text)].map(({ segment }) => segment) : text.split(/(?<=\s)/));
  const flat = (part) => {
    if (part.localName === "mrow") return [...part.children].flatMap(flat);
    const pieces = part.matches("mtext:not(.label-in-math)") ? wordsOf(part.textContent) : [];
    return pieces.length < 2 ? [part] : pieces.map((text) => mathElement("mtext", {}, text.replace(/\s/, "\u00a0")));
  };
  const atoms = [...math.children].flatMap(flat);
  const parts = [[]];
  atoms.forEach((atom, i) => {
    const text = atom.textContent;
    const operator = atom.localName === "mo" && !"(),|".includes(text) && !"(".includes(atoms[i - 1]?.textContent ?? "(");
    const held = atoms[i - 1]?.localName === "mo" && !"),|".includes(atoms[i - 1].textContent); // an operator does not end a line
    if (!held && i > 0 && (operator || ["mtext", "msub", "mtable"].includes(atom.localName))) parts.push([]);
    if (operator) atom.setAttribute("form", "infix");
    parts.at(-1).push(atom);
  });
  return parts.map((part) => mathElement("math", { displaystyle: "true", class: `broken ${math.getAttribute("class") ?? ""}` }, ...part));
}

const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function renderTheme() {
  setText(find("theme"), isDark() ? `☀ ${word("light")}` : `☾ ${word("dark")}`);
}
