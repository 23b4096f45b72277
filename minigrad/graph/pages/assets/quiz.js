// The quiz: what the rule gives is hidden until the reader has typed it. The hint is the formula.

const quiz = {
  on: false,
  hinted: false,
  said: null, // {right: boolean or null, text}
  answered: new Set(), // steps

  // Whether what this step gives is hidden.
  hides(step) {
    return this.on && step === state.step && this.asked(step) !== null && !this.answered.has(step);
  },

  // The number asked for: {value, index}, the largest of an array; null if the step is no question.
  asked(step) {
    if (step === 0 || backward.steps[step - 1].kind !== "product") return null;
    const { raw } = graph.edges[backward.steps[step - 1].edge];
    if (raw.values === undefined || raw.values.length === 0) return null;
    const numbers = raw.values.map(Number);
    const sizes = numbers.map(Math.abs);
    const flat = Math.max(sizes.indexOf(Math.max(...sizes)), 0);
    return Number.isFinite(numbers[flat]) ? { value: numbers[flat], index: indexOf(flat, raw.shape) } : null;
  },

  check(text) {
    const { value } = this.asked(state.step);
    const typed = Number(text.trim().replace(",", "."));
    if (text.trim() === "" || Number.isNaN(typed)) {
      this.said = { right: null, text: word("notNumber") };
    } else if (Math.abs(typed - value) <= Math.max(0.01 * Math.abs(value), 1e-12)) {
      this.answered.add(state.step);
      this.said = { right: true, text: word("right", { value: numberText(value, state.digits) }) };
    } else {
      this.said = { right: false, text: word("wrong", { value: text.trim() }) };
    }
    render();
  },

  begin() {
    this.hinted = false;
    this.said = null;
  },

  section() {
    if (!this.on || state.step === 0) return [];
    const asked = this.asked(state.step);
    if (asked === null) {
      const product = backward.steps[state.step - 1].kind === "product";
      return product ? [element("p", { class: "note" }, word("noQuestion"))] : [];
    }
    const { raw, argument } = graph.edges[backward.steps[state.step - 1].edge];
    const which = raw.shape.length === 0 ? "" : ` ${asked.index}`;
    const parts = [element("p", {}, word("question", { argument, element: which }))];
    if (this.hides(state.step)) {
      const input = element("input", { id: "answer", "data-key": "answer", "aria-label": word("answer"), inputmode: "decimal", autocomplete: "off" });
      input.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault(); // or it would press the button that has the focus by then
        this.check(input.value);
      });
      const hint = () => {
        this.hinted = true;
        render();
      };
      const reveal = () => {
        this.answered.add(state.step);
        this.said = null;
        render();
      };
      parts.push(input, " ", button("check", word("check"), () => this.check(input.value)), " ");
      parts.push(button("hint", word("hint"), hint), " ", button("reveal", word("reveal"), reveal));
    }
    if (this.said) {
      const className = this.said.right === null ? "note" : this.said.right ? "right" : "wrong";
      parts.push(element("p", { id: "verdict", class: className, role: "status" }, this.said.text));
    }
    return parts;
  },
};
