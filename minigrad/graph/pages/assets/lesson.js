// Shows a lesson: its texts above the panes, the steps where it stops, and its questions.

const lesson = {
  chosen: new Map(), // step -> the last choice
  data: original.lesson, // or null

  // Return the question of a kind whose answer is this step, or null.
  question(kind, step) {
    return this.data?.steps.find(({ at, question }) => at === step && question?.kind === kind)?.question ?? null;
  },

  // Return the steps where playing stops. For a question about the next edge, that is the step before.
  places() {
    const places = (this.data?.steps ?? []).filter(({ stop, question }) => stop || question !== null).map(({ at, question }) => (question?.kind === "edge" ? at - 1 : at));
    return [...new Set(places)].sort((a, b) => a - b);
  },

  // Return whether a question of the lesson is open. Then other parts of the page hide the answers.
  get asks() {
    return this.data?.steps.some(({ question, at }) => question !== null && !quiz.results.get(`${question.kind} ${at}`)?.done) ?? false;
  },

  // Return the text for this step: its own, or between two stops that of the last one. A text that answers a question waits for it.
  text(step) {
    const waits = ({ at }) => quiz.puts("value", at) || quiz.puts("choice", at);
    const last = this.data.steps.findLast(({ at }) => at <= step);
    if (last === undefined) return { text: this.data.intro, now: step === 0 };
    return { text: waits(last) ? null : last.text, now: last.at === step };
  },

  choose(step, i) {
    const { choices } = this.question("choice", step);
    this.chosen.set(step, i);
    quiz.count("choice", step, choices[i].right);
    render();
  },

  choices(step) {
    const found = this.question("choice", step);
    if (found === null) return [];
    const local = (text) => text?.[words.language] ?? "";
    const chosen = this.chosen.get(step);
    const done = quiz.results.get(`choice ${step}`)?.done;
    const reveal = () => {
      this.chosen.set(step, found.choices.findIndex(({ right }) => right));
      quiz.reveal("choice");
    };
    const buttons = found.choices.map((choice, i) => {
      const mark = chosen === i ? (choice.right ? "✓ " : "✗ ") : "";
      return button(`choice${i}`, mark + local(choice.text), () => this.choose(step, i), { "aria-pressed": String(chosen === i) });
    });
    const parts = [element("p", { class: "question" }, ...setCode(local(found.text))), element("div", { class: "row choices" }, ...buttons, done ? null : button("reveal-choice", word("reveal"), reveal))];
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
    const back = button("stop-back", word("stopBack"), () => go(before), { disabled: before === undefined });
    const next = button("stop-next", word("stopNext"), () => go(after), { disabled: after === undefined });
    const reached = stops.filter((stop) => stop <= state.step).length;
    return element("div", { class: "row" }, back, next, element("span", { class: "note" }, word("stopCount", { reached, count: stops.length })));
  },

  section() {
    if (this.data === null) return [];
    const { text, now } = this.text(state.step);
    const head = element("div", { class: "head" }, element("h2", {}, this.data.title[words.language]), this.controls());
    const paragraphs = (text?.[words.language] ?? "").split(/\n\s*\n/).filter((one) => one.trim() !== "");
    const said = element("div", { class: now ? "said" : "said earlier" }, ...paragraphs.map((one) => element("p", {}, ...setCode(one))));
    const asked = this.choices(state.step);
    return [head, said, asked.length > 0 ? element("div", { class: "asked" }, ...asked) : null];
  },
};

// Text between backquotes is code.
function setCode(text) {
  return text.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));
}
