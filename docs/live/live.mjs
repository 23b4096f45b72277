// The pages that run Python: lessons, exercises, the playground, a learner's score, a class's table.
import { editor } from "./editor.mjs";
import { ask, end, onStatus, python, settings } from "./python.mjs";
import * as store from "./store.mjs";
import { language, word } from "./words.mjs";

const SECONDS = 60;  // for a check; the learner's lines have a limit of their own in Python
let stopped = false, busy = false;

function make(tag, facts = {}, ...inside) {
  const { className, ...rest } = facts;
  const element = Object.assign(document.createElement(tag), rest);
  if (className) element.className = className;
  element.append(...inside);
  return element;
}

function button(key, action, main = false) {
  return make("button", { type: "button", className: main ? "live-main" : "", textContent: word(key), onclick: action });
}

// A bar of buttons with a line that says what happens; `work` locks it while Python runs, and offers Stop.
function bar(...buttons) {
  const status = make("span", { className: "live-status" });
  status.setAttribute("role", "status");
  const stop = button("stop", () => { stopped = true; end(); });
  stop.hidden = true;
  const element = make("div", { className: "live-bar" }, ...buttons, stop, status);
  const say = (text) => { status.textContent = text; };
  async function work(action, seconds = Infinity) {
    if (busy) return;
    busy = true;
    document.documentElement.dataset.live = "busy";
    stopped = false;
    let running = null, clock = null, late = null;
    for (const each of buttons) each.disabled = true;
    onStatus((text) => say(text));
    try {
      await action(() => {  // Python has the program now
        const start = performance.now();
        stop.hidden = false;
        running = () => say(word("running", { seconds: Math.round((performance.now() - start) / 1000) }));
        running();
        clock = setInterval(running, 1000);
        if (seconds < Infinity) late = setTimeout(() => { stopped = seconds; end(); }, 1000 * seconds);
      });
      if (running) say(stopped === false ? "" : stopped === true ? word("stopped") : word("late", { seconds: stopped }));
    } catch (error) {
      say(word("failed", { error: error.message }));
    } finally {
      clearInterval(clock);
      clearTimeout(late);
      stop.hidden = true;
      for (const each of buttons) each.disabled = false;
      busy = false;
      document.documentElement.dataset.live = "idle";
    }
  }
  return { element, say, work };
}

// What came of a program: its print-out, its pictures, its pages, what it wrote.
function results(parent) {
  const text = make("pre", { className: "live-text", tabIndex: 0 });
  const rest = make("div");
  const element = make("section", { className: "live-results", hidden: true }, text, rest);
  element.setAttribute("aria-label", word("result"));
  element.setAttribute("aria-live", "polite");
  parent.append(element);
  return {
    element,
    begin() { element.hidden = false; text.textContent = ""; rest.replaceChildren(); text.hidden = true; },
    print(more) { text.hidden = more === null; if (more === null) text.textContent = ""; else text.append(more); },  // null: it runs again
    text(all) { text.textContent = all; text.hidden = !all; element.hidden = false; },
    error(all) { rest.append(make("pre", { className: "live-error", textContent: all })); },
    picture([name, source]) { rest.append(make("img", { src: source, alt: name })); },
    page([name, html], step = null) { rest.append(frame(name, html, step)); },
    program([name, source]) { rest.append(make("pre", { className: "live-text", textContent: source })); },
    outcome(answer) {
      for (const page of answer.pages ?? []) this.page(page);
      for (const picture of answer.pictures ?? []) this.picture(picture);
      for (const program of answer.programs ?? []) this.program(program);
      if (answer.error) this.error(answer.error);
    },
  };
}

// A page that a program wrote, in a frame that may run its own scripts and nothing else: no network, no storage, no other page.
function frame(name, html, step) {
  const element = make("iframe", { className: "lesson-page", title: `${word("stepper")}: ${name}`, name: step ? `#step=${step}` : "" });
  element.setAttribute("sandbox", "allow-scripts");
  element.src = new URL(settings.viewer, document.baseURI).href;
  element.onload = () => { element.onload = null; element.contentWindow.postMessage(html, "*"); };
  return element;
}

// The block of code of the page becomes an editor; what was changed is kept under `key`.
function editable(block, key, run) {
  const code = block.querySelector(".highlight");
  const original = code.querySelector("pre").textContent.replace(/\n$/, "");
  const place = make("div", { className: "live-editor" });
  code.parentElement.replaceWith(place);
  const made = editor(place, store.get(key) ?? original, {
    label: word("editor"),
    run,
    changed: (text) => { if (text === original) store.remove(key); else store.set(key, text); },
  });
  return { ...made, original, place };
}

function restore(program) {
  if (program.text() !== program.original && confirm(word("asked"))) program.put(program.original);
}

// A lesson: a cell is run after those above it, as in a notebook.
function lesson(blocks) {
  let done = 0;
  const name = blocks[0].dataset.lesson;
  const cells = blocks.map((block, number) => {
    const program = editable(block, `lesson/${language}/${name}/${number}`, () => run(number));
    const tools = bar(button("run", () => run(number), true), button("restart", () => restore(program)));
    program.place.after(tools.element);
    const built = [...block.querySelectorAll(".live-built")];
    const shown = results(block);
    tools.element.after(shown.element);
    return { program, tools, shown, built, block };
  });
  async function run(number) {
    const asked = cells[number];
    await asked.tools.work(async (running) => {
      await python(cells.map((cell) => cell.program.text()), ["graphviz"]);
      running();
      if (number < done) done = number === 0 ? 0 : done;
      for (let each = Math.min(done, number); each <= number; each++) {
        const { shown, program, built, block } = cells[each];
        shown.begin();
        const answer = await ask({ do: "cell", lesson: name, number: each, code: program.text() }, shown.print);
        if (answer === null) { done = 0; return; }
        for (const old of built) old.hidden = true;
        shown.outcome(answer);
        block.dataset.ran = answer.error ? "error" : "yes";
        if (answer.error) { done = Math.min(done, each); return; }
        done = Math.max(done, each + 1);
      }
    });
  }
}

const learner = () => store.get("learner") || "my_course";
const toPython = (words) => ({ do: "learn", words, language, learner: learner(), files: store.files() });

// An exercise: the editor holds the file of the learner's folder, and the buttons are commands of `minigrad learn`.
function exercise(block) {
  const program = editable(block, `course/${block.dataset.file}`, () => command("check"));
  const check = button("check", () => command("check"), true);
  const tools = bar(check, button("run", run), button("hint", () => command("hint")), button("restart", () => restore(program)), ...folderButtons());
  const shown = results(block);
  program.place.after(tools.element);
  if (!store.kept()) tools.say(word("unsaved"));
  async function command(name) {
    const { task, file } = block.dataset;
    await tools.work(async (running) => {
      await python([program.text()]);
      running();
      if (name === "check") shown.begin();
      const asked = toPython([name, task]);
      asked.files[file] = program.text();
      const answer = await ask(asked, () => {});
      if (answer === null) return;
      if (answer.files) { store.setFiles(answer.files); if (program.text() === program.original) store.remove(`course/${file}`); }
      shown.text(answer.error ?? answer.printed);
      if (name === "check") {
        block.dataset.passed = answer.status === 0 ? "yes" : "no";
        mark(block, answer.status === 0);
        if (answer.page) shown.page([file, answer.page.html], answer.page.step);
      }
    }, SECONDS);
  }
  async function run() {  // the file as a program, for a learner who prints
    await tools.work(async (running) => {
      await python([program.text()]);
      running();
      shown.begin();
      const answer = await ask({ do: "program", code: program.text(), command: [] }, shown.print);
      if (answer !== null) shown.outcome(answer);
    });
  }
  const state = JSON.parse(store.get("course/learn.json") ?? "{}");
  if (state.passed?.includes(block.dataset.task)) mark(block, true);
}

function mark(block, passed) {
  block.querySelector(".live-mark")?.remove();
  const text = passed ? `✓ ${word("solved")}` : `✗ ${word("wrong")}`;
  block.querySelector(".live-bar").before(make("p", { className: `live-mark ${passed ? "live-passed" : "live-failed"}`, textContent: text }));
}

function folderButtons() {
  return [
    button("save", async () => {
      const answer = await ask({ do: "export", language, learner: learner(), files: store.files() }, () => {});
      if (!answer?.zip) return;
      store.setFiles(answer.files);
      store.save(`${learner()}.zip`, store.bytesOf(answer.zip), "application/zip");
    }),
    button("load", () => store.open(".zip", async (file) => {
      const bytes = new Uint8Array(await file.arrayBuffer());
      let text = "";
      for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
      const answer = await ask({ do: "import", zip: btoa(text) }, () => {});
      if (!answer?.files || !answer.files["learn.json"]) { alert(word("badFile", { name: file.name })); return; }
      store.setFiles(answer.files);
      location.reload();
    })),
  ];
}

// The playground: a program of the reader's own, and what minigrad says of it.
async function playground(block) {
  const program = editable(block, `playground/${language}`, () => run([]));
  const step = ["explain", "program.py", "--out", "explain.html", "--language", language];
  const write = ["write-numpy", "program.py:f", "--examples", "program.py:examples", "--out", "step.py"];
  const tools = bar(
    button("run", () => run([]), true), button("step", () => run(step)), button("write", () => run(write)),
    button("restart", () => restore(program)),
    button("share", async () => {
      const address = await store.toLink(program.text());
      history.replaceState(null, "", address);
      await navigator.clipboard?.writeText(address).catch(() => {});
      tools.say(word("shared"));
    }),
  );
  const shown = results(block);
  program.place.after(tools.element);
  const given = await store.fromLink();
  if (given !== null) { program.put(given); tools.say(word("fromLink")); }
  async function run(command) {
    await tools.work(async (running) => {
      await python([program.text()]);
      running();
      shown.begin();
      const answer = await ask({ do: "program", code: program.text(), command }, shown.print);
      if (answer !== null) shown.outcome(answer);
    });
  }
}

// The GPT of the learner's answers.
function capstone(block) {
  const shown = results(block);
  const tools = bar(button("train", () => tools.work(async (running) => {
    await python(["import matplotlib"]);
    running();
    shown.begin();
    const answer = await ask({ do: "capstone", language, learner: learner(), files: store.files(), words: [] }, shown.print);
    if (answer !== null) shown.outcome(answer);
  }), true));
  shown.element.before(tools.element);
}

// A learner's score, as JSON for the teacher.
function score(block) {
  const name = make("input", { value: store.get("learner") ?? "", placeholder: word("name"), autocomplete: "off", maxLength: 60 });
  name.setAttribute("aria-label", word("name"));
  const shown = results(block);
  const tools = bar(button("score", () => tools.work(async (running) => {
    const given = name.value.replace(/[/\\:*?"<>|\u0000-\u001f]/g, " ").trim().replace(/^\.+/, "");
    store.set("learner", given);
    await python();
    running();
    const answer = await ask(toPython(["score", "--json"]), () => {});
    if (answer === null) return;
    if (answer.files) store.setFiles(answer.files);
    shown.text(answer.error ?? answer.printed);
    if (answer.status === 0) store.save(`${learner()}.json`, `${answer.printed}\n`, "application/json");
  }), true), ...folderButtons());
  tools.element.prepend(name);
  shown.element.before(tools.element);
}

// A class: the score files of the learners, as one table.
const COLUMNS = ["learner", "seed", "task", "state", "right", "questions", "attempts", "hints"];

export function rowsOf(text) {
  const { learner: whose, seed, tasks } = JSON.parse(text);
  return Object.entries(tasks).map(([task, row]) => [whose, seed, task, row.wrong ?? "passed", row.right, row.questions, row.attempts, row.hints]);
}

// A cell that begins like a formula is text: a spreadsheet would run it.
const quoted = (cell) => {
  const text = /^[=+\-@\t\r]/.test(String(cell)) ? `'${cell}` : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
};

export const csv = (rows) => `\ufeff${[COLUMNS, ...rows].map((row) => row.map(quoted).join(",")).join("\r\n")}\r\n`;

function classroom(block) {
  const found = new Map();
  const problems = make("p", { className: "live-error", hidden: true });
  const table = make("div", { className: "live-table" });
  const saveTable = button("table", () => store.save("class.csv", csv([...found.values()].flat()), "text/csv"), true);
  saveTable.disabled = true;
  const input = make("input", { type: "file", multiple: true, accept: ".json", onchange: () => take([...input.files]) });
  input.setAttribute("aria-label", word("drop"));
  const area = make("div", { className: "live-drop" }, make("p", { textContent: word("drop") }), input);
  area.ondragover = (event) => { event.preventDefault(); area.classList.add("live-over"); };
  area.ondragleave = () => area.classList.remove("live-over");
  area.ondrop = (event) => { event.preventDefault(); area.classList.remove("live-over"); take([...event.dataTransfer.files]); };
  block.append(area, problems, saveTable, table);
  async function take(files) {
    problems.hidden = true;
    for (const file of files) {
      try { const rows = rowsOf(await file.text()); found.set(`${rows[0][0]}\n${rows[0][1]}`, rows); }
      catch { problems.hidden = false; problems.textContent = word("notScore", { name: file.name }); }
    }
    draw();
  }
  function draw() {
    const learners = [...found.values()].sort((a, b) => String(a[0][0]).localeCompare(String(b[0][0])));
    saveTable.disabled = !learners.length;
    if (!learners.length) return;
    const labels = learners[0].map((row) => row[2]);
    const head = make("tr", {}, ...[word("learner"), word("seed"), word("passed")].map((text) => make("th", { textContent: text })), ...labels.map((label) => make("th", { textContent: label })));
    const lines = learners.map((rows) => make("tr", {},
      make("th", { textContent: rows[0][0] }), make("td", { textContent: rows[0][1] }),
      make("td", { textContent: `${rows.filter((row) => row[3] === "passed").length}/${rows.length}` }),
      ...rows.map((row) => make("td", { textContent: row[3] === "passed" ? "✓" : row[6] ? `${row[4]}/${row[5]}` : "", title: `${row[2]}: ${row[3]} ${row[8]}` }))));
    table.replaceChildren(make("table", { className: "docutils" }, make("thead", {}, head), make("tbody", {}, ...lines)));
  }
}

if (settings) {
  const blocks = [...document.querySelectorAll(".live")];
  const first = blocks.find((block) => block.querySelector(".highlight"));
  first?.before(make("p", { className: "live-keys", id: "live-keys", textContent: word("keys") }));
  const kinds = { exercise, playground, capstone, score, classroom };
  const cells = blocks.filter((block) => block.dataset.kind === "cell");
  if (cells.length) lesson(cells);
  for (const block of blocks) kinds[block.dataset.kind]?.(block);
  // Python is fetched when a reader turns to a program, not by those who only read.
  addEventListener("focusin", (event) => { if (event.target.closest?.(".live")) python().catch(() => {}); });
  document.documentElement.classList.add("live-ready");
}
