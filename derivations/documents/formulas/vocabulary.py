r"""The vocabulary of formulas, as data: commands of LaTeX, operators, relations, functions, scales and units.

Definition   `COMMANDS`, and `SIGNS` in `signs`, give the kind and the text of the token that a command or a character
             makes. What is in no table is not understood, and the reading stops there
"""

from __future__ import annotations

__all__ = [
    "ACCENTS", "ALIGNED", "ALPHABETS", "AMOUNT", "ARROWS", "BARE_FUNCTIONS", "BIG", "BOLD", "CASES", "COMMANDS",
    "CONDITION_WORDS", "CONNECTIVES", "DETERMINANTS", "DROPPED", "DROPPED_WITH_ARGUMENT", "FUNCTIONS", "GREEK",
    "LABELS", "LETTER_FUNCTIONS", "MATRICES", "MODULES", "ONE_COLUMN", "OPERATORS", "QUANTITIES", "RELATIONS",
    "ROMAN", "SCALES", "SYMBOLS", "TEXT", "TRANSPARENT", "UNITS", "WORDS", "WRAPPED",
]  # fmt: skip


def _listed(text: str) -> list[str]:
    return text.split()


def _phrases(text: str) -> list[str]:
    return text.split("|")


def _set(text: str) -> frozenset[str]:
    return frozenset(_listed(text))


GREEK = _set(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi"
    " psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
# --- LaTeX ---

OPERATORS = {  # of products, as `Product.operators` names them, with the sign of plain text
    "dot": ("cdot", "·"), "times": ("times", "×"), "star": ("ast", "*"), "at": ("mathbin{@}", "@"),
    "odot": ("odot", "⊙"), "otimes": ("otimes", "⊗"), "oplus": ("oplus", "⊕"), "circ": ("circ", "∘"),
    "mod": ("bmod", "mod"), "cup": ("cup", "∪"), "cap": ("cap", "∩"), "wedge": ("wedge", "∧"),
    "vee": ("vee", "∨"), "setminus": ("setminus", "∖"),
}  # fmt: skip
RELATIONS = {  # as `Chain.relations` names them, with the command and what a keyboard has for it
    "=": ("=", "="), ":=": (":=", ":="), "≈": ("approx", "≈"), "≠": ("neq", "!="), "<": ("<", "<"),
    "≤": ("leq", "<="), ">": (">", ">"), "≥": ("geq", ">="), "∝": ("propto", "∝"), "∼": ("sim", "∼"),
    "∈": ("in", "∈"), "∉": ("notin", "∉"), "⊂": ("subset", "⊂"), "≡": ("equiv", "≡"), "⇒": ("Rightarrow", "=>"),
    "⇔": ("Leftrightarrow", "⇔"), "≪": ("ll", "≪"), "≫": ("gg", "≫"), "←": ("leftarrow", "←"), ":": (":", ":"),
    "⊥": ("perp", "⊥"), "|": ("mid", "|"),
}  # fmt: skip
ARROWS = _listed(
    "to rightarrow longrightarrow mapsto longmapsto hookrightarrow twoheadrightarrow rightsquigarrow leadsto"
)
SYMBOLS = _listed("infty ell hbar Re Im emptyset top bot star dagger sharp natural square")

BIG = {
    "sum": "sum", "prod": "product", "max": "max", "min": "min", "sup": "sup", "inf": "inf", "lim": "lim",
    "int": "integral", "bigcup": "union", "bigcap": "intersection", "argmax": "argmax", "argmin": "argmin",
    "coprod": "coproduct", "bigoplus": "direct sum", "limsup": "limsup", "liminf": "liminf",
}  # fmt: skip
BARE_FUNCTIONS = _set(
    "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan exp log ln lg erf erfc softmax sigmoid relu ReLU"
    " gelu GELU GeLU silu SiLU swish softplus det tr trace Tr rank diag sign sgn vec deg dim ker arg gcd Softmax"
    " logsumexp LSE"
)
_COMMAND_FUNCTIONS = _listed(
    "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan exp log ln lg det deg dim ker gcd Pr"
)

COMMANDS: dict[str, tuple[str, str]] = {
    **{name: ("letter", name) for name in GREEK},
    **{f"var{name}": ("letter", name) for name in _listed("theta pi rho sigma")},
    "varepsilon": ("letter", "epsilon"), "varphi": ("letter", "phi"), "imath": ("letter", "i"),
    "jmath": ("letter", "j"), "varnothing": ("letter", "emptyset"), "Box": ("letter", "square"),
    **{name: ("letter", name) for name in SYMBOLS},
    **{name: ("word", name) for name in _COMMAND_FUNCTIONS},
    **{name: ("big", kind) for name, kind in BIG.items()},
    "iint": ("big", "integral"),
    **{command: ("op", name) for name, (command, _) in OPERATORS.items() if command.isalpha()},
    "bullet": ("op", "dot"), "div": ("op", "/"), "pm": ("op", "±"), "mp": ("op", "±"), "boxtimes": ("op", "otimes"),
    "bigodot": ("op", "odot"), "bigotimes": ("op", "otimes"), "mod": ("op", "mod"),
    "backslash": ("op", "setminus"), "smallsetminus": ("op", "setminus"),
    **{command: ("rel", name) for name, (command, _) in RELATIONS.items() if command.isalpha() and name != "|"},
    "ne": ("rel", "≠"), "le": ("rel", "≤"), "ge": ("rel", "≥"), "leqslant": ("rel", "≤"), "geqslant": ("rel", "≥"),
    "lt": ("rel", "<"), "gt": ("rel", ">"), "simeq": ("rel", "≈"), "cong": ("rel", "≈"), "approxeq": ("rel", "≈"),
    "triangleq": ("rel", ":="), "doteq": ("rel", ":="), "coloneqq": ("rel", ":="), "coloneq": ("rel", ":="),
    "defeq": ("rel", ":="), "subseteq": ("rel", "⊂"), "gets": ("rel", "←"), "longleftarrow": ("rel", "←"),
    "implies": ("rel", "⇒"), "Longrightarrow": ("rel", "⇒"), "iff": ("rel", "⇔"), "Longleftrightarrow": ("rel", "⇔"),
    "leftrightarrow": ("rel", "⇔"), "longleftrightarrow": ("rel", "⇔"), "therefore": ("break", "therefore"),
    "lesssim": ("rel", "≤"), "gtrsim": ("rel", "≥"), "thicksim": ("rel", "∼"), "thickapprox": ("rel", "≈"),
    "colon": ("rel", ":"), "mid": ("mid", "|"), "parallel": ("bar", "‖"), "because": ("break", "because"),
    "R": ("space", "R"), "N": ("space", "N"), "Z": ("space", "Z"),
    **dict.fromkeys(ARROWS, ("arrow", "→")),
    **dict.fromkeys(_listed("dots ldots cdots vdots ddots hdots dotsc dotsb dotsm dotso"), ("dots", "…")),
    "quad": ("quad", ""), "qquad": ("quad", ""), "newline": ("newline", ""), "cr": ("newline", ""),
    "lbrace": ("open", "{"), "rbrace": ("close", "}"), "lbrack": ("open", "["), "rbrack": ("close", "]"),
    "langle": ("open", "⟨"), "rangle": ("close", "⟩"), "lfloor": ("open", "⌊"), "rfloor": ("close", "⌋"),
    "lceil": ("open", "⌈"), "rceil": ("close", "⌉"), "lvert": ("open", "|"), "rvert": ("close", "|"),
    "lVert": ("open", "‖"), "rVert": ("close", "‖"), "vert": ("bar", "|"), "Vert": ("bar", "‖"),
    "partial": ("differential", "∂"), "nabla": ("nabla", "∇"), "prime": ("prime", "'"), "intercal": ("letter", "top"),
    **dict.fromkeys(_listed("frac dfrac tfrac cfrac"), ("cmd", "frac")),
    **dict.fromkeys(_listed("binom dbinom tbinom"), ("cmd", "binom")),
    **{name: ("cmd", name) for name in _listed("sqrt underbrace overbrace overset underset stackrel xrightarrow")},
    "xlongrightarrow": ("cmd", "xrightarrow"), "forall": ("cond", "for all"), "over": ("infix", "frac"),
    "choose": ("infix", "binom"),
}  # fmt: skip
ACCENTS = {
    "hat": "hat", "widehat": "hat", "tilde": "tilde", "widetilde": "tilde", "bar": "bar", "overline": "bar",
    "vec": "vec", "dot": "dot", "ddot": "ddot", "check": "check", "breve": "breve", "overrightarrow": "vec",
    "underline": "underline", "overleftarrow": "overleftarrow", "mathring": "mathring", "acute": "acute",
    "grave": "grave",
}  # fmt: skip
ALPHABETS = {  # of other letters
    "mathbb": "bb", "Bbb": "bb", "mathbbm": "bb", "mathds": "bb", "mathcal": "cal", "mathscr": "cal",
    "mathfrak": "frak",
}  # fmt: skip
ROMAN = _set("mathrm mathup symrm operatorname operatorname* mathit mathsf mathtt rm mathop textsc")
BOLD = _set("mathbf boldsymbol bm bold mathnormal pmb vect vb mathbfit symbf symbfit")
TEXT = _set("text textrm textbf textit texttt textsf textnormal mbox hbox emph textmd intertext")
DROPPED = _set(
    "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm Bigm middle displaystyle textstyle"
    " scriptstyle scriptscriptstyle limits nolimits nonumber notag rm bf it sf tt cal mathopen mathclose"
    " mathbin mathrel mathord mathpunct mathinner bfseries centering hfill hline small large Large normalsize"
    " boldmath smash ensuremath allowbreak nobreak noindent par strut mathstrut relax protect thinspace"
    " medspace thickspace negthinspace enspace space tiny scriptsize footnotesize LARGE huge Huge , ; : ! > / "
) | {" ", "\n", "\t"}
DROPPED_WITH_ARGUMENT = {  # with the number of arguments
    **dict.fromkeys(
        _listed(
            "tag tag* label hspace hspace* vspace vspace* phantom hphantom vphantom color kern mskip eqref ref cite"
            " require"
        ),
        1,
    ),
    "definecolor": 3,
}
TRANSPARENT = {  # with the number of arguments before what is shown
    **dict.fromkeys(_listed("boxed fbox mathstrut substack cancel bcancel xcancel mathclap mathllap mathrlap"), 0),
    **dict.fromkeys(_listed("textcolor colorbox htmlClass class cssId style raisebox"), 1),
    "fcolorbox": 2,
}
WRAPPED = {"norm": "‖", "abs": "|"}  # commands of packages that put their argument between bars
MATRICES = _set("matrix bmatrix pmatrix Bmatrix smallmatrix array bsmallmatrix psmallmatrix")
DETERMINANTS = {"vmatrix": "|", "Vmatrix": "‖"}
ONE_COLUMN = _set("eqnarray eqnarray* gather gather* gathered multline multline* multlined")  # `x &=& y`
CASES = _set("cases dcases rcases cases* dcases*")
ALIGNED = _set(
    "aligned align align* alignedat alignat alignat* gather gather* gathered split eqnarray eqnarray* equation"
    " equation* multline multline* multlined displaymath math flalign flalign* subequations"
)

# --- words ---

FUNCTIONS = BARE_FUNCTIONS | _set(
    "sqrt abs norm max min argmax argmin sum mean Mean std Std Var Cov E Pr clip concat Concat cat stack Attention"
    " attention MultiHead MultiHeadAttention FFN FeedForward LayerNorm layernorm RMSNorm rmsnorm RMS rms BatchNorm LN"
    " Norm Sublayer SubLayer Dropout Linear Embedding MLP MHA SwiGLU GLU PE RoPE Normalize KL Activation activation"
    " TopK topk Transformer Encoder Decoder Attn MLPs Score score Expert Router Gate"
)
WORDS = (  # runs of letters that are one word although the rules by form would take them apart
    FUNCTIONS
    | _set("pos FLOPs FLOPS MACs loss var cov dim seq len ff FF MSE CE NLL PPL BLEU head in out hid emb kv")
    | GREEK
)
QUANTITIES = _set(
    "pos batch seq len length dim dims depth width heads layers params vocab size steps tokens step batch_size seq_len"
    " n_layers n_heads num_heads num_layers vocab_size hidden_size head_dim hidden_dim bytes memory lr warmup"
)
LETTER_FUNCTIONS = _set("f g phi psi sigma O")
LABELS = _set(
    "model ff ffn head heads out in kv qk max min hidden hid emb embed vocab layer layers seq len inner mid attn"
    " enc dec src tgt self cross pos batch total key val value query tok rot rope up down gate proj norm new old prev"
    " next eff train test data param params ctx lr avg var std ffn1 ffn2 cache"
)
CONDITION_WORDS = tuple(
    _phrases(
        "for all|for each|for every|for any|for|if|when|whenever|while|unless|otherwise|else|such that|s.t."
        "|subject to|with|given|as|其他|其它|否则|否則|若|如果|当|當|对于|對於|对所有|對所有|のとき|ならば|それ以外"
        "|その他|ただし|时|時|的时候|的時候|の場合|とき|경우|일 때|이면|그 외|si|sinon|sonst|falls|für alle|wenn"
        "|pour tout|para todo|en otro caso|de lo contrario"
    )
)
CONNECTIVES = frozenset(
    _phrases(
        "and|or|where|so|hence|thus|then|therefore|i.e.|that is|with|also|而|和|與|与|且|其中|则|則|所以|因此|即|及"
        "|または|かつ|ここで|よって|および|그리고|또는|여기서|따라서|où|et|donc|wobei|und|donde|entonces"
        "|por lo tanto"
    )
)
MODULES = _set("torch F nn functional np numpy jnp jax math tf self tensorflow scipy special keras lax")
SCALES: dict[str, int] = {  # words for powers of ten
    **dict.fromkeys(("thousand", "K", "k", "千"), 3),
    **dict.fromkeys(("million", "mn", "M", "百万", "百萬"), 6),
    **dict.fromkeys(("billion", "bn", "B", "十亿", "十億"), 9),
    **dict.fromkeys(("trillion", "T", "兆", "万亿", "萬億"), 12),
    **dict.fromkeys(("万", "萬"), 4),
    **dict.fromkeys(("亿", "億"), 8),
    **dict.fromkeys(("十万", "十萬"), 5),
    **dict.fromkeys(("千万", "千萬"), 7),
    **dict.fromkeys(("百亿", "百億"), 10),
    **dict.fromkeys(("千亿", "千億"), 11),
}
#: A scale or a unit after a number.
AMOUNT = (
    r"[A-Za-z]+|[千百十万萬亿億兆]+|字[節节]|位元[组組]|バイト|[词詞]元|トークン|小[时時]|時間"
    r"|[维維个個次位倍层層头頭条條秒分天日回枚]"
)
UNITS = _set(
    "FLOP FLOPs FLOPS flops flop MAC MACs GFLOPs TFLOPs PFLOPs TFLOPS GFLOPS PFLOPS MFLOPs bytes byte bits bit B KB MB"
    " GB TB PB KiB MiB GiB TiB kB Bytes ms s seconds hours days tokens token params parameters dims dimensions"
    " 维 維 个 個 次元 字节 字節 位 倍 次 層 层 頭 头 条 條 minutes 秒 分 天 日 小时 小時 時間 位元组 位元組"
    " バイト 词元 詞元 トークン 回 枚"
)


def role_of(word: str) -> str:
    """Return the kind of token of Chinese or Japanese words: "break", "cond" for a condition, or "text"."""
    return "break" if word in CONNECTIVES else "cond" if word in CONDITION_WORDS else "text"
