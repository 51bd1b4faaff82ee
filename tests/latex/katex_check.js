// Renders formulas in KaTeX and reports those that fail.
//
// stdin   JSON: [{"id": "softmax.jacobian", "latex": "..."}, ...]
// argv[2] the folder that holds node_modules/katex
// stdout  JSON: {"version": "0.16.47", "rendered": 12, "failures": [{"id": "...", "latex": "...", "message": "..."}]}
//
// strict: "error" refuses what KaTeX would accept but LaTeX would not.
"use strict";

const fs = require("fs");
const path = require("path");

const katex = require(path.resolve(process.argv[2], "node_modules", "katex"));
const formulas = JSON.parse(fs.readFileSync(0, "utf8"));
const failures = [];

for (const { id, latex } of formulas) {
  try {
    katex.renderToString(latex, { displayMode: true, throwOnError: true, strict: "error", trust: false });
  } catch (error) {
    failures.push({ id, latex, message: error.message });
  }
}

const report = { version: katex.version, rendered: formulas.length - failures.length, failures };
process.stdout.write(JSON.stringify(report) + "\n");
