// Python in a worker: its files are fetched and checked once, and a new worker takes them over when one was ended.
import workerText from "./python.worker.js";  // its text: the loader of .worker.js is that of text
import { bytesOf } from "./store.mjs";
import { word } from "./words.mjs";

const about = document.querySelector('script[type="application/json"][data-live]');
export const settings = about ? JSON.parse(about.textContent) : null;  // written by docs/site_live.py

const held = {};  // the bytes of each file by its name
const LAZY = ["matplotlib", "scipy", "graphviz"];  // groups of files that are fetched when a program needs them
let worker = null, ready = null, waiting = new Map(), count = 0, loaded = new Set();
let tell = () => {};
export const onStatus = (listener) => { tell = listener; };

function script(address) {
  return new Promise((resolve, reject) => {
    const element = document.createElement("script");
    Object.assign(element, { src: address, onload: resolve, onerror: () => reject(new Error(word("notFile", { name: address.split("/").pop() }))) });
    document.head.append(element);
  });
}

async function unpacked(blob) {
  return new Response(blob.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

// A folder of files (file://) lets a page read no file, but run a script; there the bytes stand in scripts, in base64.
async function fromScript(address, name) {
  await script(`${address}.js`);
  const text = globalThis.minigradFiles[name];
  delete globalThis.minigradFiles[name];
  return unpacked(new Blob([bytesOf(text)]));
}

async function fetched(name, file, progress) {
  const address = new URL(file.from, document.baseURI).href;
  if (address.startsWith("file:")) return fromScript(address, name);
  const response = await fetch(address + (file.packed ? ".gz" : ""), file.integrity ? { integrity: file.integrity } : {}).catch(() => null);
  if (!response?.ok) throw new Error(word("notFile", { name }));
  const bytes = await response.blob();
  progress(bytes.size);
  return file.packed ? unpacked(bytes) : bytes.arrayBuffer();
}

async function get(groups) {
  const wanted = Object.keys(settings.files).filter((name) => groups.includes(settings.files[name].group));
  const names = wanted.filter((name) => !held[name]);
  const all = names.reduce((sum, name) => sum + settings.files[name].bytes, 0);
  let done = 0, failed = false;
  const shown = (bytes) => (bytes / 1e6).toFixed(1);
  const progress = (bytes) => { done += bytes; if (!failed) tell(word("getting", { done: shown(done), all: shown(all) })); };
  if (names.length) progress(0);
  try {
    await Promise.all(names.map(async (name) => { held[name] = await fetched(name, settings.files[name], progress); }));
  } catch (error) {
    failed = true;  // the rest is still on its way, and must not write over what is said of this file
    throw error;
  }
  return Object.fromEntries(wanted.map((name) => [name, held[name]]));
}

function send(message, said) {
  return new Promise((resolve) => {
    const id = ++count;
    waiting.set(id, { resolve, said });
    worker.postMessage({ id, ...message });
  });
}

function begin() {
  worker = new Worker(URL.createObjectURL(new Blob([workerText], { type: "text/javascript" })));
  worker.onmessage = ({ data }) => {
    if (data.said !== undefined) for (const { said } of waiting.values()) said?.(data.said);
    else { waiting.get(data.id)?.resolve(data.answer); waiting.delete(data.id); }
  };
  worker.onerror = (event) => {
    for (const { resolve } of waiting.values()) resolve({ error: event.message || "worker" });
    waiting.clear();
  };
}

async function start() {
  await get(["python", "numpy", "minigrad"]);
  tell(word("starting"));
  begin();
  const answer = await send({ start: Object.keys(settings.files), files: { ...held }, groups: ["numpy", ...loaded] });
  if (answer.error) throw new Error(answer.error);
  tell(word("ready"));
}

// Python is there, with these groups and those that the programs import; their files are fetched while Python starts.
export async function python(programs = [], groups = []) {
  const imports = (group) => new RegExp(`^\\s*(?:import|from)\\s+${group}\\b`, "m");
  const asked = (group) => groups.includes(group) || programs.some((text) => imports(group).test(text));
  const needed = LAZY.filter((group) => !loaded.has(group) && asked(group));
  const coming = get(needed);
  coming.catch(() => {});  // it is said by load()
  ready ??= start();
  try { await ready; } catch (error) { ready = null; throw error; }
  await coming.catch(() => {});
  for (const group of needed) await load(group);
  tell(word("ready"));
}

async function load(group) {
  const files = await get([group]);
  tell(word("packages", { name: group }));
  const answer = await send({ files, groups: [group] });
  if (answer.error) throw new Error(answer.error);
  loaded.add(group);
}

// The answer of live.py to a request; `said` gets what is printed meanwhile. null: the worker was ended.
// A program that ended because a package is not loaded yet, which minigrad imported for it, runs again with it. A cell of a
// lesson does not, because it may have changed its names by then.
export async function ask(request, said) {
  await python();
  let answer = await send({ request }, said);
  if (request.do === "program" && LAZY.includes(answer?.lacking) && !loaded.has(answer.lacking)) {
    await load(answer.lacking);
    said(null);
    answer = await send({ request }, said);
  }
  if (!answer?.ended) return answer;
  end();
  return { ...answer, error: word("ended", { error: answer.error }) };
}

export function end() {
  worker?.terminate();
  for (const { resolve } of waiting.values()) resolve(null);
  waiting = new Map();
  ready = start();
  ready.catch(() => {});
}
