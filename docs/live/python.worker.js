// The worker of a page: it gets the files of Pyodide and of minigrad as bytes, and asks nothing of the network itself.
// The page makes it from this text, so that it runs from a folder of files, too.
let python, act;
// Pyodide asks for a module worker, which a browser does not start from a folder of files. Without this function it takes any.
self.importScripts = undefined;

const named = (address) => String(address?.url ?? address).split("/").pop();

// The lock file of Pyodide, in which no package asks for one that this site leaves out.
function lock(text, names) {
  const all = JSON.parse(text);
  for (const one of Object.values(all.packages)) one.depends = one.depends.filter((name) => names.includes(all.packages[name]?.file_name));
  return all;
}

const module = (files, name) => import(URL.createObjectURL(new Blob([files[name]], { type: "text/javascript" })));

async function start(files, groups, names) {
  const kinds = { wasm: "application/wasm", json: "application/json" };
  self.fetch = async (address) => {
    const bytes = files[named(address)];
    if (!bytes) throw new TypeError(`${named(address)} is not among the files of this page`);
    return new Response(bytes, { headers: { "Content-Type": kinds[named(address).split(".").pop()] ?? "application/octet-stream" } });
  };
  const { loadPyodide } = await module(files, "pyodide.mjs");
  const { default: createPyodideModule } = await module(files, "pyodide.asm.mjs");
  const place = "https://pyodide.invalid/";  // every address under it is answered by the function above
  python = await loadPyodide({
    indexURL: place, packageBaseUrl: place, createPyodideModule, env: { HOME: "/home/pyodide", PYTHONDONTWRITEBYTECODE: "1" },
    lockFileContents: lock(new TextDecoder().decode(files["pyodide-lock.json"]), names),
  });
  await load(files, groups.filter((group) => group !== "graphviz"));
  const site = python.runPython("import site; site.getsitepackages()[0]");
  python.unpackArchive(files["minigrad.zip"], "zip", { extractDir: site });
  const live = python.pyimport("live");
  live.say = (text) => postMessage({ said: text });
  python.runPython("import minigrad");
  act = live.do;
  await load(files, groups.filter((group) => group === "graphviz"));  // its module of Python stands beside live.py
}

// Packages of Pyodide, and Graphviz.
async function load(files, groups) {
  const before = self.fetch, packages = groups.filter((group) => group !== "graphviz");
  if (packages.length) await python.loadPackage(packages, { messageCallback: () => {}, errorCallback: () => {} });
  self.fetch = before;
  if (!groups.includes("graphviz")) return;
  const { instance } = await module(files, "graphviz.mjs");
  const viz = await instance();
  python.pyimport("pygraphviz").render = (dot, engine) => viz.renderString(dot, { format: "svg", engine });
}

let held = {};
self.onmessage = async ({ data }) => {
  try {
    if (data.files) Object.assign(held, data.files);
    if (data.start) await start(held, data.groups, data.start);
    else if (data.groups) await load(held, data.groups);
    postMessage({ id: data.id, answer: data.request ? JSON.parse(act(JSON.stringify(data.request))) : {} });
  } catch (error) {
    postMessage({ id: data.id, answer: { error: String(error?.message ?? error), ended: true } });  // Python is of no use now
  }
};
