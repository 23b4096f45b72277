// Writes the words of a page in the reader's language. data-word sets an element's text, and data-label its accessible name.

const pageContents = pageData(); // read once, because it is slow for a large graph

const words = {
  all: pageContents.words,
  language: pageContents.language,

  text(name, values = {}) {
    return this.all[this.language][name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
  },

  // Write the words of a language, then call again() for the words that depend on the page's state.
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

  // Let the select with id "language" choose the language.
  listen(again) {
    const select = document.getElementById("language");
    select.value = this.language;
    select.addEventListener("change", () => this.use(select.value, again));
    this.use(this.language, again);
  },
};
