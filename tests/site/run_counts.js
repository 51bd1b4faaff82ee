// Evaluates the counts of models as the page does.
//
// argv[2], argv[3]  exact.js of the site, and its data
// stdin   JSON: [{"model": "gpt2", "phase": "forward", "batch": 1, "seq": 64, "source": null, "dtype": ""}, ...]; with
//         "ranks" what a device needs is asked for; {"about": "1234", "unit": ""} asks how a number is shortened
// stdout  JSON: [{"parameters.total": "124439808", ...}, ...]; {"refused": "..."} where there is none
"use strict";

const fs = require("fs");
const vm = require("vm");

vm.runInThisContext(fs.readFileSync(process.argv[2], "utf8"));
vm.runInThisContext(fs.readFileSync(process.argv[3], "utf8"));
const numbers = vm.runInThisContext(`(asked) => {
  if (asked.about) return about(BigInt(asked.about), asked.unit);
  try {
    const numbers = Object.entries((asked.ranks ? fitted : counted)(CALCULATOR, asked) ?? {});
    const some = numbers.filter(([, { number }]) => !asked.ranks || number > 0n); // a part of nothing is not shown
    return Object.fromEntries(some.map(([path, { number }]) => [path, number.toString()]));
  } catch (error) {
    return { refused: error.message };
  }
}`);
process.stdout.write(JSON.stringify(JSON.parse(fs.readFileSync(0, "utf8")).map(numbers)));
