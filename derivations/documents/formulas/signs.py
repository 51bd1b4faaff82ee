"""Unicode characters in formulas, as data: their tokens, accents, subscripts and superscripts."""

from __future__ import annotations

from derivations.documents.formulas.vocabulary import OPERATORS, RELATIONS

__all__ = ["COMBINING", "MARKS", "SIGNS", "SUBSCRIPTS", "SUPERSCRIPTS"]

_GREEK_LETTERS = dict(
    zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ",
        str.split(
            "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi"
            " psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
        ),
        strict=True,
    )
) | {"ϵ": "epsilon", "ϑ": "theta", "ϕ": "phi", "ϱ": "rho", "ς": "sigma", "µ": "mu", "ℓ": "ell"}

SIGNS: dict[str, tuple[str, str]] = {
    **{sign: ("letter", name) for sign, name in _GREEK_LETTERS.items()},
    **{sign: ("op", name) for name, (_, sign) in OPERATORS.items() if len(sign) == 1},
    **{sign: ("rel", sign) for sign in RELATIONS if len(sign) == 1 and sign != "|"},
    "•": ("op", "dot"), "∙": ("op", "dot"), "⋅": ("op", "dot"), "・": ("op", "dot"), "✕": ("op", "times"),
    "╳": ("op", "times"), "∗": ("op", "star"), "÷": ("op", "/"), "∕": ("op", "/"), "/": ("op", "/"),
    "+": ("op", "+"), "-": ("op", "-"), "−": ("op", "-"), "–": ("op", "-"), "±": ("op", "±"), "⨀": ("op", "odot"),
    "~": ("rel", "∼"), "⊆": ("rel", "⊂"), "≃": ("rel", "≈"), "≅": ("rel", "≈"), "≜": ("rel", ":="), "≔": ("rel", ":="),
    "⟹": ("rel", "⇒"), "⟺": ("rel", "⇔"), "≦": ("rel", "≤"), "≧": ("rel", "≥"), "⩽": ("rel", "≤"), "⩾": ("rel", "≥"),
    "≒": ("rel", "≈"), "→": ("arrow", "→"), "⟶": ("arrow", "→"), "↦": ("arrow", "→"), "➔": ("arrow", "→"),
    "…": ("dots", "…"), "⋯": ("dots", "…"), "⋮": ("dots", "…"), "⋱": ("dots", "…"),
    "(": ("open", "("), ")": ("close", ")"), "[": ("open", "["), "]": ("close", "]"), "⟨": ("open", "⟨"),
    "⟩": ("close", "⟩"), "⌊": ("open", "⌊"), "⌋": ("close", "⌋"), "⌈": ("open", "⌈"), "⌉": ("close", "⌉"),
    "【": ("open", "["), "】": ("close", "]"), "|": ("bar", "|"), "∣": ("mid", "|"), "‖": ("bar", "‖"),
    "∥": ("bar", "‖"), "∑": ("big", "sum"), "∏": ("big", "product"), "∫": ("big", "integral"), "√": ("cmd", "root"),
    "∂": ("differential", "∂"), "∇": ("nabla", "∇"), "∞": ("letter", "infty"), "⊤": ("letter", "top"),
    "ℝ": ("space", "R"), "ℕ": ("space", "N"), "ℤ": ("space", "Z"), "𝔼": ("letter", "E"), "∀": ("cond", "for all"),
    "'": ("prime", "'"), "′": ("prime", "'"), "’": ("prime", "'"), "″": ("prime", "''"), "!": ("factorial", "!"),
    ",": ("comma", ","), "、": ("comma", ","), ";": ("semicolon", ";"), ":": ("rel", ":"), ".": ("period", "."),
    "。": ("period", "."), "_": ("_", "_"), "^": ("^", "^"), "∅": ("letter", "emptyset"), "≺": ("rel", "<"),
}  # fmt: skip
MARKS = frozenset("✅❌✓✔✗✘☑⚠⭐")  # they begin a remark after a formula of plain text
COMBINING = {  # characters that put an accent on the letter before them
    "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar", "\u0307": "dot", "\u20d7": "vec",
}  # fmt: skip
SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ₊₋", "0123456789aehijklmnoprstuvx+-", strict=True))
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹ᵀᵗⁿⁱ⁺⁻ᴷᵏᵈʰˡᵐᴺᵒˢˣᵛᴼ⊤", "0123456789Ttni+-KkdhlmNosxvOT", strict=True))
