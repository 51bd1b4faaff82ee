// The package in a worker: Python by Pyodide, which answers what the pages ask (derivations/site/asked.py), or, under
// the address judge_worker.js?functions, what they ask about a function (derivations/site/functions.py), which is run.
//
// in      {id, ask: "document", given: ["text", "markdown"]}
// out     {progress, loaded} while it starts, and {id, answer} or {id, refused} for what was asked
"use strict";

const DOCUMENTS = { archives: [["package.zip", "zip"]], module: "derivations.site.asked" };
const FUNCTIONS = {
  archives: [["package.zip", "zip"], ["numpy.whl", "wheel"], ["functions.zip", "zip"]],
  module: "derivations.site.functions",
};
const { archives, module } = location.search === "?functions" ? FUNCTIONS : DOCUMENTS;
const STEPS = ["Loading Python", "Loading the package", "Importing it", "Judging"];

function tell(step, loaded = 0) {
  postMessage({ progress: STEPS[step], loaded: (step + loaded) / STEPS.length });
}

async function fetched(name, told) {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  const length = Number(response.headers.get("content-length"));
  const parts = [];
  let size = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
    if (length) told(size / length);
  }
  return new Blob(parts).arrayBuffer();
}

async function started() {
  tell(0);
  importScripts("pyodide/pyodide.js");
  const parts = archives.map(() => 0);
  const loading = archives.map(([name], place) =>
    fetched(`pyodide/${name}`, (part) => {
      parts[place] = part;
      tell(1, Math.min(...parts));
    }),
  ); // beside Python itself
  const python = await loadPyodide({
    indexURL: new URL("pyodide/", location.href).href,
    env: { PYTHONHASHSEED: "0", HOME: "/" },
  });
  for (const [place, [, format]] of archives.entries()) {
    python.unpackArchive(await loading[place], format, { extractDir: "/package" });
  }
  tell(2);
  python.runPython("import sys; sys.dont_write_bytecode = True; sys.path.insert(0, '/package')");
  const asked = python.pyimport(module);
  tell(3);
  return asked;
}

function last(error) {
  return String(error.message).trim().split("\n").pop();
}

const ready = started();
ready.catch((error) => postMessage({ failed: last(error) }));

addEventListener("message", async ({ data: { id, ask, given } }) => {
  const asked = await ready;
  try {
    postMessage({ id, ...JSON.parse(asked.answered(ask, ...given)) });
  } catch (error) {
    postMessage({ failed: last(error) }); // Python may not go on after it
  }
});
