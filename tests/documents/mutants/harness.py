"""Every formula that is right, with every plausible mistake: `python -m tests.documents.mutants`.

Definition   a mutant is a document with one mistake in a formula that was proved, holds, or holds conditionally; it
             counts where the oracle says that what was claimed is no longer so
Result       a table: kind of mistake x what is said of the formula then; with -v every mutant that is not called wrong
Assumes      a width is taken for another where the text speaks of both, and does not set them to one thing; operations
             are counted singly or as multiplications with additions, so that twice a count may be meant; random
             letters are independent, so that what has equal moments then may be true; a derivative may be laid out in
             rows or in columns; what names a letter, or sets it to a number, is true as it is written
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from derivations.documents.checking import check_text
from derivations.documents.formulas import read_formula
from derivations.documents.passages import Passage
from derivations.documents.syntax import Chain, Fence, Name, Node, Number, Product, Space, Transpose
from derivations.documents.verdicts import VERDICTS, Claim
from tests.documents.mutants.kinds import KINDS, changes
from tests.documents.mutants.oracle import (
    Answer,
    Declared,
    declarations_differ,
    declared_in,
    inner_sizes_differ,
    shapes_differ,
    values_differ,
)
from tests.documents.mutants.places import Edit, edited, spots
from tests.documents.mutants.printed_numbers import numbers_differ
from tests.documents.mutants.random_letters import moments_agree
from tests.documents.mutants.texts import SHARED, Target, Text, documents, targets
from tests.documents.said import ALARMS, in_a_word

__all__ = ["CAUGHT", "Judged", "Mutant", "all_mutants", "judged", "main", "mutants", "table", "table_of"]

COLUMNS = (*ALARMS, "elsewhere", "fits", "unknown", *(each for each in VERDICTS if each not in ("wrong", "unknown")))
MOST_OF_A_KIND = 3  # in one formula
EQUIVALENT = (r"\iff", r"\Leftrightarrow", r"\Longleftrightarrow", "⟺", "⇔", "<=>")
IF = r"\text{if}"
CAUGHT = (*ALARMS, "elsewhere")
ASSUMING = "Assuming "
LINKS = ("chain", "matrices", "gradient")  # identities between two sides, of letters that the text declares
IDENTITIES = ("canonical", "counting", "equation", *LINKS)


@dataclass(frozen=True)
class Mutant:
    """A document with one mistake, and what the oracle says of it."""

    target: Target
    kind: str
    edit: Edit
    answer: Answer

    @property
    def formula(self) -> str:
        """The passage with the mistake."""
        return self.edit.of(self.target.passage.text)


@dataclass(frozen=True)
class Judged:
    """What is said of a mutant; `elsewhere` where another formula is blamed that was not blamed before."""

    mutant: Mutant
    verdict: str
    reason: str = ""

    def __str__(self) -> str:
        target = self.mutant.target
        claim = target.claim
        head = f"{self.verdict}: {self.mutant.kind}: {target.text.name}:{claim.start.line} {claim.finding.check}"
        return f"{head}\n    {claim.text!r}\n    {self.mutant.formula!r}\n    {self.reason}"


# --- mistakes ---


def mutants(target: Target) -> Iterator[Mutant]:
    """Yield the mistakes that may be made in a formula, each once, with what the oracle says of them."""
    passage, seen = target.passage, set[str]()
    assert passage.syntax != "prose"
    for number in target.sides:
        for spot in spots(target.chain.sides[number]):
            for kind, new in changes(spot):
                edit = edited(passage.text, spot, new, passage.syntax)
                formula = edit.of(passage.text)
                if kind == "other width" and not _is_another(spot.node, new, target):
                    continue
                if formula in seen or formula == passage.text or not _stands(target, edit):
                    continue
                seen.add(formula)
                reading = read_formula(formula, passage.syntax)
                if reading.stopped is None and target.statement < len(reading.statements):
                    chain = reading.statements[target.statement]
                    if len(chain.sides) == len(target.chain.sides):
                        yield Mutant(target, kind, edit, answer(target, chain, number))


def _is_another(old: Node, new: Node, target: Target) -> bool:
    """Say whether a width is spoken of in the text, and not set to what the other is: then it surely is another one."""
    if not isinstance(old, Name) or not isinstance(new, Name):
        return False
    return new.key in target.text.letters and frozenset((old.key, new.key)) not in target.text.alike


def _stands(target: Target, edit: Edit) -> bool:
    """Say whether the stretch of an edit stands in the file as it does in the passage."""
    start = target.text.offset(target.passage.place(edit.start))
    old = target.passage.text[edit.start : edit.end]
    return target.text.text[start : start + len(old)] == old


def answer(target: Target, chain: Chain, number: int) -> Answer:
    """Return what the oracle says of a formula with a mistake in one side."""
    text, check = target.text, target.claim.finding.check
    old, new = target.chain.sides[number], chain.sides[number]
    if _is_condition(target):
        return "cannot tell"
    if check == "arithmetic" and target.link is not None:
        relation = chain.relations[target.link]
        left, right = chain.sides[target.link : target.link + 2]
        return numbers_differ(left, relation, right, text.given) if isinstance(relation, str) else "cannot tell"
    if check == "counting" and any(
        values_differ(*pair, {}) == "same" for pair in (_doubled(old, new), _doubled(new, old))
    ):
        return "cannot tell"
    if check == "gradient" and _is_transposed(old, new, text.declared):
        return "cannot tell"  # another layout of the derivative
    if check in IDENTITIES:
        found = values_differ(old, new, text.declared if check in LINKS else {})
        return "cannot tell" if found == "different" and moments_agree(old, new, text.moments) else found
    if check == "shapes.fit" and target.link is not None:
        before, after = (each.sides[target.link : target.link + 2] for each in (target.chain, chain))
        return shapes_differ(before, after, text.declared)
    if check == "shapes.map":
        return inner_sizes_differ(old, new)
    if check == "shapes.declared" and isinstance(new, Space):
        changed = {**text.declared, **declared_in([chain])}
        return declarations_differ(text.declared, changed, (each.sides for each in text.chains if _is_equality(each)))
    return "cannot tell"


def _is_condition(target: Target) -> bool:
    r"""Say whether an equation is a condition, which states nothing: behind "if and only if", behind `\text{if}`.

    A paragraph that begins with "Assuming" has nothing else.
    """
    before = target.passage.text[: target.chain.start].rstrip(" &")
    paragraph = target.text.text[: target.text.offset(target.passage.place(0))].rpartition("\n\n")[2]
    return before.endswith(EQUIVALENT) or IF in before.rpartition("\\\\")[2] or paragraph.startswith(ASSUMING)


def _doubled(first: Node, second: Node) -> tuple[Node, Node]:
    return Product((Number("2", Fraction(2)), first), ("times",)), second


def _is_transposed(old: Node, new: Node, declared: Declared) -> bool:
    return values_differ(Transpose(Fence("(", old)), new, declared) == "same"


def _is_equality(chain: Chain) -> bool:
    return all(relation == "=" for relation in chain.relations)


# --- verdicts ---


def judged(mutant: Mutant) -> Judged:
    """Judge a document with a mistake; where its section does not tell that it is wrong, the whole of it."""
    target = mutant.target
    found = _judged(mutant, target.text, target.claim)
    if found.verdict in CAUGHT or target.document is target.text:
        return found
    return _judged(mutant, target.document, target.original)


def _judged(mutant: Mutant, text: Text, right: Claim) -> Judged:
    """Judge a text with a mistake in what was right; what is said of the formula, and of others."""
    passage = right.passage
    assert passage is not None
    start = text.offset(passage.place(mutant.edit.start))
    end = start + mutant.edit.end - mutant.edit.start
    claims = check_text(text.text[:start] + mutant.edit.written + text.text[end:], "markdown").claims
    own = [claim for claim in claims if _is_in(claim, passage)]
    for word in ALARMS:
        alarm = next((claim.finding for claim in own if in_a_word(claim.finding) == word), None)
        if alarm is not None:
            return Judged(mutant, word, alarm.reason)
    before = {claim.text for claim in text.claims if in_a_word(claim.finding) in ALARMS}
    others = [claim for claim in claims if in_a_word(claim.finding) in ALARMS and claim.text not in before]
    if others:
        return Judged(mutant, "elsewhere", others[0].finding.reason)
    stood = [claim.start for claim in text.claims if _is_in(claim, passage)].index(right.start)
    same = own[stood] if stood < len(own) else None
    if same is None:
        return Judged(mutant, "unknown", "no claim")
    return Judged(mutant, in_a_word(same.finding), same.finding.reason)


def _is_in(claim: Claim, passage: Passage) -> bool:
    return claim.passage is not None and claim.passage.place(0) == passage.place(0)


def all_mutants(texts: Iterable[Text]) -> Iterator[Mutant]:
    """Yield the mutants of all formulas that are right; a formula that a document repeats once."""
    for text in texts:
        seen: set[tuple[str, str]] = set()
        for target in targets(text):
            key = target.claim.text, target.passage.text
            if key not in seen:
                seen.add(key)
                yield from _few_of_a_kind(mutants(target))


def _few_of_a_kind(found: Iterable[Mutant]) -> Iterator[Mutant]:
    """Leave out what a long formula has too many of: it would count for more than a short one."""
    counts = Counter[tuple[str, Answer]]()
    for mutant in found:
        counts[mutant.kind, mutant.answer] += 1
        if counts[mutant.kind, mutant.answer] <= MOST_OF_A_KIND:
            yield mutant


def table(rows: Iterable[Judged]) -> str:
    """Return kinds x verdicts, with the share that is called wrong or said to differ."""
    return table_of(Counter((row.mutant.kind, row.verdict) for row in rows))


def table_of(counted: Mapping[tuple[str, str], int]) -> str:
    """Return kinds x verdicts, with the share that is called wrong or said to differ, from the number of each."""
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for (kind, verdict), number in counted.items():
        counts[kind][verdict] += number
    lines = [f"{'':32}" + "".join(f"{each:>12}" for each in (*COLUMNS, "share"))]
    for kind, count in counts.items():
        if count.total():
            caught = sum(count[each] for each in CAUGHT) / count.total()
            lines.append(f"{kind:32}" + "".join(f"{count[each]:12}" for each in COLUMNS) + f"{caught:12.1%}")
    total = sum(counts.values(), Counter[str]())
    lines.append(f"{'together':32}" + "".join(f"{total[each]:12}" for each in COLUMNS))
    caught_of_all = sum(total[each] for each in CAUGHT)
    percent = f"{caught_of_all} of {total.total()} = {caught_of_all / max(total.total(), 1):.1%}"
    lines.append(f"called wrong, or said to differ from the usual: {percent}")
    return "\n".join(lines)


def main() -> None:
    """Print the table, and with -v what is not called wrong; a further word is a part of the names of files."""
    words = [each for each in sys.argv[1:] if not each.startswith("-")]
    if not SHARED.is_dir():
        print(f"the five documents are not at {SHARED}: only the pages of the project")
    texts = [text for text in documents() if not words or any(word in text.name for word in words)]
    asked, rows = Counter[str](), list[Judged]()
    for mutant in all_mutants(texts):
        asked[mutant.answer] += 1
        if mutant.answer == "different":
            rows.append(judged(mutant))
            if "-v" in sys.argv and rows[-1].verdict not in CAUGHT:
                print(rows[-1], flush=True)
    print(table(rows))
    print("the oracle:", dict(asked))
