/* How Sphinx's search orders what it finds, instead of the scorer of its searchtools.js. Lessons and pages for readers come
   before the reference, and pages for teachers after it. A page of the other language comes last. */
var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    const query = new URLSearchParams(window.location.search).get("q") || "";
    const japanese = (text) => /[\u3040-\u30ff\u4e00-\u9fff]/.test(text);
    const page = docname.replace(/(^|\/)ja\//, "$1");
    const first = [
      [/^(start|tutorial)$|^course\/\d/, 8],
      [/^(teaching|teaching-lessons|glossary)$|^design\//, -8],
      [/^gallery\//, -4],
    ].find(([pages]) => pages.test(page));
    const other = page !== "glossary" && /(^|\/)ja\//.test(docname) !== japanese(query); // the glossary has both
    return score + (first ? first[1] : 0) - (other ? 100 : 0);
  },
  // As in searchtools.js:
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
