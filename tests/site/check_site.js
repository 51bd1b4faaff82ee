// Opens the pages of a site in Chromium and reports what is wrong with them.
//
// argv[2] the folder whose node_modules has playwright-core and axe-core; argv[3] the program Chromium
// stdin   JSON: {"folder": "...", "pages": ["index.html", ...], "looked_at": [...], "pictures": "..." or null,
//         "judged": ["a document", ...], "hostile": [...], "endless": "...", "configuration": "...",
//         "functions": [["text", "shapes", "layer"], ...] or null where the site has no NumPy}
// stdout  JSON: {"faults": ["...", ...], "opened": 12, "found": [...], "counts": {...}, "judgements": {...}, ...}
//
// All pages are opened as files at a phone's width; those looked at also from a server, at both widths and in both
// themes, and by axe.
"use strict";

const fs = require("fs");
const http = require("http");
const path = require("path");
const { pathToFileURL } = require("url");

const [, , modules, program] = process.argv;
const { chromium } = require(path.resolve(modules, "node_modules", "playwright-core"));
const AXE = fs.readFileSync(path.resolve(modules, "node_modules", "axe-core", "axe.min.js"), "utf8");
const asked = JSON.parse(fs.readFileSync(0, "utf8"));
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml" };
TYPES[".wasm"] = "application/wasm";
const PHONE = { width: 360, height: 740 };
const DESK = { width: 1200, height: 900 };
const WORKERS = "default-src 'none'; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
const TABS = 3;
const PATIENCE = 300_000; // nothing fails because a machine is busy
const faults = [];

const server = http.createServer((request, response) => {
  const file = path.join(asked.folder, decodeURIComponent(new URL(request.url, "http://x").pathname));
  if (!file.startsWith(asked.folder) || !fs.existsSync(file)) return response.writeHead(404).end();
  const headers = { "content-type": TYPES[path.extname(file)] ?? "application/octet-stream" };
  if (path.basename(file) === "judge_worker.js") headers["content-security-policy"] = WORKERS; // as docs/site.md advises
  return response.writeHead(200, headers).end(fs.readFileSync(file));
});

async function tab(browser, options, home) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`${page.url()}: console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`${page.url()}: error: ${error.message}`));
  page.on("request", (request) => {
    const own = [home, "data:", "about:"].some((start) => request.url().startsWith(start));
    if (!own) faults.push(`outside: ${request.url()}`);
  });
  page.on("requestfailed", (request) => {
    const { errorText } = request.failure(); // what is still loading when the next page is opened is aborted
    if (errorText !== "net::ERR_ABORTED") faults.push(`failed: ${request.url()}: ${errorText}`);
  });
  return page;
}

async function looked(page, name) {
  const { wide, errors, late } = await page.evaluate(() => {
    document.querySelectorAll("details").forEach((each) => (each.open = true));
    document.querySelectorAll(".later").forEach(set);
    return {
      wide: document.documentElement.scrollWidth - innerWidth,
      errors: document.querySelectorAll(".katex-error").length,
      late: document.querySelectorAll(".later").length,
    };
  });
  if (wide > 0) faults.push(`${name}: ${wide} pixels wider than the screen`);
  if (errors || late) faults.push(`${name}: ${errors} formulas with an error, ${late} not set`);
}

async function allPages(browser) {
  const home = pathToFileURL(asked.folder).href;
  const waiting = [...asked.pages];
  const work = async () => {
    const page = await tab(browser, { viewport: PHONE }, home);
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      await page.goto(`${home}/${name}`);
      await looked(page, name);
    }
    await page.context().close();
  };
  await Promise.all(Array.from({ length: TABS }, work));
}

async function closely(browser, home) {
  for (const viewport of [PHONE, DESK]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await tab(browser, { viewport, colorScheme, bypassCSP: true }, home); // axe is put into the page
      for (const name of asked.looked_at) {
        await page.goto(`${home}/${name}`);
        await page.waitForTimeout(100);
        if (asked.pictures) {
          const file = `${name.replace(/\W/g, "_")}_${viewport.width}_${colorScheme}.png`;
          await page.screenshot({ path: path.join(asked.pictures, file) });
        }
        await page.evaluate(AXE);
        const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
        for (const { id, impact, nodes } of violations) {
          if (["serious", "critical"].includes(impact)) {
            faults.push(`${name} ${viewport.width} ${colorScheme}: axe: ${id}: ${nodes[0].html.slice(0, 160)}`);
          }
        }
      }
      await page.context().close();
    }
  }
}

async function used(browser, home) {
  const page = await tab(browser, { viewport: DESK, permissions: ["clipboard-read", "clipboard-write"] }, home);
  await page.goto(`${home}/index.html`);
  await page.fill("#search", "sofmax jacobain");
  const near = await page.textContent("#found");
  await page.fill("#search", "softmax jacobian");
  const found = await page.locator("#found li").allTextContents();
  await page.press("#search", "Enter");
  await page.waitForURL(/results\//);
  const opened = page.url().slice(home.length + 1);
  await page.click("text=Copy LaTeX");
  await page.waitForSelector("button.done");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  await page.click("summary >> nth=0");
  await page.waitForSelector("details[open] .katex-html");
  if (asked.pictures) {
    await page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = true)));
    await page.setViewportSize({ width: 960, height: 800 });
    await page.waitForTimeout(300);
    await page.screenshot({ path: path.join(asked.pictures, "site.png") }); // the README's, in docs/
    await page.setViewportSize(DESK);
  }
  await page.goto(`${home}/results/softmax.jacobian.html#step-1-2`);
  await page.waitForSelector("#step-1-2[open]");
  await page.click("#step-1-3 summary");
  await page.waitForFunction(() => location.hash === "#step-1-3");
  await page.goto(`${home}/results/layer_norm.jacobian.html`);
  await page.selectOption("#letters", "columns");
  const written = await page.locator(".display annotation").first().textContent();
  await page.click("text=Copy Markdown");
  await page.waitForSelector("button.done");
  const inColumns = await page.evaluate(() => navigator.clipboard.readText());
  await page.goto(`${home}/calculator.html#model=gemma-2-9b&phase=decode&batch=2&seq=8192&dtype=float32`);
  const counts = await shownCounts(page);
  await page.locator("input[name=seq_slider]").fill("64");
  await page.waitForFunction(() => location.hash.includes("seq=16&") || location.hash.endsWith("seq=16"));
  await page.click("#counts button >> nth=0");
  await page.waitForSelector("#counts .term .katex");
  const one = await configured(page, asked.configuration);
  const shared = await linked(page, home, await page.evaluate(() => location.hash));
  const damaged = await linked(page, home, "#model=config.json&config=7VtLb");
  const endless = await linked(page, home, await page.evaluate(async (text) => {
    const bytes = await through(new CompressionStream("deflate-raw"), text, Infinity);
    return `#model=config.json&config=${btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_")}`;
  }, " ".repeat(4_000_000)));
  const refused = await configured(page, '{"model_type": "llama"}');
  const hostile = "<img src=x onerror=alert(1)>".repeat(40000); // about 1 MB
  await page.fill("#search", hostile);
  await page.goto(`${home}/calculator.html#model=${encodeURIComponent("<script>alert(1)</script>")}`);
  await page.waitForSelector("#counts table");
  await page.context().close();
  return { found, near, opened_result: opened, copied, counts, written, in_columns: inColumns, configured: one, linked: { shared, damaged, endless }, misconfigured: refused };
}

// Pastes a config.json, and returns what the page says of it and the numbers that it shows then.
async function configured(page, text) {
  await page.fill("#config", text);
  await page.click("#read");
  await page.waitForFunction(() => /^(Read|Not read):/.test(document.getElementById("reading").textContent));
  return { said: await page.textContent("#reading"), counts: await shownCounts(page), fits: await page.textContent("#fits") };
}

// Opens the calculator at an address that carries a model, in a page that knows nothing of it.
async function linked(page, home, hash) {
  await page.goto("about:blank");
  await page.goto(`${home}/calculator.html${hash}`);
  await page.waitForSelector("#counts table");
  return { said: await page.textContent("#reading"), counts: await shownCounts(page) };
}

function shownCounts(page) {
  return page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll("#counts button")].map((button) => [
        button.dataset.path,
        button.closest("tr").querySelector(".number").textContent.replaceAll(",", ""),
      ]),
    ),
  );
}

// The judge of the page: documents as the page asks for them, then what a reader does, and what an enemy pastes.
async function judged(browser, home) {
  const page = await tab(browser, { viewport: DESK }, home);
  await page.goto(`${home}/judge.html`);
  const answers = [];
  const begin = Date.now();
  await page.click("#document .ask");
  await page.waitForSelector(".verdicts li");
  const cold = Date.now() - begin;
  const marks = await page.locator(".judged mark").evaluateAll((found) => found.map((each) => each.className));
  const badges = await page.locator(".verdicts .badge").allTextContents();
  await page.click(".verdicts button.line >> nth=2");
  const line = await page.evaluate(() => getSelection().toString());
  const hidden = [];
  for (const name of ["document", "equation"]) {
    await page.click(`#${name} .ask`);
    await page.waitForFunction((each) => !document.querySelector(`#${each} .ask`).disabled, name);
    await page.waitForTimeout(200);
    for (const place of [`#${name} .ask`, "#status", "#verdicts .facts"]) {
      const { top, bottom } = await page.locator(place).first().evaluate((found) => found.getBoundingClientRect());
      if (top < 0 || bottom > DESK.height) hidden.push(`${name}: ${place}`);
    }
  }
  for (const text of asked.judged) {
    answers.push(await page.evaluate((each) => judge.ask("document", each, "markdown"), text));
  }
  const wrong = await page.evaluate(() => judge.ask("equation", "A B", "B A", "A: n x n\nB: n x n"));
  const refused = await page.evaluate(() => judge.ask("equation", "A", "B", "A").catch((error) => error.message));
  for (const text of asked.hostile) {
    await page.evaluate((each) => (document.forms.document.elements.text.value = each), text);
    await page.click("#document .ask");
    await page.waitForFunction(() => !document.querySelector("#document .ask").disabled);
    if (await page.evaluate(() => document.querySelector("#verdicts script, #verdicts img, [onerror]"))) {
      faults.push(`what was pasted became a part of the page: ${text.slice(0, 40)}`);
    }
  }
  await page.evaluate((each) => (document.forms.document.elements.text.value = each), asked.endless);
  await page.click("#document .ask");
  await page.click("#stop");
  await page.waitForFunction(() => document.getElementById("status").textContent === "Not judged: stopped");
  await page.context().close();
  return { cold, marks, badges, line, hidden, answers, wrong, refused };
}

// The form of functions: what it shows of the function that stands in it, answers about others, and Stop.
async function followed(browser, home) {
  const page = await tab(browser, { viewport: PHONE }, home);
  await page.goto(`${home}/judge.html`);
  const begin = Date.now();
  await page.click("#function .ask");
  await page.waitForSelector("#verdicts .badge");
  const cold = Date.now() - begin;
  await page.waitForFunction(() => !document.querySelector("#function .ask").disabled);
  await looked(page, "judge.html with a function");
  const facts = await page.locator("#verdicts .facts").allTextContents();
  const copied = await page.locator("#verdicts button").evaluateAll((found) => found.map((each) => each.dataset.copy));
  const answers = [];
  for (const given of asked.functions) {
    const both = (each) => Promise.all(["function", "gradient"].map((name) => runner.ask(name, ...each)));
    answers.push(await page.evaluate(both, given));
  }
  const pasted = async (text) => {
    await page.fill("#function [name=text]", text);
    await page.selectOption("#function select", "softmax");
    await page.click("#function .ask");
  };
  await pasted('def f(x):\n    raise ValueError("<img src=x onerror=alert(1)>")\n');
  await page.waitForFunction(() => !document.querySelector("#function .ask").disabled);
  const raised = await page.textContent("#verdicts");
  if (await page.evaluate(() => document.querySelector("#verdicts img"))) faults.push("an error became a part of the page");
  await pasted("def f(x):\n    while True:\n        pass\n");
  await page.waitForTimeout(500);
  await page.click("#stop");
  await page.waitForFunction(() => document.getElementById("status").textContent === "Not judged: stopped");
  await page.fill("#search", "softmax jacobian"); // the script of every page goes on beside that of the judge
  await page.waitForSelector("#found li");
  await page.context().close();
  for (const viewport of [PHONE, DESK]) await shownAnswer(browser, home, viewport, answers[0]);
  return { cold, facts, copied, answers, raised };
}

// Puts an answer into a page of which axe may be a part, and looks at it.
async function shownAnswer(browser, home, viewport, answers) {
  const page = await tab(browser, { viewport, bypassCSP: true }, home);
  await page.goto(`${home}/judge.html`);
  await page.evaluate(([found, slope]) => add([...lifted(found), ...backward(slope)]), answers);
  await looked(page, `judge.html with an answer at ${viewport.width}`);
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  for (const { id, nodes } of violations) faults.push(`an answer ${viewport.width}: axe: ${id}: ${nodes[0].html}`);
  if (asked.pictures) {
    await page.screenshot({ path: path.join(asked.pictures, `function_${viewport.width}.png`), fullPage: true });
  }
  await page.context().close();
}

async function inPython(browser, home) {
  const judgements = await judged(browser, home);
  return { judgements, followed: asked.functions && (await followed(browser, home)) };
}

(async () => {
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const home = `http://127.0.0.1:${server.address().port}`;
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  const read = async () => {
    await allPages(browser);
    await closely(browser, home);
    return used(browser, home);
  };
  const [seen, found] = await Promise.all([read(), inPython(browser, home)]); // Python keeps one core busy
  await browser.close();
  server.close();
  process.stdout.write(JSON.stringify({ faults, opened: asked.pages.length, ...seen, ...found }));
})();
