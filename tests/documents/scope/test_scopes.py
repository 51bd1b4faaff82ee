r"""What a scope answers, and where it says that it does not know."""

from sympy import Expr, Symbol, symbols

from derivations.documents.scope import Scope
from derivations.documents.syntax import Name, Product
from tests.documents.scope.written import read

n, c, p = symbols("n c p")


def last_scope(text: str) -> Scope:
    """Return the scope of the last formula."""
    statements, scopes = read(text)
    return scopes.at(statements[-1])


def shape_of(scope: Scope, name: Name) -> tuple[Expr | None, ...] | None:
    """Return the likeliest shape that is declared for a name."""
    return next((each.declaration.sizes for each in scope.shape_candidates(name)), None)


def called(scope: Scope, name: Name) -> set[str]:
    """Return what the words of the document call a name."""
    return scope.document.distinctions.meanings.get(name.key, set())


def test_a_declaration_binds_in_its_section_and_in_those_inside() -> None:
    scope = last_scope("# One\n\n$X \\in \\mathbb{R}^{n \\times c}$\n\n## Inside\n\n$X$")
    assert shape_of(scope, Name("X")) == (n, c)
    assert not scope.shape_candidates(Name("X"))[0].far


def test_a_declaration_of_an_earlier_section_is_far() -> None:
    scope = last_scope("# One\n\n$X \\in \\mathbb{R}^{n \\times c}$\n\n# Two\n\n$X$")
    assert scope.shape_candidates(Name("X"))[0].far


def test_a_declaration_of_a_later_section_is_none() -> None:
    statements, scopes = read("# One\n\n$X$\n\n# Two\n\n$X \\in \\mathbb{R}^{n \\times c}$")
    assert shape_of(scopes.at(statements[0]), Name("X")) is None


def test_a_declaration_binds_forwards_in_its_section() -> None:
    statements, scopes = read("# One\n\n$$Y = X W$$\n\nwhere $X \\in \\mathbb{R}^{n \\times c}$")
    assert shape_of(scopes.at(statements[0]), Name("X")) == (n, c)


def test_two_different_declarations_are_both_candidates() -> None:
    text = "$X \\in \\mathbb{R}^{n \\times c}$\n\n$Y = X W$\n\n$X \\in \\mathbb{R}^{c \\times n}$"
    statements, scopes = read(text)
    assert len(scopes.at(statements[1]).shape_candidates(Name("X"))) == 2


def test_the_words_behind_a_formula_say_alone_what_its_letters_are() -> None:
    text = "$X \\in \\mathbb{R}^{n \\times c}$\n\n$$Y = X W$$\n\nWORD $X \\in \\mathbb{R}^{c \\times n}$"
    for word, shapes in (("where", [(c, n)]), ("Later", [(n, c), (c, n)])):
        statements, scopes = read(text.replace("WORD", word))
        found = scopes.at(statements[1]).shape_candidates(Name("X"))
        assert [each.declaration.sizes for each in found] == shapes


def test_values_are_numbers_or_letters() -> None:
    scope = last_scope("We set $d_{model} = 96$ and $h = 4$, so $d_k = d_{model} / h$.")
    assert scope.value(Name("h")) == 4
    assert scope.value(Name("d", (Name("k"),))) == Symbol("d_model") / Symbol("h")
    assert scope.value(Name("z")) is None


def test_two_numbers_for_a_letter_are_no_value() -> None:
    assert last_scope("First $h = 4$, then $h = 8$.").value(Name("h")) is None


def test_a_matrix_product_is_no_value() -> None:
    scope = last_scope("$Q = X W$")
    assert scope.value(Name("Q")) is None
    assert scope.definition(Name("Q")) == Product((Name("X"), Name("W")), ("",))


def test_the_convention_is_inferred_from_the_products() -> None:
    assert last_scope("$Q = X W_Q$").convention == "rows"
    assert last_scope("$q = W_Q x$").convention == "columns"
    assert last_scope("$s = q \\cdot k$").convention is None


def test_words_give_meanings_in_three_languages() -> None:
    for text in ("where $g$ is the number of heads", "其中 $g$ 是注意力頭的數量", "$g$ はヘッド数である"):
        assert called(last_scope(text), Name("g")) == {"number of heads"}, text
    assert called(last_scope("the sequence length $r$"), Name("r")) == {"sequence length"}
    assert called(last_scope("and then $r$ again"), Name("r")) == set()


def test_an_example_sets_the_letters_of_the_shape() -> None:
    scope = last_scope("```\ninput: [batch, n, width]  # such as [2, 7, 96]\n```\n\n$n$")
    assert scope.value(Name("width")) == 96


def test_the_words_and_formulas_around_are_at_hand() -> None:
    statements, scopes = read("# Heading\n\nThe first $a = 1$.\n\nThe second $b = 2$.")
    scope = scopes.at(statements[1])
    assert scope.earlier(statements[1]) == (statements[0],)
    assert "second" in scope.words(statements[1])
    assert "Heading" in scope.words(statements[1])


def test_a_meaning_may_run_over_the_end_of_a_line() -> None:
    scope = last_scope("Here $d_k$\nis the dimension\nof the keys. $d_k$")
    assert called(scope, Name("d", (Name("k"),))) == called(
        last_scope("Here $d_k$ is the dimension of the keys. $d_k$"), Name("d", (Name("k"),))
    )
    assert called(scope, Name("d", (Name("k"),)))


def test_what_ends_with_a_colon_speaks_of_the_next_two_blocks() -> None:
    text = "The FLOPs of the network are{}\n\nA remark.\n\n$4 n p$"
    for end, expected in ((":", True), ("：", True), (".", False)):
        statements, scopes = read(text.format(end))
        assert ("FLOPs" in scopes.at(statements[-1]).words(statements[-1])) is expected


def test_a_letter_has_not_the_shape_whose_size_it_is() -> None:
    assert shape_of(last_scope("A $d \\times d$ matrix and $d$ states of width $d$."), Name("d")) != symbols("d d")
    assert shape_of(last_scope("$X \\in \\mathbb{R}^{d \\times d}$ and $X$"), Name("X")) == symbols("d d")
    assert shape_of(last_scope("$q \\in \\mathbb{R}^{q}$ and $q$"), Name("q")) == (Symbol("q"),)


def test_words_joined_to_the_next_letter_belong_to_that_letter() -> None:
    for text in (
        "设层数为 $L$，模型维度为 $d$，词表大小为 $V$，序列长度为 $n$。\n\n$x$",
        "層數為 $L$，模型維度為 $d$，詞表大小為 $V$，序列長度為 $n$。\n\n$x$",
        "層数を $L$、モデルの次元を $d$、語彙数を $V$、系列長を $n$ とする。\n\n$x$",
    ):
        scope = last_scope(text)
        said = [called(scope, Name(letter)) for letter in "LdVn"]
        assert said == [{"number of layers"}, {"model width"}, {"vocabulary size"}, {"sequence length"}], text
    assert called(last_scope("$d$，模型维度，为偶数\n\n$x$"), Name("d")) == {"model width"}
    assert called(last_scope("模型维度为 $d$，前馈维度 $m = 4d$。\n\n$x$"), Name("d")) == {"model width"}
