// The search box, the copy buttons, the theme. A page can be read without any of it.
"use strict";

const root = document.body.dataset.root;
const MOST = 12;
let printing = false; // which opens all steps

// --- copy buttons ---

function copying(button) {
  button.addEventListener("click", async () => {
    const done = await copied(inLetters(button, letters?.value) ?? button.dataset.copy);
    button.classList.toggle("done", done);
    button.setAttribute("aria-label", done ? `${button.textContent}: copied` : `${button.textContent}: not copied`);
    setTimeout(() => button.classList.remove("done"), 1500);
  });
}
document.querySelectorAll("button[data-copy]").forEach(copying);

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // a page that is opened as a file may have no clipboard: the older way
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

// --- theme ---

document.getElementById("theme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).getPropertyValue("--is-dark").trim() === "1";
  const chosen = dark ? "light" : "dark";
  document.documentElement.dataset.theme = chosen;
  try {
    localStorage.setItem("theme", chosen);
  } catch {
    // without storage the choice lasts for this page
  }
});

// --- formulas and tables that scroll can be reached by the keyboard ---

function reachable() {
  for (const box of document.querySelectorAll("h1, .display, .wide, .notes dd, main p, .verdicts li, pre")) {
    const scrolls = box.scrollWidth > box.clientWidth;
    box.classList.toggle("scrolls", scrolls); // a shade at the edge says that there is more
    if (scrolls) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("resize", reachable);
document.fonts.ready.then(reachable);
reachable();

// --- what is not seen at first is MathML; when it comes into view it is set as the rest of the page ---

function set(box) {
  const latex = box.dataset.latex ?? box.querySelector("annotation").textContent; // of a title, or of MathML
  box.classList.remove("later");
  katex.render(latex, box, { displayMode: box.classList.contains("display"), throwOnError: false, strict: "ignore" });
}
const seen = new IntersectionObserver(
  (changes) => {
    for (const { isIntersecting, target } of changes) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      if (target.classList.contains("later")) set(target);
    }
    reachable();
  },
  { rootMargin: "400px" },
);
document.querySelectorAll(".later").forEach((box) => seen.observe(box));
document.addEventListener("toggle", reachable, true);

// --- the letters of a result: those of the page, or of a notation that writes it otherwise ---

const letters = document.getElementById("letters");

// What a notation writes in the place of a formula, or of a text that a button copies; undefined where it is ours.
function inLetters(box, name) {
  const place = box.dataset.letters?.split(" ").find((each) => each.startsWith(`${name}=`));
  return place && box.getAttribute(`data-text-${place.split("=")[1]}`);
}

function written(name) {
  for (const box of document.querySelectorAll("[data-letters]:not(button)")) {
    box.dataset.own ??= box.querySelector("annotation").textContent;
    box.classList.remove("later");
    const latex = inLetters(box, name) ?? box.dataset.own;
    katex.render(latex, box, { displayMode: box.classList.contains("display"), throwOnError: false, strict: "ignore" });
  }
  reachable();
}

if (letters) {
  letters.addEventListener("change", () => {
    written(letters.value);
    try {
      localStorage.setItem("letters", letters.value);
    } catch {
      // without storage the choice lasts for this page
    }
  });
  let kept = "ours";
  try {
    kept = localStorage.getItem("letters") ?? kept;
  } catch {
    // a page that is opened as a file may have no storage
  }
  if (kept !== "ours" && [...letters.options].some((option) => option.value === kept)) {
    letters.value = kept;
    written(kept);
  }
}

// --- a step has an address: it opens at it, and the address follows what is opened ---

function atAddress() {
  const step = location.hash.startsWith("#step-") && document.getElementById(location.hash.slice(1));
  if (!step || step.open) return;
  step.open = true;
  step.scrollIntoView();
}
for (const step of document.querySelectorAll("details[id]")) {
  step.addEventListener("toggle", () => {
    if (step.open && !printing) history.replaceState(null, "", `#${step.id}`);
  });
}
addEventListener("hashchange", atAddress);
atAddress();

// --- before printing, all steps are opened ---

addEventListener("beforeprint", () => {
  printing = true;
  for (const each of document.querySelectorAll("details")) each.open = true;
  document.querySelectorAll(".later").forEach(set);
});

// --- search ---

const box = document.getElementById("search");
const found = document.getElementById("found");
const KINDS = { page: 2, layer: 1, result: 0 };
let rows = [];
let chosen = -1;

function folded(text) {
  return text.toLowerCase().replace(/[_.\-]/g, " ");
}

const entries = (window.SEARCH_INDEX || []).map(([title, path, kind, words, heading]) => ({
  title,
  heading: heading ?? [title], // words and LaTeX in turns
  path,
  kind,
  own: folded(title),
  all: folded(`${title} ${words}`),
}));
const vocabulary = new Set(entries.flatMap((entry) => entry.all.split(/[^\p{L}\p{N}]+/u)).filter((each) => each.length > 2));

// Every word must occur; a title counts more than the other words, a whole word more than a part of one.
function score(entry, words) {
  let sum = 0;
  for (const word of words) {
    const at = entry.all.indexOf(word);
    if (at < 0) return 0;
    const whole = ` ${entry.all} `.includes(` ${word} `);
    sum += 1 + 2 * whole + 3 * entry.own.includes(word);
  }
  return sum + KINDS[entry.kind] + 4 / (4 + entry.own.length / 10);
}

function search(query) {
  const words = folded(query).split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  return entries
    .map((entry) => ({ entry, score: score(entry, words) }))
    .filter((each) => each.score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST)
    .map((each) => each.entry);
}

// Pairs of neighbouring letters that two words share, as a part of all (Dice), less where one word is longer.
function likeness(one, other) {
  const pairs = (word) => new Set([...word].slice(1).map((letter, place) => word[place] + letter));
  const [a, b] = [pairs(one), pairs(other)];
  const lengths = [one.length, other.length];
  const shared = [...a].filter((each) => b.has(each)).length;
  return ((2 * shared) / (a.size + b.size || 1)) * (Math.min(...lengths) / Math.max(...lengths));
}

// The query with the nearest known word in the place of each that occurs nowhere; nothing where none is near.
function nearest(query) {
  const words = folded(query).split(/\s+/).filter(Boolean).slice(0, MOST);
  const known = words.map((word) => {
    if (word.length > 40 || entries.some((entry) => entry.all.includes(word))) return word;
    const [best] = [...vocabulary].map((each) => [likeness(word, each), each]).sort(([a], [b]) => b - a);
    return best && best[0] >= 0.4 ? best[1] : "";
  });
  const near = known.filter(Boolean).join(" ");
  return near !== words.join(" ") && search(near).length ? near : "";
}

function nothing() {
  const row = document.createElement("li");
  const near = nearest(box.value);
  row.role = "option";
  row.setAttribute("aria-disabled", String(!near));
  row.textContent = near ? `Nothing found. Did you mean “${near}”?` : "Nothing found.";
  row.addEventListener("mousedown", (event) => event.preventDefault());
  if (near) row.addEventListener("click", () => { box.value = near; show(); });
  return row;
}

function show() {
  rows = search(box.value);
  chosen = -1;
  found.replaceChildren(
    ...rows.map((entry, place) => {
      const row = document.createElement("li");
      const kind = document.createElement("span");
      row.id = `found-${place}`;
      row.role = "option";
      for (const [at, part] of entry.heading.entries()) {
        const piece = document.createElement("b");
        if (at % 2) katex.render(part, piece, { throwOnError: false, strict: "ignore" });
        row.append(at % 2 ? piece : part);
      }
      kind.textContent = entry.kind;
      row.append(" ", kind);
      row.addEventListener("mousedown", (event) => event.preventDefault());
      row.addEventListener("click", () => open(place));
      return row;
    }),
  );
  if (!rows.length && box.value.trim()) found.append(nothing());
  found.hidden = !found.children.length;
  box.setAttribute("aria-expanded", String(!found.hidden));
  box.removeAttribute("aria-activedescendant");
}

function open(place) {
  if (rows[place]) location.href = root + rows[place].path;
}

function choose(place) {
  chosen = (place + rows.length) % rows.length;
  [...found.children].forEach((row, at) => row.setAttribute("aria-selected", String(at === chosen)));
  found.children[chosen].scrollIntoView({ block: "nearest" });
  box.setAttribute("aria-activedescendant", `found-${chosen}`);
}

box.addEventListener("input", show);
box.addEventListener("focus", show);
box.addEventListener("blur", () => {
  found.hidden = true;
  box.setAttribute("aria-expanded", "false");
});
box.addEventListener("keydown", (event) => {
  if (event.key === "Enter") rows.length ? open(Math.max(chosen, 0)) : found.firstChild?.click();
  else if (event.key === "Escape") box.blur();
  else if (rows.length && event.key === "ArrowDown") choose(chosen + 1);
  else if (rows.length && event.key === "ArrowUp") choose(chosen - 1);
  else return;
  event.preventDefault();
});
addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    box.focus();
  }
});
