// The learner's work in this browser, a program in a link, and files that are saved and opened.
const PREFIX = "minigrad/";
let memory = {};
let keeps = true;
try { localStorage.setItem(`${PREFIX}probe`, "1"); localStorage.removeItem(`${PREFIX}probe`); } catch { keeps = false; }

export const kept = () => keeps;
export function get(key) { return keeps ? localStorage.getItem(PREFIX + key) : memory[key] ?? null; }
export function set(key, text) {
  try { if (keeps) localStorage.setItem(PREFIX + key, text); else memory[key] = text; } catch { keeps = false; memory[key] = text; }
}
export function remove(key) { if (keeps) localStorage.removeItem(PREFIX + key); else delete memory[key]; }

// The files of the course: answers by their names, and learn.json.
export function files() {
  const keys = keeps ? Object.keys(localStorage).filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length)) : Object.keys(memory);
  return Object.fromEntries(keys.filter((key) => key.startsWith("course/")).map((key) => [key.slice(7), get(key)]));
}
export function setFiles(found) { for (const [name, text] of Object.entries(found)) set(`course/${name}`, text); }

// The bytes that base64 stands for; a loop, because a function for each letter takes a second for 15 MB.
export function bytesOf(base64) {
  const letters = atob(base64), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}
const LIMIT = 200_000;  // letters of a link

export async function toLink(text) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text));
  const code = btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  return `${location.href.split("#")[0]}#code=${code}`;
}

export async function fromLink() {
  const found = /^#code=([\w-]+)$/.exec(location.hash);
  if (!found || found[1].length > LIMIT) return null;
  try {
    const bytes = bytesOf(found[1].replace(/-/g, "+").replace(/_/g, "/"));
    return new TextDecoder("utf-8", { fatal: true }).decode(await through(new DecompressionStream("deflate-raw"), bytes));
  } catch { return null; }
}

export function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function open(accept, taken) {
  const input = Object.assign(document.createElement("input"), { type: "file", accept, multiple: false });
  input.onchange = () => input.files[0] && taken(input.files[0]);
  input.click();
}
