r"""Widths of characters in Computer Modern, the fonts of LaTeX, at ten points; tables in hundredths of a point.

Source       the metric files cmmi10 (letters, with their italic correction), cmr10 (upright), cmsy10, cmex10, msbm10
"""

from string import ascii_lowercase, ascii_uppercase

__all__ = ["SCALES", "italic", "sign", "upright"]

SCALES = (1.0, 1.0, 0.82, 0.74)  # display, text, script, script of a script: 7 and 5 points are cut wider
_DIGIT = 500
_LETTERS = ascii_lowercase + ascii_uppercase
_ITALIC_WIDTHS = """
529 429 433 520 466 597 513 576 344 469 552 318 878 600 485 503 482 479 469 361 572 521 743 572 526 509
750 809 786 856 796 782 786 912 518 651 921 681 1079 912 791 781 791 767 671 723 792 806 1083 907 803 754
"""
_UPRIGHT_WIDTHS = """
500 556 444 556 444 306 500 556 278 306 528 278 833 556 500 556 528 392 394 389 556 528 722 528 528 444
750 708 722 764 681 653 785 750 361 514 778 625 917 750 778 681 778 736 556 722 750 750 1028 750 750 611
"""
_GREEK_LETTERS = r"""
\alpha \beta \gamma \delta \epsilon \zeta \eta \theta \iota \kappa \lambda \mu \nu \xi \pi \rho \sigma \tau \upsilon
\phi \chi \psi \omega \varepsilon \vartheta \Gamma \Delta \Theta \Lambda \Xi \Pi \Sigma \Upsilon \Phi \Psi \Omega
"""
_GREEK_WIDTHS = """
643 618 573 482 406 511 532 497 354 576 583 603 558 484 606 517 607 550 576
596 626 687 658 466 591 625 833 778 694 667 750 722 778 722 778 722
"""
_ITALIC = dict(zip(_LETTERS, map(int, _ITALIC_WIDTHS.split()), strict=True))
_GREEK = dict(zip(_GREEK_LETTERS.split(), map(int, _GREEK_WIDTHS.split()), strict=True))
_UPRIGHT = dict(zip(_LETTERS, map(int, _UPRIGHT_WIDTHS.split()), strict=True)) | {
    **dict.fromkeys("_(),.:;'", 278),
    **{"-": 333, " ": 333, "_": 500, "(": 389, ")": 389},
}
_SIGNS = {
    **dict.fromkeys(("(", ")"), 389),
    **dict.fromkeys(("[", "]", "|", ",", ";", ".", ":", "!", r"\cdot", r"\lvert", r"\rvert"), 278),
    **dict.fromkeys((r"\{", r"\}", r"\lVert", r"\rVert", "*"), 500),
    **dict.fromkeys((r"\to", r"\infty", r"\mapsto", r"\leftrightarrow"), 1000),
    **dict.fromkeys((r"\implies", r"\iff"), 2400),
    **{"'": 300, "/": 500, r"\partial": 587, r"\ell": 417, r"\in": 667, r"\ldots": 1172, r"\cdots": 1172},
    **{r"\wedge": 667, r"\vee": 667, r"\bmod": 2450, r"\top": 778, r"\prime": 275, r"\circ": 500, r"\ast": 500},
    **{r"\_": 500, r"\%": 833, r"\#": 833, r"\&": 778, r"\$": 500, r"\star": 500, r"\intercal": 556},
}


def italic(token: str) -> float:
    """Return the width of a letter, digit or sign in mathematics."""
    return (
        _ITALIC.get(token) or _GREEK.get(token) or (_DIGIT * len(token) if token.isdigit() else sign(token) * 100)
    ) / 100


def upright(token: str) -> float:
    """Return the width of a character of a word; a character that is not ASCII counts as ten points wide."""
    return (_UPRIGHT.get(token) or (_DIGIT if token.isascii() else 1000)) / 100


def sign(token: str) -> float:
    """Return the width of a sign; one that is not listed is as wide as an equals sign."""
    return _SIGNS.get(token, 778) / 100
