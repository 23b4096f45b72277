// Runs pytest in Pyodide. The only argument is JSON: the folders of the release and of the repository, the tools, pytest's arguments.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const asked = JSON.parse(process.argv[2]);
const { loadPyodide } = await import(pathToFileURL(`${asked.release}/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: asked.release, env: { PYTHONDONTWRITEBYTECODE: "1", HOME: "/home/pyodide" } });
await python.loadPackage(["numpy", "scipy"], { messageCallback: () => {} });
const mount = (folder, place) => {
  python.FS.mkdirTree(place);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, place);
};
mount(asked.root, "/repository");
for (const [name, path] of Object.entries(asked.tools)) {
  if (name.endsWith(".py")) python.FS.writeFile(`/tools/${name}`, readFileSync(path));
  else mount(path, `/tools/${name}`);
}
python.globals.set("ARGUMENTS", asked.arguments);
let status = 3;
try {
  status = await python.runPythonAsync(`
import os, sys
sys.path[:0] = ["/repository", "/tools"]
os.chdir("/repository")
import numpy
print("Python", sys.version.split()[0], "on", sys.platform, "with NumPy", numpy.__version__, flush=True)
import pytest
options = ["-p", "no:cacheprovider", "-p", "tests.pyodide.plugin", "-o", "addopts=", "--import-mode=importlib", "-q", "-rs"]
int(pytest.main([*options, *ARGUMENTS]))
`);
} catch (error) {
  console.error(error.message);
}
process.exit(status);
