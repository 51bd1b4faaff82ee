// The page of the calculator: fields, numbers, bars; what is asked stands in the address, so that a link shows the same.
"use strict";

const data = globalThis.CALCULATOR;
const form = document.getElementById("calculator");
const table = document.getElementById("counts");
const message = document.getElementById("message");
const NUMBERS = ["batch", "seq", "source"];
const GREATEST = { batch: 65536, seq: 1048576, source: 1048576 };
const STEPS = 16; // of a slider, between a number and its double
const GROUPS = { parameters: "parameters", flops: "FLOPs", memory: "bytes" };
const opened = new Set();

// --- what is asked ---

function asked() {
  const fields = Object.fromEntries(new FormData(form));
  const number = (name) => Math.max(1, Math.floor(Number(fields[name])) || 1);
  return { ...fields, batch: number("batch"), seq: number("seq"), source: number("source") };
}

function fromAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const usual = { model: "gpt2", phase: "forward", dtype: "", batch: "1", seq: "1024", source: "1024" };
  for (const [name, value] of Object.entries(usual)) {
    const field = form.elements[name];
    const wanted = given.get(name) ?? value;
    const known = field.tagName !== "SELECT" || [...field.options].some((option) => option.value === wanted);
    field.value = known ? wanted : value;
  }
}

function toAddress(what) {
  const shown = { model: what.model, phase: what.phase, dtype: what.dtype, batch: what.batch, seq: what.seq };
  const limits = data.models[what.model].limits[what.phase] ?? {};
  if (limits.m && !limits.m[1]) shown.source = what.source;
  history.replaceState(null, "", `#${new URLSearchParams(shown)}`);
}

// --- sliders: each step multiplies by the same ---

function numberAt(position, most) {
  const number = 2 ** (position / STEPS);
  return Math.min(most, number < 64 ? Math.round(number) : Math.round(number / 8) * 8);
}

function adjusted(what) {
  const limits = data.models[what.model].limits[what.phase] ?? {};
  for (const name of NUMBERS) {
    const limit = { seq: limits.n, source: limits.m }[name];
    const most = limit?.[0] ?? GREATEST[name];
    document.getElementById(`field_${name}`).hidden = name !== "batch" && (!limit || limit[1]);
    const slider = form.elements[`${name}_slider`];
    slider.max = Math.ceil(Math.log2(most) * STEPS);
    if (Number(form.elements[name].value) > most) form.elements[name].value = most;
    form.elements[name].max = most;
    slider.value = Math.round(Math.log2(Math.max(1, Number(form.elements[name].value))) * STEPS);
  }
  for (const option of form.elements.phase.options) {
    option.disabled = !(option.value in data.models[what.model].phases);
  }
}

// --- numbers ---

function text(number) {
  return number.toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

function about(number, unit) {
  const names = unit === "bytes" ? ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] : ["", "k", "M", "G", "T", "P", "E", "Z"];
  const base = unit === "bytes" ? 1024n : 1000n;
  let place = 0;
  let scaled = number * 100n;
  while (scaled >= base * 100n && place < names.length - 1) {
    scaled /= base;
    place += 1;
  }
  const shown = (Number(scaled) / 100).toFixed(place ? 2 : 0);
  return place ? `${shown} ${names[place]}${unit === "bytes" ? "B" : ""}` : "";
}

function part(name, content, properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...[content].flat());
  return made;
}

function row(path, [number, latex], unit, largest) {
  const name = path.replace(/^\w+\.(components\.|terms\.)?/, "").replaceAll(".", ": ").replaceAll("_", " ");
  const button = part("button", name, { type: "button", className: "formula" });
  button.dataset.path = path;
  button.setAttribute("aria-expanded", String(opened.has(path)));
  button.addEventListener("click", () => {
    if (!opened.delete(path)) opened.add(path);
    update();
    table.querySelector(`[data-path="${path}"]`)?.focus(); // the table was made anew
  });
  const bar = part("span", [], { className: "bar" });
  bar.style.width = largest > 0n ? `${Number((number * 1000n) / largest) / 10}%` : "0";
  // the exact number, and about how large it is
  const cells = [
    part("th", button, { scope: "row" }),
    part("td", text(number), { className: "number" }),
    part("td", about(number, unit), { className: "number about" }),
    part("td", bar, { className: "bars" }),
  ];
  const rows = [part("tr", cells)];
  if (opened.has(path)) {
    const cell = part("td", [], { colSpan: 4 });
    const box = part("div", [], { className: "display" });
    katex.render(latex, box, { displayMode: true, throwOnError: false, strict: "ignore" });
    cell.append(box);
    rows.push(part("tr", cell));
  }
  return rows;
}

function group(name, unit, found) {
  const rows = Object.entries(found).filter(([path, [number]]) => path.startsWith(`${name}.`) && number > 0n);
  const largest = rows.reduce((most, [, [number]]) => (number > most ? number : most), 0n);
  const head = part("tr", part("th", unit, { colSpan: 4, scope: "rowgroup" }));
  return part("tbody", [head, ...rows.flatMap(([path, value]) => row(path, value, unit, largest))]);
}

function update() {
  adjusted(asked());
  const what = asked();
  try {
    const found = counted(data, what);
    table.replaceChildren(part("table", Object.entries(GROUPS).map(([name, unit]) => group(name, unit, found))));
    message.hidden = true;
    toAddress(what);
  } catch (error) {
    table.replaceChildren();
    message.textContent = error.message;
    message.hidden = false;
  }
}

form.addEventListener("input", (event) => {
  const name = event.target.name.replace("_slider", "");
  if (name !== event.target.name) {
    form.elements[name].value = numberAt(Number(event.target.value), Number(form.elements[name].max) || GREATEST[name]);
  }
  update();
});
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", () => {
  fromAddress();
  update();
});
fromAddress();
update();
