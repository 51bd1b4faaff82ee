// Sets formulas with KaTeX, all of them in one process.
//
// stdin   JSON: [{"latex": "...", "display": true, "output": "mathml"}, ...]
// argv[2] the folder of the npm package katex
// stdout  JSON: {"html": ["...", ...], "failures": [{"latex": "...", "message": "..."}]}
"use strict";

const fs = require("fs");

const katex = require(process.argv[2]);
const failures = [];

const html = JSON.parse(fs.readFileSync(0, "utf8")).map(({ latex, display, output }) => {
  try {
    return katex.renderToString(latex, { displayMode: display, output, throwOnError: true, strict: "ignore" });
  } catch (error) {
    failures.push({ latex, message: error.message });
    return "";
  }
});

process.stdout.write(JSON.stringify({ html, failures }));
