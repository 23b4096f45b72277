// Turns the slides; on each one what comes later appears first. The pages on the slides are shown in projector mode.
const slides = [...document.querySelectorAll("section")];
const step = {ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1};
const end = {Home: 0, End: slides.length - 1};
const at = () => Math.round(scrollY / innerHeight);
function go(by) {
  const hidden = slides[at()].querySelector(".later, .asked");
  if (by > 0 && hidden) hidden.classList.remove("later", "asked");
  else slides[Math.max(0, Math.min(slides.length - 1, at() + by))].scrollIntoView();
}
function turn(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in step || event.key in end)) return;
  event.preventDefault();
  if (event.key in end) slides[end[event.key]].scrollIntoView();
  else go(event.shiftKey && event.key === " " ? -1 : step[event.key]);
}
// A slide that is a little too full gets smaller letters, as the page is laid out by an estimate: a tenth at most.
function fit() {
  for (const slide of slides) {
    const on = slide.querySelector(".on");
    slide.style.cssText = "";
    const unit = Math.min(innerHeight / 100, innerWidth * .005625);
    for (let part = .98; part > .9 && on.scrollHeight > on.clientHeight; part -= .02)
      slide.style.cssText = `--u: ${part * unit}px; font-size: ${4.7 * part * unit}px`;
  }
}
fit();
addEventListener("load", fit);
addEventListener("resize", fit);
addEventListener("keydown", turn);
for (const button of document.querySelectorAll("nav button")) button.onclick = () => go(Number(button.value));
for (const frame of document.querySelectorAll("iframe")) {
  frame.onload = () => {
    const page = frame.contentWindow;
    page.document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "p", bubbles: true}));
    page.addEventListener("keydown", (event) => event.key.startsWith("Page") && turn(event));
  };
  frame.srcdoc = frame.dataset.page;
}
