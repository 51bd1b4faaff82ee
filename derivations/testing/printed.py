r"""Reading back what latexify-py prints of a Python function: `from_latex`.

Definition   the formula that `latexify.expression(f)` or `latexify.function(f)` shows, in the subset of LaTeX that
             `derivations.documents.scalar_latex` reads. Text is parsed by its grammar, and never evaluated
Result       a SymPy expression whose names are symbols without declarations, which `assert_equal` adopts
Raises       LatexError, with position and token, for what is not one whole formula of the subset

>>> from_latex(r"\mathrm{sigmoid}(x) = \frac{1}{1 + \exp \mathopen{}\left( -x \mathclose{}\right)}")
1/(1 + exp(-x))
"""

from typing import Any

from sympy import Expr

from derivations.documents.scalar_latex import LatexError, read

__all__ = ["from_latex", "is_printed"]


def is_printed(value: Any) -> bool:
    """Return whether an object is what latexify-py returns for a function; this package does not import it."""
    module = type(value).__module__ or ""  # SymPy's undefined functions have none
    return module.partition(".")[0] == "latexify"


def from_latex(printed: Any) -> Expr:
    r"""Return the expression that LaTeX of latexify-py means, as text or as the object that latexify returns.

    `\mathrm{d\_k}` is the symbol d_k, `x_{0}` the entry x[0], `\pi` the number unless the function has an argument of
    that name; decimals are exactly what is printed.
    """
    latex = str(printed) if is_printed(printed) else printed
    if not isinstance(latex, str):
        raise TypeError(
            f"from_latex takes LaTeX, or what latexify returns for a function, not {type(printed).__name__}"
        )
    if r"\begin{array}{l}" in latex:
        raise LatexError("The formula has several lines: print it by latexify with reduce_assignments=True.")
    return read(latex)
