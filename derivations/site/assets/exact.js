// The counts of a model, exactly: BigInt has no largest number and rounds nothing. Also run by Node, in the tests.
"use strict";

function exactly(number, divisor) {
  if (number % divisor !== 0n) throw new RangeError(`${number} / ${divisor} is not a whole number`);
  return number / divisor;
}

function least(a, b) {
  return a < b ? a : b;
}

// The lengths that a model accepts: a table of positions has an end, and frames are cut or padded to theirs.
function lengths(model, phase, asked) {
  const found = {};
  for (const [symbol, [most, fixed]] of Object.entries(model.limits[phase])) {
    const wanted = symbol === "m" ? (asked.source ?? asked.seq) : asked.seq;
    if (most !== null && !fixed && wanted > most) throw new RangeError(`at most ${most} positions`);
    found[symbol] = BigInt(fixed ? most : wanted);
  }
  return found;
}

// Returns the numbers by their paths in `derivations count --json`, as [number, LaTeX of its closed form].
function counted(data, asked) {
  const model = data.models[asked.model];
  const place = model.phases[asked.phase];
  if (place === undefined) throw new RangeError(`${asked.model} decodes nothing: choose another phase`);
  const sizes = { batch: BigInt(asked.batch), bytes_per_number: BigInt(data.bytes[asked.dtype || model.dtype]) };
  for (const [name, value] of Object.entries(model.sizes)) sizes[name] = BigInt(value);
  Object.assign(sizes, lengths(model, asked.phase, asked));
  const found = {};
  for (const [path, [form, latex]] of Object.entries(data.forms[place])) found[path] = [form(sizes), latex];
  if (asked.dtype) {
    found["memory.weights_bytes"] = [
      found["parameters.total"][0] * sizes.bytes_per_number,
      `\\mathrm{bytes\\_per\\_number} \\cdot (${found["parameters.total"][1]})`,
    ];
  }
  return found;
}
