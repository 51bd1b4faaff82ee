// The counts of a model, exactly: BigInt has no largest number and rounds nothing. Also run by Node, in the tests.
"use strict";

function exactly(number, divisor) {
  if (number % divisor !== 0n) throw new RangeError(`${number} / ${divisor} is not a whole number`);
  return number / divisor;
}

function least(a, b) {
  return a < b ? a : b;
}

function most(a, b) {
  return a < b ? b : a;
}

function up(number, divisor) {
  return (number + divisor - 1n) / divisor; // of counts, which are not negative: BigInt cuts toward zero
}

// The value of a tree (trees.py): a number, the name of a size, or a sign before the trees below it.
function value(tree, sizes) {
  if (typeof tree === "number") return BigInt(tree);
  if (typeof tree === "string") return sizes[tree];
  const [sign, ...below] = tree;
  if (sign === "#") return BigInt(below[0]);
  const [first, ...others] = below.map((each) => value(each, sizes));
  const combined = SIGNS[sign];
  return others.reduce(combined, first);
}

const SIGNS = { "+": (a, b) => a + b, "*": (a, b) => a * b, "^": (a, b) => a ** b, "/": exactly, up, min: least, max: most };

// The names of the sizes in a tree, in the order in which they are met.
function names(tree) {
  if (!Array.isArray(tree)) return typeof tree === "string" ? [tree] : [];
  return tree[0] === "#" ? [] : [...new Set(tree.slice(1).flatMap(names))];
}

// A number with two places in the largest unit of which it has one, rounded half up; nothing where that is no unit.
const UNITS = { "": [1000n, ["", "k", "M", "G", "T", "P", "E", "Z"]], B: [1024n, ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]] };
function about(number, unit = "") {
  const [base, prefixes] = UNITS[unit];
  let [place, one] = [0, 1n];
  const hundredths = () => (number * 200n + one) / (2n * one);
  while (hundredths() >= base * 100n && place < prefixes.length - 1) {
    one *= base;
    place += 1;
  }
  return place ? `${(Number(hundredths()) / 100).toFixed(2)} ${prefixes[place]}${unit}` : "";
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

function sizesOf(data, asked) {
  const model = data.models[asked.model];
  if (!(asked.phase in model.phases)) {
    throw new RangeError(`${asked.model} decodes nothing: choose another phase`);
  }
  const bytes = data.bytes[asked.dtype || model.dtype];
  const sizes = { batch: BigInt(asked.batch), b: BigInt(bytes) };
  sizes.b_act = BigInt(Math.max(2, bytes)); // a type of one byte is for storage
  sizes.b_copy = bytes < 4 ? 4n : 0n; // of an optimiser, beside narrower weights
  for (const [name, size] of Object.entries(model.sizes)) sizes[name] = BigInt(size);
  return Object.assign(sizes, lengths(model, asked.phase, asked));
}

// Returns the numbers by their paths in `derivations count --json`, as {number, terms: [[number, LaTeX, names], ...]}.
function counted(data, asked) {
  const sizes = sizesOf(data, asked);
  const forms = data.forms[data.models[asked.model].phases[asked.phase]];
  const found = {};
  for (const [path, terms] of Object.entries(forms)) found[path] = summed(terms, sizes);
  if (asked.dtype) {
    const stored = forms["parameters.total"].map(([tree, latex]) => [
      ["*", "b", tree],
      `b \\cdot ${latex}`,
    ]);
    found["memory.weights_bytes"] = summed(stored, sizes);
  }
  return found;
}

// Returns the place of the parts of the bytes on one of several devices, or a sentence that says why there is no plan.
function planned(data, asked) {
  const model = data.models[asked.model];
  const plans = asked.dtype ? model.plans : (model.stored ?? model.plans);
  const purpose = data.purposes[asked.phase];
  return plans[purpose][asked.ranks] ?? `${asked.ranks} devices cannot share ${asked.model} in equal parts`;
}

// Returns the parts of the bytes on a device, as `derivations fit --tensor` has them; null for no plan.
function fitted(data, asked) {
  const place = planned(data, asked);
  if (typeof place === "string") return null;
  const sizes = sizesOf(data, asked);
  return Object.fromEntries(Object.entries(data.parts[place]).map(([path, terms]) => [path, summed(terms, sizes)]));
}

function summed(terms, sizes) {
  const values = terms.map(([tree, latex]) => [value(tree, sizes), latex, names(tree)]);
  return { number: values.reduce((sum, [term]) => sum + term, 0n), terms: values };
}
