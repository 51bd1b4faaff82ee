// Writes the bytecode of Python packages, by the very Python that a browser will run.
//
// argv[2] the folder of the npm package pyodide
// argv[3] the archive of the packages, a zip file; argv[4] where to write one of the bytecode of every module that the
//         pages import, not compressed, which takes long here
"use strict";

const fs = require("fs");
const path = require("path");

const { loadPyodide } = require(path.join(process.argv[2], "pyodide.js"));

// Python keeps what an import compiled. It stands beside its source in one archive, so the hash of the source, which
// takes the place of its date, is not checked again.
const PROGRAM = `
import sys, zipfile
from importlib.util import MAGIC_NUMBER, source_hash

sys.dont_write_bytecode = False
sys.path.insert(0, "/package")
from derivations.site import asked
asked.document("$a = a$", "markdown")
asked.equation("a", "a")
UNCHECKED, HEADER = (1).to_bytes(4, "little"), 16
with zipfile.ZipFile("/bytecode.zip", "w") as packed:
    for _, module in sorted(sys.modules.items()):
        file, kept = getattr(module, "__file__", None) or "", getattr(module, "__cached__", None)
        if file.startswith("/package/"):
            with open(file, "rb") as source, open(kept, "rb") as compiled:
                start = MAGIC_NUMBER + UNCHECKED + source_hash(source.read())
                known = zipfile.ZipInfo(kept.removeprefix("/package/"))
                packed.writestr(known, start + compiled.read()[HEADER:])
`;

(async () => {
  const python = await loadPyodide({ env: { PYTHONHASHSEED: "0", HOME: "/" } });
  python.unpackArchive(new Uint8Array(fs.readFileSync(process.argv[3])), "zip", { extractDir: "/package" });
  python.runPython(PROGRAM);
  fs.writeFileSync(process.argv[4], python.FS.readFile("/bytecode.zip"));
})().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
