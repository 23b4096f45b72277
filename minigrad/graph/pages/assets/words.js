// The words of a page in the reader's language. data-word: the text of an element, data-label: what it is called.

const words = {
  all: pageData().words,
  language: pageData().language,

  text(name, values = {}) {
    return this.all[this.language][name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
  },

  // Write the words of a language, then call again() for those that depend on the page's state.
  use(language, again) {
    this.language = language;
    document.documentElement.lang = language;
    document.title = this.text("title");
    for (const element of document.querySelectorAll("[data-word]")) element.textContent = this.text(element.dataset.word);
    for (const element of document.querySelectorAll("[data-label]")) {
      element.setAttribute("aria-label", this.text(element.dataset.label));
    }
    again();
  },

  // Let the select with id "language" choose.
  listen(again) {
    const select = document.getElementById("language");
    select.value = this.language;
    select.addEventListener("change", () => this.use(select.value, again));
    this.use(this.language, again);
  },
};
