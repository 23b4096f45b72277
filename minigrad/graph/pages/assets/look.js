// Changes the look of the page: projector mode, and the light or the dark theme.

// Show the lesson in large type: the formula, the line at work, the graph, and a card with text and question. Or go back to the page.
function toggleProjector() {
  const isOn = document.body.classList.toggle("projector");
  const [said, asked] = [find("lesson-section"), find("quiz-section")];
  if (isOn) find("card").append(said, asked);
  else [document.querySelector("main").before(said), find("panel").prepend(asked)];
  Object.assign(camera, { TEXT: isOn ? 24 : 12, wanted: null });
  find("projector").setAttribute("aria-pressed", isOn);
  view.measure();
  render(true);
}

// In projector mode, make the formula as large as its place allows, and never under 24 px. Otherwise shrink a vector that is wider
// than a phone.
function fitFormula() {
  const section = find("title-section");
  const formula = section.querySelector(".equation");
  if (camera.TEXT === 12 && innerWidth > 800) return;
  if (camera.TEXT === 12) {
    for (const part of formula.querySelectorAll("math:has(.matrix)")) {
      let size = 1; // spaces do not shrink with the letters in every font, so one step may not be enough
      while (size > 0.62 && part.scrollWidth > part.clientWidth + 1) {
        size = Math.max(0.62, (size * (part.clientWidth - 2)) / part.scrollWidth);
        part.style.fontSize = `${size}em`;
      }
    }
    return;
  }
  for (let size = 48; size >= 24; size -= 4) {
    formula.style.fontSize = `${size}px`;
    const parts = [formula, ...formula.querySelectorAll("math")];
    if (section.scrollHeight <= section.clientHeight && parts.every((part) => part.scrollWidth <= part.clientWidth + 1) && section.clientHeight <= innerHeight * 0.3) return;
  }
}

const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function renderTheme() {
  setText(find("theme"), isDark() ? `☀ ${word("light")}` : `☾ ${word("dark")}`);
}
