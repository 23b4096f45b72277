// Shows the run as a NumPy program, in a pane that the reader can show in place of the user's program. Each line stores the steps
// that it runs, and each step its lines.

const written = (() => {
  const data = original.written ?? null; // null without the package codegen
  const rows = []; // {row, steps}
  const linesOf = new Map(); // step -> numbers of lines

  function build(host) {
    find("code-tabs").hidden = data === null;
    if (data?.lines) data.lines.forEach(addLine);
    host.append(element("section", { class: "file" }, element("p", { class: "note" }), element("div", { class: "lines" }, ...rows.map(({ row }) => row))));
    host.addEventListener("click", (event) => {
      const line = event.target.closest("[data-line]")?.dataset.line;
      if (line !== undefined && getSelection().isCollapsed) go(rows[line].steps[0]);
    });
    find("tab-code").addEventListener("click", () => choose(false));
    find("tab-written").addEventListener("click", () => choose(true));
    choose(data !== null && code.isEmpty);
  }

  function addLine(text, i) {
    const steps = data.steps[i];
    const row = element("div", { class: "line", "data-line": steps.length > 0 ? i : null }, element("span", { class: "number", "aria-hidden": "true" }, String(i + 1)), element("code", {}, ...code.pieces(text.trim() || "\u200b")));
    row.style.setProperty("--indent", text.length - text.trimStart().length);
    rows.push({ row, steps });
    for (const step of steps) linesOf.set(step, [...(linesOf.get(step) ?? []), i]);
  }

  function choose(on) {
    find("written-pane").hidden = !on;
    find("code-pane").hidden = on;
    find("tab-written").setAttribute("aria-pressed", on);
    find("tab-code").setAttribute("aria-pressed", !on);
    code.bringIntoSight(find(on ? "written-pane" : "code-pane"));
  }

  // Mark the lines of a step. A step without its own line marks the line that shows its value.
  function update(step) {
    const own = linesOf.get(step);
    find("written-pane").classList.toggle("borrowed", own === undefined);
    code.show(find("written-pane"), (own ?? [data?.elsewhere?.[step]]).flatMap((line) => rows[line]?.row ?? []));
  }

  // Write the words again in the reader's language.
  function renderWords() {
    if (data === null) return;
    const arrays = data.constants?.length > 0 ? ` ${word("writtenConstants", { names: data.constants.join(", ") })}` : "";
    setText(find("written-pane").querySelector(".note"), data.reason ? word(data.reason === "tooLarge" ? "writtenTooLarge" : "writtenRefused", data) : word("writtenAbout") + arrays);
  }

  return { build, update, renderWords, isEmpty: data === null };
})();
