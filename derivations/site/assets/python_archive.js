// Writes the bytecode of Python packages, by the very Python that a browser will run.
//
// argv[2] the folder of the npm package pyodide
// argv[3] a folder with package.zip, the archive of the packages, and if functions are to be judged functions.zip and
//         numpy.whl; for each archive X.zip, X.bytecode.zip is written there: that of every module which its questions
//         import, not compressed, which takes long here
"use strict";

const fs = require("fs");
const path = require("path");

const [, , pyodide, folder] = process.argv;
const { loadPyodide } = require(path.join(pyodide, "pyodide.js"));

// Python keeps what an import compiled. It stands beside its source in one archive, so the hash of the source, which
// takes the place of its date, is not checked again.
const BEGIN = `
import sys, zipfile
from importlib.util import MAGIC_NUMBER, source_hash

sys.dont_write_bytecode = False
sys.path.insert(0, "/package")
UNCHECKED, HEADER = (1).to_bytes(4, "little"), 16
written = set()

def write_new():
    with zipfile.ZipFile("/bytecode.zip", "w") as packed:
        for name, module in sorted(sys.modules.items()):
            file, kept = getattr(module, "__file__", None) or "", getattr(module, "__cached__", None)
            if name in written or not (file.startswith("/package/") and file.endswith(".py")):
                continue
            written.add(name)
            with open(file, "rb") as source, open(kept, "rb") as compiled:
                start = MAGIC_NUMBER + UNCHECKED + source_hash(source.read())
                known = zipfile.ZipInfo(kept.removeprefix("/package/"))
                packed.writestr(known, start + compiled.read()[HEADER:])
`;
const DOCUMENTS = `
from derivations.site import asked
asked.warm()
write_new()
`;
const FUNCTIONS = `
from derivations.site import functions
functions.warm()
write_new()
`;

(async () => {
  const python = await loadPyodide({ env: { PYTHONHASHSEED: "0", HOME: "/" } });
  const unpacked = (name, format) =>
    python.unpackArchive(new Uint8Array(fs.readFileSync(path.join(folder, name))), format, { extractDir: "/package" });
  const write = (name) => fs.writeFileSync(path.join(folder, name), python.FS.readFile("/bytecode.zip"));
  unpacked("package.zip", "zip");
  python.runPython(BEGIN + DOCUMENTS);
  write("package.bytecode.zip");
  if (!fs.existsSync(path.join(folder, "numpy.whl"))) return;
  unpacked("numpy.whl", "wheel");
  unpacked("functions.zip", "zip");
  python.runPython(FUNCTIONS);
  write("functions.bytecode.zip");
})().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
