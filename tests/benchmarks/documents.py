"""How long `derivations check` takes: claims a second, the time over the length of a document, and a cold start.

The documents are written here: sections of varied formulas, right and wrong, in which the numbers and the letters
change from section to section. Long ones are timed by the processor, the cold start by the processor and by the clock.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from derivations.documents.checking import check_text

__all__ = ["LENGTHS", "cold", "measured", "section", "text_of", "warm"]

LENGTHS = (100_000, 1_000_000, 10_000_000)  # characters
MATRICES = "ABCDEFGHMPRSTUVWXYZ"
SECTION = r"""## Section {number}

Let ${X} \in \mathbb{{R}}^{{n \times d_{{model}}}}$ hold the {number} rows that follow, with $d_{{model}} = {width}$ and
$h = {heads}$ heads, so that each head has $d_k = d_{{model}} / h = {share}$ columns.

$$
Q = {X} W_Q, \quad K = {X} W_K, \quad V = {X} W_V
$$

where $W_Q, W_K, W_V \in \mathbb{{R}}^{{d_{{model}} \times d_k}}$. The weights of number {number} are

$$
A = \text{{softmax}}\left(\frac{{Q K^T}}{{\sqrt{{d_k}}}}\right),
\qquad y_i = \frac{{e^{{x_i}}}}{{\sum_{{j=1}}^{{n}} e^{{x_j}}}}
$$

- The four projections have $4 \times {width}^2 = {projections}$ weights.
- The scale is $\sqrt{{{share}}} \approx {root:.3f}$, and $\frac{{{number}}}{{{width}}} \approx {quotient:.4f}$.
- A row adds up: $0.{tenth} + 0.{rest} = 1$, and ${number} + {heads} = {wrong}$ does not.

| part | shape | entries |
|---|---|---|
| ${X}$ | $n \times {width}$ | ${heads} \times {width} = {product}$ |

```
y = {X} * w + b
flops = 2 * {heads} * {width} = {flops}
```
"""


def section(number: int) -> str:
    """Return a section of a document; no two numbers give the same."""
    heads, share = 2 + number % 7, 16 * (1 + number % 11)
    width = heads * share
    tenth = 1 + number % 9
    return SECTION.format(
        number=number,
        X=MATRICES[number % len(MATRICES)],
        heads=heads,
        share=share,
        width=width,
        projections=4 * width**2,
        root=share**0.5,
        quotient=number / width,
        tenth=tenth,
        rest=10 - tenth,
        wrong=number + heads + 1,
        product=heads * width,
        flops=2 * heads * width,
    )


def text_of(length: int, first: int = 0) -> str:
    """Return a document of about so many characters, from a section on."""
    sections: list[str] = []
    written = 0
    while written < length:
        sections.append(section(first + len(sections)))
        written += len(sections[-1])
    return "\n".join(sections)


def measured(lengths: tuple[int, ...] = LENGTHS) -> dict[str, Any]:
    """Return claims and seconds for documents of growing length, and the seconds of a cold start."""
    return {"cold": cold(), "lengths": [warm(length) for length in lengths]}


def warm(length: int) -> dict[str, float]:
    """Return the claims of a document of about so many characters and the seconds that they take, after the imports."""
    check_text(section(0), "markdown")  # what the first formula imports
    text = text_of(length)
    begun = time.process_time()
    report = check_text(text, "markdown")
    return {"characters": len(text), "claims": len(report.claims), "seconds": time.process_time() - begun}


def cold(documents: int = 5, length: int = 12_000) -> dict[str, float]:
    """Return the seconds of `derivations check` on new documents in new processes, imports included."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"document{number}.md" for number in range(documents)]
        for number, path in enumerate(paths):
            path.write_text(text_of(length, first=1000 * number), encoding="utf-8")
        command = [sys.executable, "-m", "derivations.cli", "check", *map(str, paths), "--jobs", "2"]
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"derivations check failed: {done.stderr[-400:]}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"documents": documents, "characters": length, "seconds": seconds, "processor": processor}
