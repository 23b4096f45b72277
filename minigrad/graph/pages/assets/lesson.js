// Shows a lesson: its texts above the panes, the steps where it stops, and its questions.

const lesson = {
  chosen: new Map(), // step -> the last choice
  data: original.lesson, // or null

  // Return the lesson's entry for exactly this step, or null.
  at(step) {
    return this.data?.steps.find((one) => one.at === step) ?? null;
  },

  // Return the question of a kind whose answer is this step, or null.
  question(kind, step) {
    const found = this.at(step)?.question;
    return found?.kind === kind ? found : null;
  },

  // Return the steps where playing stops. For a question about the next edge, that is the step before.
  places() {
    const places = (this.data?.steps ?? []).filter(({ stop, question }) => stop || question !== null).map(({ at, question }) => (question?.kind === "edge" ? at - 1 : at));
    return [...new Set(places)].sort((a, b) => a - b);
  },

  // Return whether the lesson has questions. Then other parts of the page hide the answers.
  get asks() {
    return this.data?.steps.some(({ question }) => question !== null) ?? false;
  },

  // Return the text for this step: that of the last step with a text. Steps whose value the reader has not yet answered are left out.
  text(step) {
    const last = this.data.steps.findLast((one) => one.at <= step && one.text !== null && !quiz.hides(one.at));
    return { text: last?.text ?? this.data.intro, now: last?.at === step };
  },

  choose(step, i) {
    const { choices } = this.at(step).question;
    this.chosen.set(step, i);
    quiz.count("choice", step, choices[i].right);
    render();
  },

  choices(step) {
    const found = this.question("choice", step);
    if (found === null) return [];
    const local = (text) => text?.[words.language] ?? "";
    const chosen = this.chosen.get(step);
    const buttons = found.choices.map((choice, i) => {
      const mark = chosen === i ? (choice.right ? "✓ " : "✗ ") : "";
      const made = button(`choice${i}`, mark + local(choice.text), () => this.choose(step, i));
      made.setAttribute("aria-pressed", chosen === i);
      return made;
    });
    const parts = [element("p", { class: "question" }, ...setCode(local(found.text))), element("div", { class: "row" }, ...buttons)];
    if (chosen !== undefined) {
      const { right, feedback } = found.choices[chosen];
      parts.push(verdict({ right, text: local(feedback) || word(right ? "choiceRight" : "choiceWrong") }));
    }
    return parts;
  },

  controls() {
    const stops = this.places();
    if (stops.length === 0) return null;
    const [before, after] = [stops.findLast((stop) => stop < state.step), stops.find((stop) => stop > state.step)];
    const back = button("stop-back", word("stopBack"), () => go(before));
    const next = button("stop-next", word("stopNext"), () => go(after));
    back.disabled = before === undefined;
    next.disabled = after === undefined;
    const reached = stops.filter((stop) => stop <= state.step).length;
    return element("div", { class: "row" }, back, next, element("span", { class: "note" }, word("stopCount", { reached, count: stops.length })));
  },

  section() {
    if (this.data === null) return [];
    const { text, now } = this.text(state.step);
    const head = element("div", { class: "head" }, element("h2", {}, this.data.title[words.language]), this.controls());
    const paragraphs = (text?.[words.language] ?? "").split(/\n\s*\n/).filter((one) => one.trim() !== "");
    const className = now || state.step === 0 ? "said" : "said earlier";
    const said = element("div", { class: className }, ...paragraphs.map((one) => element("p", {}, ...setCode(one))));
    const asked = this.choices(state.step);
    return [head, said, asked.length > 0 ? element("div", { class: "asked" }, ...asked) : null];
  },
};

// Text between backquotes is code.
function setCode(text) {
  return text.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));
}
