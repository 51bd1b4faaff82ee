// Adds bytecode to an archive of Python packages, by the very Python that a browser will run.
//
// argv[2] the folder of the npm package pyodide
// argv[3] the archive, a zip file; argv[4] where to write it with the bytecode of every module that the pages import
"use strict";

const fs = require("fs");
const path = require("path");

const { loadPyodide } = require(path.join(process.argv[2], "pyodide.js"));

// The hash of the source is not checked again: the source is in the same archive. It is read for tracebacks alone.
const PROGRAM = `
import os, sys, zipfile
from py_compile import PycInvalidationMode, compile

sys.dont_write_bytecode = True
sys.path.insert(0, "/package")
from derivations.site import asked
asked.document("$a = a$", "markdown")
asked.equation("a", "a")
for module in list(sys.modules.values()):
    file = getattr(module, "__file__", None) or ""
    if file.startswith("/package/"):
        compile(file, doraise=True, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
with zipfile.ZipFile("/package.zip", "w", zipfile.ZIP_DEFLATED) as packed:
    for folder, _, names in sorted(os.walk("/package")):
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                known = zipfile.ZipInfo(os.path.relpath(path, "/package"))
                packed.writestr(known, file.read(), zipfile.ZIP_DEFLATED)
`;

(async () => {
  const python = await loadPyodide({ env: { PYTHONHASHSEED: "0", HOME: "/" } });
  python.unpackArchive(new Uint8Array(fs.readFileSync(process.argv[3])), "zip", { extractDir: "/package" });
  python.runPython(PROGRAM);
  fs.writeFileSync(process.argv[4], python.FS.readFile("/package.zip"));
})().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
