// Asks the package in a worker, which is loaded with the first question; Stop ends it, whatever it is doing.
"use strict";

class Judge {
  static MOST_SECONDS = 120; // for one answer: a formula has its own budget, and a page many formulas

  constructor(told, kind = "") {
    this.told = told; // called with (words, share of the way) while the worker starts
    this.kind = kind; // what the address of the worker ends in
    this.waiting = new Map();
    this.count = 0;
  }

  ask(name, ...given) {
    this.worker ??= this.opened();
    const id = (this.count += 1);
    return new Promise((answered, refused) => {
      const clock = setTimeout(() => this.stop(`no answer in ${Judge.MOST_SECONDS} s`), Judge.MOST_SECONDS * 1000);
      this.waiting.set(id, { answered, refused, clock });
      this.worker.postMessage({ id, ask: name, given });
    });
  }

  opened() {
    if (location.protocol === "file:") {
      throw new Error(
        "A page that is opened as a file may not start Python. Run `python -m http.server` in the folder of this " +
          "site, and open http://localhost:8000/",
      );
    }
    const worker = new Worker(`${document.body.dataset.root}assets/judge_worker.js${this.kind}`);
    worker.addEventListener("message", ({ data }) => this.heard(data));
    worker.addEventListener("error", () => this.stop("Python could not be started"));
    return worker;
  }

  heard({ id, answer, refused, failed, progress, loaded }) {
    if (progress !== undefined) return this.told(progress, loaded);
    if (failed !== undefined) return this.stop(failed);
    const { answered, refused: refuse, clock } = this.waiting.get(id);
    clearTimeout(clock);
    this.waiting.delete(id);
    return refused === undefined ? answered(answer) : refuse(new Error(refused));
  }

  stop(why) {
    this.worker?.terminate();
    this.worker = undefined;
    for (const { refused, clock } of this.waiting.values()) {
      clearTimeout(clock);
      refused(new Error(why));
    }
    this.waiting.clear();
  }
}
