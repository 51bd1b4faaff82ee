// Times a site in Chromium.
//
// argv[2] the folder whose node_modules has playwright-core; argv[3] the program Chromium
// stdin   JSON: {"folder": "...", "pages": [...], "models": [...], "cold": 5, "equations": [[...], ...], "documents": [...]}
// stdout  JSON: milliseconds by what they are of
"use strict";

const fs = require("fs");
const http = require("http");
const path = require("path");

const [, , modules, program] = process.argv;
const { chromium } = require(path.resolve(modules, "node_modules", "playwright-core"));
const asked = JSON.parse(fs.readFileSync(0, "utf8"));
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml" };
TYPES[".wasm"] = "application/wasm";

const server = http.createServer((request, response) => {
  const file = path.join(asked.folder, decodeURIComponent(new URL(request.url, "http://x").pathname));
  if (!file.startsWith(asked.folder) || !fs.existsSync(file)) return response.writeHead(404).end();
  const content = fs.readFileSync(file);
  const type = TYPES[path.extname(file)] ?? "application/octet-stream";
  return response.writeHead(200, { "content-type": type, "content-length": content.length }).end(content);
});

async function fresh(browser, work) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
  const found = await work(await context.newPage());
  await context.close();
  return found;
}

function painted(page) {
  return page.evaluate(
    () =>
      new Promise((seen) => {
        new PerformanceObserver((list) => {
          const entry = list.getEntriesByName("first-contentful-paint")[0];
          if (entry) seen(entry.startTime);
        }).observe({ type: "paint", buffered: true });
      }),
  );
}

// Every place of the slider of the length once: from the event until what it changed is laid out.
function slid(page) {
  return page.evaluate(() => {
    const slider = document.querySelector("input[name=seq_slider]");
    const times = [];
    for (let place = 0; place <= Number(slider.max); place += 1) {
      slider.value = place;
      const begin = performance.now();
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      document.body.getBoundingClientRect();
      times.push(performance.now() - begin);
    }
    return times;
  });
}

function timed(page, name, questions) {
  return page.evaluate(
    async ([question, all]) => {
      const times = [];
      for (const each of all) {
        const begin = performance.now();
        await judge.ask(question, ...each);
        times.push(performance.now() - begin);
      }
      return times;
    },
    [name, questions],
  );
}

(async () => {
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const home = `http://127.0.0.1:${server.address().port}`;
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  const found = { "first paint of a result": [], "answer of a slider": [], "cold judge": [] };
  for (const name of asked.pages) {
    const time = await fresh(browser, async (page) => {
      await page.goto(`${home}/${name}`);
      return painted(page);
    });
    found["first paint of a result"].push(time);
  }
  for (const model of asked.models) {
    const times = await fresh(browser, async (page) => {
      await page.goto(`${home}/calculator.html#model=${model}`);
      await page.waitForSelector("#counts table");
      return slid(page);
    });
    found["answer of a slider"].push(...times);
  }
  for (let count = 0; count < asked.cold; count += 1) {
    await fresh(browser, async (page) => {
      await page.goto(`${home}/judge.html`);
      const begin = Date.now();
      await page.click("#document .ask");
      await page.waitForSelector(".verdicts li", { timeout: 120_000 });
      found["cold judge"].push(Date.now() - begin);
      if (count < asked.cold - 1) return;
      found["warm judge, one equation"] = await timed(page, "equation", asked.equations);
      const documents = asked.documents.map((text) => [text, "markdown"]);
      found["warm judge, a document"] = await timed(page, "document", documents);
    });
  }
  await browser.close();
  server.close();
  process.stdout.write(JSON.stringify(found));
})();
