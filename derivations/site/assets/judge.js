// The page that judges what is pasted: marks where the verdicts stand, and a list of them.
"use strict";

const forms = ["document", "equation", "function"].map((name) => document.getElementById(name)).filter(Boolean);
const bar = document.getElementById("progress");
const words = document.getElementById("status");
const stop = document.getElementById("stop");
const shown = document.getElementById("verdicts");
const LARGEST = 1_000_000; // characters; the reader of the package refuses more, too
const [LONGEST, DEEPEST] = [1000, 20]; // of a formula that is set; others are shown as they are written
const answer = document.getElementById("answer");
const DECLARING = ["shapes.declared", "naming.fit"]; // checks of what only says what a letter is: there is no verdict
const MARKED = 2000; // verdicts that are marked; a page of more is judged all the same

function progress(told, loaded) {
  words.textContent = `${told} …`;
  bar.value = loaded;
}
const judge = new Judge(progress);
const runner = new Judge(progress, "?functions"); // a function is run: where nothing else is judged

function made(name, content, properties = {}) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...[content].flat());
  return node;
}

function badge(verdict) {
  return made("span", verdict, { className: `badge ${verdict.replaceAll(" ", "-")}` });
}

// Braces inside one another, at most: a browser lays out boxes inside boxes only so far.
function depth(latex) {
  let [open, most] = [0, 0];
  for (const letter of latex) {
    open += (letter === "{") - (letter === "}");
    most = Math.max(most, open);
  }
  return most;
}

function formula(latex) {
  const box = made("span", [], { className: "formula" });
  if (latex.length > LONGEST || depth(latex) > DEEPEST) box.textContent = latex;
  else katex.render(latex, box, { throwOnError: false, strict: "ignore", maxExpand: 200 });
  return box;
}

// --- the document with its verdicts; places count characters, not the units of JavaScript's strings ---

function offsets(lines) {
  const starts = [];
  let at = 0;
  for (const line of lines) {
    starts.push(at);
    at += line.length + 1;
  }
  return (line, column) => (starts[line - 1] ?? at) + column - 1;
}

function saidOf({ verdict, check }) {
  return verdict === "unknown" && DECLARING.includes(check) ? "declaration" : verdict;
}

// Words in which each "line 3" is a button that shows the line in the text that was asked about.
function withLines(words) {
  const box = answer.previousElementSibling.elements?.text;
  return words.split(/(\bline \d+\b)/).map((piece, place) => {
    if (place % 2 === 0 || !box) return piece;
    const button = made("button", piece, { type: "button", className: "line" });
    button.addEventListener("click", () => lineShown(box, Number(piece.slice(5))));
    return button;
  });
}

function lineShown(box, line) {
  const lines = box.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  box.focus();
  box.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  box.scrollTop = ((line - 2) * box.scrollHeight) / lines.length; // about there: long lines are wrapped
}

function marked(text, claims) {
  const letters = Array.from(text);
  const lines = text.split("\n").map((line) => Array.from(line));
  const place = offsets(lines);
  const parts = [];
  let at = 0;
  for (const [number, claim] of claims.slice(0, MARKED).entries()) {
    const start = place(claim.line, claim.column);
    const end = place(claim.end_line, claim.end_column);
    if (start < at || end <= start) continue;
    parts.push(letters.slice(at, start).join(""));
    const link = made("a", letters.slice(start, end).join(""), { href: `#verdict-${number}` });
    parts.push(made("mark", link, { className: claim.verdict, title: `${saidOf(claim)}: ${claim.reason}` }));
    at = end;
  }
  parts.push(letters.slice(at).join(""));
  return made("pre", parts, { className: "judged" });
}

function listed(claims) {
  const rows = claims.slice(0, MARKED).map((claim, number) => {
    const told = [badge(saidOf(claim)), " ", ...withLines(`line ${claim.line}`), " ", formula(claim.text)];
    told.push(made("p", withLines(claim.reason)));
    if (claim.right) told.push(made("p", ["right: ", formula(claim.right)]));
    if (claim.assumptions.length) told.push(made("p", `assumed: ${claim.assumptions.join("; ")}`));
    return made("li", told, { id: `verdict-${number}` });
  });
  return made("ol", rows, { className: "verdicts" });
}

function report(text, { files: [{ claims, problems }], summary }) {
  const declared = claims.filter((claim) => saidOf(claim) === "declaration").length;
  const counted = { ...summary, unknown: summary.unknown - declared, declaration: declared };
  const counts = ["proved", "holds", "conditional", "wrong", "unknown", "declaration"].filter((name) => counted[name]);
  const head = counts.flatMap((name) => [badge(name), ` ${counted[name]} `]);
  const troubles = problems.map(({ line, message }) => made("li", withLines(`line ${line}: ${message}`)));
  const parts = [made("p", head.length ? head : "No formula was found.", { className: "facts" })];
  if (troubles.length) parts.push(made("ul", troubles));
  if (claims.length) parts.push(marked(text, claims), listed(claims));
  return parts;
}

function decision({ level, reason, read }) {
  const parts = [made("p", [badge(level), ` ${reason}`], { className: "facts" })];
  if (read.length) {
    const ways = read.slice(0, 6).map((way) => made("li", way));
    parts.push(made("p", read.length > 1 ? "The letters may be:" : "The letters are:"), made("ul", ways));
  }
  return parts;
}

// --- a function: its verdict and its equations, then its gradient ---

function display(latex) {
  const box = made("div", [], { className: "display" });
  katex.render(latex, box, { displayMode: true, throwOnError: false, strict: "ignore", maxExpand: 200 });
  return box;
}

function equations({ equations: rows, latex, notes }) {
  const button = made("button", "Copy LaTeX", { type: "button" });
  button.dataset.copy = latex;
  copying(button);
  return [...rows.map(display), ...listing(notes), made("p", button, { className: "copies" })];
}

function listing(notes) {
  return notes.length ? [made("ul", notes.map((note) => made("li", note)))] : [];
}

function lifted(found) {
  const { level, said, arrays, flops } = found;
  const parts = [made("p", [badge(level), " ", ...withLines(said)], { className: "facts" })];
  parts.push(...listing(arrays.map((array) => `with ${array}`)));
  if (!found.equations.length) return parts;
  parts.push(made("h3", "The equations of your function"), ...equations(found));
  parts.push(made("h3", "Its FLOPs"));
  if (flops.latex) parts.push(display(flops.latex));
  return [...parts, ...listing(flops.notes)];
}

function backward(found) {
  const words = `The gradient of your function, as it is written: ${found.level}, ${found.reason}`;
  const head = [made("h3", "The gradient of your function"), made("p", words, { className: "facts" })];
  return found.equations.length ? [...head, ...equations(found)] : head;
}

// --- asking: each form shows what it learns, part by part ---

const ASKED = {
  async document({ text, form }, add) {
    if (text.length > LARGEST) throw new Error(`more than ${LARGEST} characters: take the document apart`);
    const plain = text.replace(/\r\n?/g, "\n");
    add(report(plain, await judge.ask("document", plain, form)));
  },
  async equation({ left, right, shapes }, add) {
    add(decision(await judge.ask("equation", left, right, shapes)));
  },
  async function({ text, shapes, layer }, add) {
    const given = [text.replace(/\r\n?/g, "\n"), shapes, layer];
    const found = await runner.ask("function", ...given);
    add(lifted(found));
    if (!found.equations.length) return;
    words.textContent = "Differentiating …";
    add(backward(await runner.ask("gradient", ...given)));
  },
};

function busy(is) {
  for (const button of document.querySelectorAll(".ask")) button.disabled = is;
  stop.disabled = !is;
  bar.hidden = !is;
  if (is) bar.removeAttribute("value");
}

function add(parts) {
  answer.hidden = false;
  shown.append(...parts);
  reachable();
}

async function asked(event) {
  event.preventDefault();
  const given = Object.fromEntries(new FormData(event.target));
  busy(true);
  words.textContent = "Judging …";
  shown.replaceChildren();
  event.target.after(answer);
  answer.hidden = false;
  const row = event.target.querySelector(".asking");
  if (row.getBoundingClientRect().bottom > innerHeight / 3) row.scrollIntoView(); // the button, and the answer below it
  const begin = performance.now();
  try {
    await ASKED[event.target.id](given, add);
    words.textContent = `Judged in ${((performance.now() - begin) / 1000).toFixed(2)} s.`;
  } catch (error) {
    words.textContent = `Not judged: ${error.message}`;
  }
  busy(false);
}

forms.forEach((form) => form.addEventListener("submit", asked));
stop.addEventListener("click", () => [judge, runner].forEach((each) => each.stop("stopped")));
