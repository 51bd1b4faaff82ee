"""Which paper a formula is ascribed to: named near it, or cited with the number of the equation or the table.

Definition   a paper is named by its first author, or by what its model is called; it is cited where a text that
             belongs to the formula names it together with a place at which the formula stands: "equation 2", "表 2"
Result       `Ascription.names(formula)`, `Ascription.cites(formula)`, of what `ascription(statement, scope)` returns
Assumes      to a formula belong the words of its block, those of the block before, and up to three blocks behind it in
             its section; where they speak of a change, the formula is the author's own and is not cited
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sympy import expand

from derivations.costs.published.formula import Published
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement

__all__ = ["CHANGES", "Ascription", "ascription"]

BLOCKS_NEAR, MOST_NEAR = 3, 300  # blocks on each side, and characters of each
_PLACES = {
    "equation": "equation|eqn|eq|formula|公式|方程式|方程|数式|數式|式",
    "table": "table|tab|表格|表",
    "appendix": "appendix|app|附录|附錄|付録",
    "section": "section|sec|§|第",
}
FIRM = ("equation", "table")  # what a section has may be one of many formulas: it tells only of a sum
_PLACE = re.compile("|".join(rf"(?P<{kind}>(?<![a-z])(?:{words}))" for kind, words in _PLACES.items()), re.IGNORECASE)
_NUMBER = re.compile(r"[.s]{0,2}[ ~]{0,2}[(（]?([0-9]{1,2}(?:\.[0-9]{1,2})?|[A-Z]\b)", re.IGNORECASE)
CHANGES = (
    "without", "instead", "becom", "modif", "adapt", "correct", "simpl", "variant", "half", "halv", "causal", "twice",
    "double", "triple", "dropp", "drops", "drop ", "omit", "leav", "left out", "exclud", "except", "remov", "ignor",
    "neglect", "replac", "grouped", "gated", "swiglu", "experts", "more", "less", "fewer", "unlike", "but", "however",
    "not ", "mistake", "wrong", "typo", "erratum", "our", "we ", "if ", "when ",
    "修改", "修正", "省略", "去除", "改为", "改為", "更正", "去掉", "忽略", "不含", "不计", "不計", "一半", "两倍",
    "兩倍", "因果", "门控", "門控", "分组", "分組", "错误", "錯誤", "但", "如果", "我们", "我們",
    "変更", "除去", "除く", "除い", "半分", "代わり", "なし", "無視", "倍", "誤り", "ただし", "場合", "我々", "ゲート",
)  # fmt: skip


@dataclass(frozen=True)
class Ascription:
    """The texts around a formula, those of them that belong to it, and those that go on behind them."""

    near: str
    own: tuple[str, ...] = ()
    farther: str = ""

    def names(self, formula: Published) -> bool:
        """Say whether the paper of a formula is named near."""
        return _is_named(formula, self.near)

    def cites(self, formula: Published) -> bool:
        """Say whether a text that belongs to the formula cites the place at which the published one stands.

        A table may have other products in other rows: of one product the row must be named as well.
        """
        published = f"{formula.title} {formula.source}".lower()
        changes = [word for word in CHANGES if word not in published]
        if any(word in text.lower() for text in self.own for word in changes):
            return False
        places = {
            (kind, number) for kind, number in _places(formula.source) if kind in FIRM or formula.expression.is_Add
        }
        row = "" if expand(formula.expression).is_Add else _row(formula.source)
        return any(row in text.lower() for text in self.own) and any(
            _is_named(formula, text) and not places.isdisjoint(_places(text)) for text in self.own
        )


def ascription(statement: Statement, scope: Scope) -> Ascription:
    """Return what is written just before and behind a formula, and the headings above."""
    texts, sections = scope.document.texts, scope.document.sections.of_block
    block = scope.document.blocks.get(id(statement.passage), 0)
    behind = range(block + 1, min(block + 1 + 2 * BLOCKS_NEAR, len(texts), len(sections)))
    below = [texts[each][:MOST_NEAR] for each in behind if sections[each] == sections[block]]
    own = [each[:MOST_NEAR] for each in texts[max(block - 1, 0) : block + 1]] + below[:BLOCKS_NEAR]
    near = texts[max(block - BLOCKS_NEAR, 0) : block + BLOCKS_NEAR + 1]
    titles = (scope.document.headings.get(section, "") for section in scope.reach.sections)
    return Ascription(
        "\n".join(each[:MOST_NEAR] for each in (*near, *titles)), tuple(own), "\n".join(below[BLOCKS_NEAR:])
    )


def _is_named(formula: Published, text: str) -> bool:
    names = (formula.source.split()[0], formula.id.partition(".")[0])
    return any(re.search(rf"(?<![a-z]){re.escape(name)}(?![a-z])", text, re.IGNORECASE) for name in names)


def _row(source: str) -> str:
    """Return what a source calls the row of a table: "full recomputation" of "table 2, full recomputation"."""
    last = source.rpartition(", ")[2].lower()
    return "" if any(_places(last)) else re.sub(r"^rows? ", "", last)


def _places(text: str) -> Iterator[tuple[str, str]]:
    """Yield the numbered places that a text names: ("equation", "2"), ("appendix", "A")."""
    for found in _PLACE.finditer(text):
        number = _NUMBER.match(text, found.end())
        if number is not None and found.lastgroup is not None:
            yield found.lastgroup, number[1].upper()
