"""The picture of the idea: `python -m docs.views_picture` draws docs/views.svg, one set of equations and its views.

Every line in it is what the package prints of one layer; a test fails when the picture is stale.
"""

from pathlib import Path
from xml.sax.saxutils import escape

from derivations import get, layer
from derivations.language import count_flops, gradient
from derivations.language.printing.views import latex
from numeric import compile_layer

__all__ = ["PICTURE", "drawn", "views"]

PICTURE = Path(__file__).with_name("views.svg")
LAYER, RESULT = "scaled_dot_product_attention", "attention.weights_sum_to_one"
WIDTH, LINE, GAP, HEAD = 262, 15, 22, 24
COLOURS = ("#dbe9f6", "#e3f1de", "#fde8cf", "#f3e1ee", "#fff4c2", "#e4e4e4")


def views() -> dict[str, list[str]]:
    """Return the lines of each view by its heading; the first is the equations themselves."""
    attention = layer(LAYER)
    proved = get(RESULT)
    flops = count_flops(attention)
    return {
        "one set of equations": _equations(attention.text()),
        "printed as LaTeX": [_unaligned(line) for line in latex(attention).splitlines() if "&=" in line],
        "compiled to NumPy": [
            line.split("#")[0].strip() for line in compile_layer(attention).source.splitlines()[-4:-1]
        ],
        "counted, in FLOPs": [f"products  {flops.matmul}", f"all else  {flops.total - flops.matmul}"],
        "differentiated": _equations(gradient(attention).text())[2:],
        "proved": [*_equations(proved.text()), f"{proved.evidence.level}, for all sizes and values"],
    }


def _equations(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.startswith("    ")]


def _unaligned(line: str) -> str:
    return line.replace("&=", "=").strip().removesuffix("\\\\").strip()


def drawn(shown: dict[str, list[str]]) -> str:
    """Return the picture: the equations on the left, an arrow to each view on the right."""
    (heading, equations), *others = shown.items()
    heights = [HEAD + LINE * len(lines) + 10 for _, lines in others]
    columns = (others[:3], others[3:])
    tops = [_stacked([heights[others.index(each)] for each in column]) for column in columns]
    height = max(column[-1] for column in tops) + GAP
    own = HEAD + LINE * len(equations) + 10
    middle = (height - own) / 2
    parts = [_box(GAP, middle, heading, equations, COLOURS[0])]
    for place, (column, top) in enumerate(zip(columns, tops, strict=True), 1):
        x, shift = GAP + place * (WIDTH + 2 * GAP), (height - GAP - top[-1]) / 2
        for each, y in zip(column, top, strict=False):
            at = others.index(each)
            parts.append(_box(x, y + shift, each[0], each[1], COLOURS[at + 1]))
    parts.append(_arrow(GAP + WIDTH, height / 2))
    width = 3 * WIDTH + 6 * GAP
    return "\n".join([_OPEN.format(width=width, height=f"{height:g}"), *parts, "</svg>", ""])


def _stacked(heights: list[int]) -> list[int]:
    """Return the top of each box of a column, and the bottom of the last."""
    tops = [GAP]
    for height in heights:
        tops.append(tops[-1] + height + GAP)
    return [*tops[:-1], tops[-1] - GAP]


_OPEN = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-size="12">
<title>One set of equations, many views</title>
<rect width="100%" height="100%" fill="white"/>"""


def _arrow(x: float, y: float) -> str:
    return f'<path d="M{x + 8:g} {y - 9:g} l24 9 l-24 9 z" fill="#888"/>'


def _box(x: float, y: float, heading: str, lines: list[str], colour: str) -> str:
    height = HEAD + LINE * len(lines) + 10
    box = f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{height}" rx="6" fill="{colour}" stroke="#555"/>'
    title = f'<text x="{x + 10:g}" y="{y + 18:g}" font-family="sans-serif" font-weight="bold">{heading}</text>'
    font = 'font-family="monospace" font-size="11"'
    texts = [
        f'<text x="{x + 10:g}" y="{y + HEAD + LINE * number:g}" {font}>{escape(line)}</text>'
        for number, line in enumerate(lines, 1)
    ]
    return "\n".join([box, title, *texts])


if __name__ == "__main__":
    PICTURE.write_text(drawn(views()), encoding="utf-8")
