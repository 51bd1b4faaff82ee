"""The rules that a step may name: the law of each, and the features that the judge may use to decide it.

Most rules rewrite an expression, and the normal form decides them. A rule that differentiates, takes expectations or
uses an assumption has a feature that says so. Under another rule such a step is not decided. The law of a rule that
has a tactic of its own is trusted.
"""

from dataclasses import dataclass

__all__ = ["RULES", "Rule", "laws"]


@dataclass(frozen=True)
class Rule:
    """A rule: its name, the law it states, the tactic that decides it, and the features of the normal form.

    Formulas of the law stand between dollar signs, as in titles.
    """

    name: str
    law: str
    tactic: str = "normal form"
    features: frozenset[str] = frozenset()


def _rules(*rules: Rule) -> dict[str, Rule]:
    return {rule.name: rule for rule in rules}


_CALCULUS = frozenset({"derivative"})
_MOMENTS = frozenset({"expectation"})
_ASSUMED_MOMENTS = frozenset({"expectation", "assumption"})

RULES = _rules(
    Rule("definition", "a name stands for what defines it"),
    Rule("algebra", "sums, products and powers of commuting scalars"),
    Rule("exponent", "$exp(a + b) = exp(a) exp(b)$, and $log$ is its inverse"),
    Rule("linearity of sums", "$sum_j (a f_j + g_j) = a sum_j f_j + sum_j g_j$"),
    Rule("constant summand", "$sum_{j=1}^{n} c = n c$"),
    Rule("order of summation", "$sum_i sum_j f_ij = sum_j sum_i f_ij$"),
    Rule("Kronecker delta", "$sum_j delta_ij f_j = f_i$"),
    Rule("reindexing", "$sum_j f(sigma(j)) = sum_j f(j)$ for a bijection $sigma$"),
    Rule("matrix product", "$(A B)_{ij} = sum_l A_{il} B_{lj}$"),
    Rule("transpose of a product", "$(A B)^T = B^T A^T$"),
    Rule("associativity", "$(A B) C = A (B C)$"),
    Rule("distributivity", "$A (B + C) = A B + A C$"),
    Rule("block product", "$[A_1 ... A_h] [B_1; ...; B_h] = sum_i A_i B_i$"),
    Rule("row of a product", "row $i$ of $A B$ is (row $i$ of $A$) $B$"),
    Rule("elementwise function", "$f(A)_{ij} = f(A_{ij})$"),
    Rule("angle addition", "$cos(a - b) = cos a cos b + sin a sin b$, and the like for $sin$"),
    Rule("Pythagoras", "$cos^2 a + sin^2 a = 1$"),
    Rule("indicator", "an indicator is 0 or 1: $[c] f([c]) = [c] f(1)$"),
    Rule("common denominator", "$a/b + c/d = (a d + c b)/(b d)$, $b$ and $d$ nonzero"),
    Rule("quotient rule", "$(u/v)' = (u' v - u v')/v^2$", features=_CALCULUS),
    Rule("product rule", "$(u v)' = u' v + u v'$", features=_CALCULUS),
    Rule("chain rule", "$f(g)' = f'(g) g'$", features=_CALCULUS),
    Rule("derivative", "term by term, $dx_j/dx_k = delta_jk$", features=_CALCULUS),
    Rule("variance", "$Var(x) = E[x^2] - E[x]^2$", features=_MOMENTS),
    Rule("linearity of expectation", "$E[a x + y] = a E[x] + E[y]$", features=_MOMENTS),
    Rule("moments", "the assumed moments are put in", features=_ASSUMED_MOMENTS),
    Rule("assumption", "an assumed equation is used from left to right", features=frozenset({"assumption"})),
    Rule("count", "what the equations of a layer add up to"),
    Rule(
        "monotonicity",
        "an increasing function keeps comparisons: $a + c < b + c$, $e^a < e^b$ and $r a < r b$, $r > 0$, as $a < b$",
    ),
    Rule("order", "an equality that holds in every order of some numbers holds", tactic="order"),
    Rule(
        "induction",
        "$f(0) = g(0)$, and $f(t) = g(t)$ for all other indices implies $f(t + 1) = g(t + 1)$: $f = g$",
        tactic="induction",
        features=frozenset({"assumption"}),
    ),
    Rule("bound", "the difference is an expression whose form shows its sign", tactic="bound"),
    Rule("squeeze", "$lower <= f <= upper$, and both bounds tend to the limit", tactic="squeeze"),
    Rule("limit laws", "sums, products, quotients and exponentials tend to what their parts tend to", tactic="limit"),
    Rule("rounding", "an enclosing interval lies within half a unit of the last decimal", tactic="rounding"),
    Rule(
        "supremum",
        "$sup f <= c$ when intervals enclose $f <= c$, and $h >= f$ far out; $sup f >= f(t)$",
        tactic="supremum",
    ),
    Rule("rank of a product", "$rank(A B)$ is at most the inner size", tactic="rank"),
    Rule("null space", "$A B = 0$ and $L A + B C = I$: the null space of $A$ is the span of $B$", tactic="null space"),
    Rule("rank by trace", "$A L A = A$: $rank(A) = trace(L A)$", tactic="trace"),
    Rule(
        "quadratic form",
        "$|v^T A v| <= c v^T v$ for all $v$, $A$ symmetric: the norm of $A$ is $<= c$",
        tactic="quadratic form",
    ),
    Rule("shape", "a product needs equal inner sizes", tactic="shape"),
)


def laws() -> dict[str, str]:
    """Return the laws of the rules by name."""
    return {name: rule.law for name, rule in RULES.items()}
