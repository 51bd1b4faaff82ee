"""KaTeX through Node.js: all formulas in one process, and the style sheet and fonts that a site needs.

Source       KaTeX 0.16, https://katex.org, which the user installs: `npm install katex@0.16`
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from derivations.site.formulas import Formula

__all__ = ["Katex", "katex_in"]

PROGRAM = Path(__file__).parent / "assets" / "katex_render.js"
SHIPPED = ("katex.min.css", "katex.min.js", "fonts/*.woff2")  # of the folder dist of the package


@dataclass(frozen=True)
class Katex:
    """Node.js, and the folder of the npm package katex."""

    node: str
    folder: Path

    def __call__(self, formulas: Sequence[Formula]) -> list[str]:
        """Return the HTML of each formula, with MathML in it for screen readers.

        Raises       ValueError that names the first formula which KaTeX does not set
        """
        request = json.dumps([asdict(formula) for formula in formulas])
        command = [self.node, str(PROGRAM), str(self.folder)]
        answer = subprocess.run(command, input=request, capture_output=True, encoding="utf-8", check=False)
        if answer.returncode != 0:
            last = answer.stderr.strip().splitlines()[-1:]
            raise ValueError(f"KaTeX in {self.folder} does not run: {''.join(last)}; install it again")
        found = json.loads(answer.stdout)
        if failures := found["failures"]:
            first = failures[0]
            raise ValueError(f"KaTeX refuses {len(failures)} formulas, first {first['latex']}: {first['message']}")
        html: list[str] = found["html"]
        return html

    def files(self) -> dict[str, bytes]:
        """Return the style sheet, the fonts and the program of KaTeX by their paths in a site."""
        dist = self.folder / "dist"
        paths = [path for pattern in SHIPPED for path in sorted(dist.glob(pattern))]
        return {f"assets/katex/{path.relative_to(dist).as_posix()}": path.read_bytes() for path in paths}


def katex_in(folder: Path) -> Katex:
    """Return KaTeX as installed in `folder`/node_modules.

    Raises       ValueError that says what to install where Node.js or KaTeX is absent
    """
    node, package = shutil.which("node"), folder / "node_modules" / "katex"
    if node is None:
        raise ValueError("a site needs Node.js to set its formulas, and no `node` is on the PATH: install Node.js 18+")
    if not (package / "dist" / "katex.min.css").is_file():
        raise ValueError(
            f"a site needs KaTeX, which is not in {folder / 'node_modules'}: run `npm install katex@0.16` there, or "
            f"name the folder that has it by --katex"
        )
    return Katex(node, package.resolve())
