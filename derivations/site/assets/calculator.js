// The page of the calculator: fields, numbers, bars; what is asked stands in the address, so that a link shows the same.
"use strict";

const data = globalThis.CALCULATOR;
const form = document.getElementById("calculator");
const table = document.getElementById("counts");
const message = document.getElementById("message");
const NUMBERS = ["batch", "seq", "source"];
const GREATEST = { batch: 65536, seq: 1048576, source: 1048576 };
const STEPS = 16; // of a slider, between a number and its double
const GROUPS = { parameters: "parameters", flops: "FLOPs", memory: "bytes of the whole model", fit: "bytes on each device" };
const OWN = "config.json"; // the model of the reader's
const opened = new Set();
let carried = ""; // what stands for that model in the address

// --- what is asked ---

function isNumber(text) {
  return Number.isInteger(Number(text)) && Number(text) >= 1;
}

function asked() {
  const fields = Object.fromEntries(new FormData(form));
  const numbers = NUMBERS.map((name) => [name, isNumber(fields[name]) ? Number(fields[name]) : 1]);
  return { ...fields, ...Object.fromEntries(numbers) };
}

function fromAddress(hash) {
  const given = new URLSearchParams(hash.slice(1));
  const usual = { model: "gpt2", phase: "forward", dtype: "", batch: "1", seq: "1024", source: "1024", device: "h100", ranks: "1" };
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
  if (what.device !== "h100") shown.device = what.device;
  if (what.ranks !== "1") shown.ranks = what.ranks;
  if (what.model === OWN && carried) shown.config = carried;
  history.replaceState(null, "", `#${new URLSearchParams(shown)}`);
}

// --- sliders: each step multiplies by the same ---

function numberAt(position, most) {
  const number = 2 ** (position / STEPS);
  return Math.min(most, number < 64 ? Math.round(number) : Math.round(number / 8) * 8);
}

function remark(name, words) {
  const place = document.getElementById(`remark_${name}`);
  place.textContent = words;
  place.hidden = !words;
}

function adjusted(what) {
  const model = data.models[what.model];
  const limits = model.limits[what.phase] ?? {};
  for (const name of NUMBERS) {
    const limit = { seq: limits.n, source: limits.m }[name];
    const most = limit?.[0] ?? GREATEST[name];
    document.getElementById(`field_${name}`).hidden = name !== "batch" && (!limit || limit[1]);
    const field = form.elements[name];
    const slider = form.elements[`${name}_slider`];
    let words = "";
    if (!isNumber(field.value)) words = "A whole number from 1 on is needed: counted with 1.";
    else if (Number(field.value) > most) {
      words = `${text(field.value)} is too many: ${limit?.[0] ? "its table of positions has" : "this page counts up to"} ${text(most)}.`;
      field.value = most;
    } else if (name === "seq" && model.made_for && Number(field.value) > model.made_for[0]) {
      words = `${model.made_for[1][0].toUpperCase()}${model.made_for[1].slice(1)}.`;
    }
    remark(name, words);
    slider.max = Math.ceil(Math.log2(most) * STEPS);
    field.max = most;
    slider.value = Math.round(Math.log2(Math.max(1, Number(field.value))) * STEPS);
  }
  for (const option of form.elements.phase.options) option.disabled = !(option.value in model.phases);
  for (const option of form.elements.ranks.options) {
    option.disabled = !(option.value in model.plans[data.purposes[what.phase]]);
  }
}

// --- numbers ---

function text(number) {
  return number.toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

function part(name, content, properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...[content].flat());
  return made;
}

function nameOf(path, phase) {
  const name = path.replace(/^\w+\.(components\.|terms\.)?/, "");
  const [, misread] = data.on_devices[data.purposes[phase]];
  const words = path.startsWith("fit.") ? misread[name] : data.quantities[path]?.[0];
  return words ?? name.replaceAll(".", ": ").replaceAll("_", " ");
}

function row(path, { number, terms }, what, largest) {
  const button = part("button", nameOf(path, what.phase), { type: "button", className: "formula" });
  button.dataset.path = path;
  button.setAttribute("aria-expanded", String(opened.has(path)));
  button.addEventListener("click", () => {
    if (!opened.delete(path)) opened.add(path);
    update();
    table.querySelector(`[data-path="${path}"]`)?.focus(); // the table was made anew
  });
  const bar = part("span", [], { className: "bar" });
  bar.style.width = largest > 0n ? `${Number((number * 1000n) / largest) / 10}%` : "0";
  const short = about(number, /^(memory|fit)/.test(path) ? "B" : "");
  // the exact number, and about how large it is, which stands for it where a screen is narrow
  const cells = [
    part("th", button, { scope: "row" }),
    part("td", text(number), { className: short ? "number exact" : "number" }),
    part("td", short, { className: short ? "number about" : "number about none" }),
    part("td", bar, { className: "bars" }),
  ];
  const rows = [part("tr", cells)];
  if (opened.has(path)) {
    const cell = part("td", [], { colSpan: 4 });
    cell.append(formula(terms, number), key(terms, what));
    rows.push(part("tr", cell));
  }
  return rows;
}

function typeset(latex) {
  const place = part("span", []);
  katex.render(latex, place, { throwOnError: false, strict: "ignore" });
  return place;
}

// What the letters of a formula stand for, with their numbers.
function key(terms, what) {
  const sizes = sizesOf(data, what);
  const rows = [...new Set(terms.flatMap(([, , names]) => names))].map((name) => {
    const [latex, meaning] = data.letters[name] ?? [name, ""];
    return part("li", [typeset(latex), ` = ${text(sizes[name])}${meaning && `, ${meaning}`}`]);
  });
  return part("ul", rows, { className: "key" });
}

// The formula in use: each term is the darker the larger its share, which is written below it.
function formula(terms, total) {
  const box = part("div", [], { className: "wide terms" });
  for (const [place, [number, latex]] of terms.entries()) {
    const sign = place && !latex.startsWith("-") ? "+ " : "";
    const share = total > 0n && terms.length > 1 ? Number((number * 1000n) / total) / 10 : 100;
    const shown = part("span", [], { className: "term", title: text(number) });
    const percent = part("small", terms.length > 1 ? `${share.toFixed(1)} %` : "");
    shown.style.setProperty("--share", `${Math.max(0, Math.min(60, share * 0.6))}%`);
    shown.append(typeset(sign + latex), percent);
    box.append(shown);
  }
  return box;
}

// The command that says the same.
function command(what) {
  const limits = data.models[what.model].limits[what.phase] ?? {};
  const options = [["gpu", what.device]];
  if (limits.n && !limits.n[1]) options.push(["seq", what.seq]);
  if (limits.m && !limits.m[1]) options.push(["source", what.source]);
  if (what.batch > 1) options.push(["batch", what.batch]);
  if (what.dtype) options.push(["weights", what.dtype]);
  if (what.ranks !== "1") options.push(["tensor", what.ranks]);
  const train = data.purposes[what.phase] === "training" ? " --train" : "";
  return `derivations fit ${what.model}${train}${options.map(([name, value]) => ` --${name} ${value}`).join("")}`;
}

function verdict(parts, what) {
  const place = document.getElementById("fits");
  const [, title, memory] = data.devices.find(([name]) => name === what.device);
  if (!parts) {
    place.textContent = `No verdict: ${planned(data, what)}.`;
    return;
  }
  const needed = Object.values(parts).reduce((sum, { number }) => sum + number, 0n);
  const fits = needed <= BigInt(memory);
  const badge = part("span", fits ? "fits" : "does not fit", { className: `badge ${fits ? "proved" : "refuted"}` });
  const on = what.ranks === "1" ? title : `each of ${what.ranks} × ${title}`;
  const bytes = (number) => `${about(number, "B")} (${text(number)} bytes)`;
  const [purpose] = data.on_devices[data.purposes[what.phase]];
  const weights = what.dtype ? `weights in ${what.dtype}` : "weights as stored";
  const said = ` on ${on}: ${purpose}, ${weights}, takes ${bytes(needed)} of ${bytes(BigInt(memory))}. `;
  place.replaceChildren(badge, said, part("code", command(what)));
}

function group(name, unit, found, what) {
  const ofPhase = (path) => data.quantities[path]?.[1].includes(what.phase) ?? true;
  const rows = Object.entries(found).filter(
    ([path, { number }]) => path.startsWith(`${name}.`) && number > 0n && ofPhase(path),
  );
  if (!rows.length) return "";
  const largest = rows.reduce((most, [, { number }]) => (number > most ? number : most), 0n);
  const head = part("tr", part("th", unit, { colSpan: 4, scope: "rowgroup" }));
  return part("tbody", [head, ...rows.flatMap(([path, value]) => row(path, value, what, largest))]);
}

function update() {
  adjusted(asked());
  const what = asked();
  try {
    const parts = fitted(data, what);
    const found = { ...counted(data, what), ...parts };
    verdict(parts, what);
    table.replaceChildren(part("table", Object.entries(GROUPS).map(([name, unit]) => group(name, unit, found, what))));
    message.hidden = true;
    toAddress(what);
  } catch (error) {
    table.replaceChildren();
    document.getElementById("fits").replaceChildren();
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
addEventListener("hashchange", start);

// --- a model of the reader's: the package reads it, and hands over its forms ---

const config = document.getElementById("config");

function added({ model, forms, parts, letters }, name) {
  for (const [phase, place] of Object.entries(model.phases)) model.phases[phase] = place + data.forms.length;
  for (const each of [model.plans, model.stored ?? {}].flatMap(Object.values)) {
    for (const [ranks, place] of Object.entries(each)) {
      if (typeof place === "number") each[ranks] = place + data.parts.length;
    }
  }
  data.forms.push(...forms);
  data.parts.push(...parts);
  Object.assign(data.letters, letters);
  data.models[name] = model;
  const field = form.elements.model;
  if (![...field.options].some((option) => option.value === name)) field.append(part("option", name, { value: name }));
  field.value = name;
}

async function reading() {
  const state = document.getElementById("reading");
  state.textContent = "Reading …";
  try {
    const text = config.value;
    added(await reader.ask("model", text), OWN);
    carried = await packed(text);
    const kept = carried ? "" : " It is too long for the address, which does not hold it.";
    state.textContent = `Read: it is the model ${OWN} above.${kept}`;
    update();
  } catch (error) {
    state.textContent = `Not read: ${error.message}`;
  }
}

// What an address asks; a model in it is read first.
async function start() {
  const hash = location.hash;
  const code = new URLSearchParams(hash.slice(1)).get("config") ?? "";
  if (config && code && code !== carried) {
    message.textContent = `The ${OWN} of the address is read …`;
    message.hidden = false;
    try {
      config.value = await unpacked(code);
      await reading();
    } catch {
      document.getElementById("reading").textContent = `Not read: the address holds no ${OWN}, or half of one.`;
    }
  }
  fromAddress(hash);
  update();
}

const reader = config && new Judge((told) => (document.getElementById("reading").textContent = `${told} …`));
if (config) {
  document.getElementById("read").addEventListener("click", reading);
  config.addEventListener("dragover", (event) => event.preventDefault());
  config.addEventListener("drop", async (event) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    config.value = await file.text();
    reading();
  });
}

start();
