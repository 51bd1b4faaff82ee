// The page of the calculator: fields, numbers, bars; what is asked stands in the address, so that a link shows the same.
"use strict";

const data = globalThis.CALCULATOR;
const form = document.getElementById("calculator");
const table = document.getElementById("counts");
const message = document.getElementById("message");
const NUMBERS = ["batch", "seq", "source"];
const GREATEST = { batch: 65536, seq: 1048576, source: 1048576 };
const STEPS = 16; // of a slider, between a number and its double
const GROUPS = { parameters: "parameters", flops: "FLOPs", memory: "bytes", fit: "bytes on each device" };
const OWN = "config.json"; // the model of the reader's
const opened = new Set();
let carried = ""; // what stands for that model in the address

// --- what is asked ---

function asked() {
  const fields = Object.fromEntries(new FormData(form));
  const number = (name) => Math.max(1, Math.floor(Number(fields[name])) || 1);
  return { ...fields, batch: number("batch"), seq: number("seq"), source: number("source") };
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
  for (const option of form.elements.ranks.options) {
    option.disabled = !(option.value in data.models[what.model].ranks);
  }
}

// --- numbers ---

function text(number) {
  return number.toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

function about(number, unit) {
  const names = unit.startsWith("bytes") ? ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] : ["", "k", "M", "G", "T", "P", "E", "Z"];
  const base = unit.startsWith("bytes") ? 1024n : 1000n;
  let place = 0;
  let scaled = number * 100n;
  while (scaled >= base * 100n && place < names.length - 1) {
    scaled /= base;
    place += 1;
  }
  const shown = (Number(scaled) / 100).toFixed(place ? 2 : 0);
  return place ? `${shown} ${names[place]}${unit.startsWith("bytes") ? "B" : ""}` : "";
}

function part(name, content, properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...[content].flat());
  return made;
}

function row(path, { number, terms }, unit, largest) {
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
    cell.append(formula(terms, number));
    rows.push(part("tr", cell));
  }
  return rows;
}

// The formula in use: each term is the darker the larger its share, which is written below it.
function formula(terms, total) {
  const box = part("div", [], { className: "wide terms" });
  for (const [place, [number, latex]] of terms.entries()) {
    const sign = place && !latex.startsWith("-") ? "+ " : "";
    const share = total > 0n && terms.length > 1 ? Number((number * 1000n) / total) / 10 : 100;
    const shown = part("span", [], { className: "term", title: text(number) });
    const percent = part("small", terms.length > 1 ? `${share.toFixed(1)} %` : "");
    const set = part("span", []);
    katex.render(sign + latex, set, { throwOnError: false, strict: "ignore" });
    shown.style.setProperty("--share", `${Math.max(0, Math.min(60, share * 0.6))}%`);
    shown.append(set, percent);
    box.append(shown);
  }
  return box;
}

function verdict(parts, what) {
  const place = document.getElementById("fits");
  const [, title, memory] = data.devices.find(([name]) => name === what.device);
  if (!parts) {
    place.textContent = `No plan of serving on ${what.ranks === "1" ? "one device" : `${what.ranks} devices`}.`;
    return;
  }
  const needed = Object.values(parts).reduce((sum, { number }) => sum + number, 0n);
  const fits = needed <= BigInt(memory);
  const badge = part("span", fits ? "fits" : "does not fit", { className: `badge ${fits ? "proved" : "refuted"}` });
  const on = what.ranks === "1" ? title : `each of ${what.ranks} × ${title}`;
  place.replaceChildren(badge, ` on ${on}: ${text(needed)} of ${text(BigInt(memory))} bytes, with weights as stored`);
}

function group(name, unit, found) {
  const rows = Object.entries(found).filter(([path, { number }]) => path.startsWith(`${name}.`) && number > 0n);
  const largest = rows.reduce((most, [, { number }]) => (number > most ? number : most), 0n);
  const head = part("tr", part("th", unit, { colSpan: 4, scope: "rowgroup" }));
  return part("tbody", [head, ...rows.flatMap(([path, value]) => row(path, value, unit, largest))]);
}

function update() {
  adjusted(asked());
  const what = asked();
  try {
    const parts = fitted(data, what);
    const found = { ...counted(data, what), ...parts };
    verdict(parts, what);
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
addEventListener("hashchange", start);

// --- a model of the reader's: the package reads it, and hands over its forms ---

const config = document.getElementById("config");

function added({ model, forms, parts }, name) {
  for (const [phase, place] of Object.entries(model.phases)) model.phases[phase] = place + data.forms.length;
  for (const [ranks, place] of Object.entries(model.ranks)) model.ranks[ranks] = place + data.parts.length;
  data.forms.push(...forms);
  data.parts.push(...parts);
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
