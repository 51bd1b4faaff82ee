"""What is said in words and numbers without being a formula: moments, ratios, shares, sizes of named models.

Definition   a remark is a stretch of a block with what is found of it at once; sentences are read in order, and one
             may go on with what the sentence before was about
Result       `remarks(document, statements, scopes)` yields remarks in the order of the document, none where nothing is
             found, and none of a question or of a sentence that calls something mistaken
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from derivations.documents.budget import TooCostly, budget_of
from derivations.documents.claims import failed
from derivations.documents.denials import denies
from derivations.documents.judge.algebra.moments import check_said_moment
from derivations.documents.passages import Block, Document, Passage
from derivations.documents.scope import Scope, Scopes
from derivations.documents.sentences.coordinates import check_coordinates
from derivations.documents.sentences.joined import Joined, Sentence, joined, sentences
from derivations.documents.sentences.model_totals import check_model_totals
from derivations.documents.sentences.named_models import check_named_models
from derivations.documents.sentences.quantities import check_near_number, check_ratio, named_number
from derivations.documents.sentences.restated import check_restated
from derivations.documents.sentences.restated_bytes import check_restated_bytes
from derivations.documents.sentences.returns import check_returns
from derivations.documents.sentences.shares import Row, check_shares, row_in
from derivations.documents.sentences.statistics import said_moments, says_unit_variance, subject_of
from derivations.documents.sentences.statistics_formulas import kinds_of
from derivations.documents.sentences.statistics_subjects import Subject
from derivations.documents.sentences.statistics_words import Token
from derivations.documents.statements import Statement
from derivations.documents.syntax import Chain, Number
from derivations.documents.verdicts import Finding

__all__ = ["Remark", "remarks"]

_REACH = 4  # sentences after which it is forgotten that components have variance 1
_OTHER = re.compile(
    r"\bnormali[sz]\w*\s+(?:the\s+|both\s+|all\s+)?(?:quer|key|vector|embedding|q\b|k\b)|\bunit[\s-]+(?:vector|norm|length)"
    r"|\bcosine\b|\bsphere\b|\binitiali[sz]|\bxavier\b|\bglorot\b|\\sigma|σ|\\mathcal\{?N|\\sim\b|variance\s+(?:of\s+)?1/"
    r"|[歸归]一化|正規化|[單单]位(?:向量|長度|长度)|単位ベクトル|餘弦|余弦|コサイン|初始化|初期化|[為为是]\s?1/|分散\s?1/",
    re.ASCII | re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？]\s*$|か[。.]?\s*$")
_ATTENTION = re.compile(
    r"\bquer(?:y|ies)\b|\bkeys?\b|attention|softmax|\bd_\{?k|\bQK|\bq(?:_\w)?\s*\\cdot\s*k|注意|查[詢询]|鍵|键|クエリ|キー",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True)
class Remark:
    """A stretch of a block, as offsets into its joined passage, with what is found of it."""

    block: Block
    passage: Passage
    start: int
    end: int
    finding: Finding


@dataclass
class _Memory:
    """What was spoken of in the last sentences of a section."""

    subject: Subject | None = None
    unit: bool = False
    attention: bool = False
    other: bool = False  # vectors of length 1, or components of another variance
    age: int = 0

    row: Row | None = None  # the last that was printed
    printed: dict[str, Number] = field(default_factory=dict)  # the last number of each name

    def see(self, sentence: Sentence, line: int) -> None:
        """Keep what the formulas of a sentence print, and whether it speaks of attention."""
        self.attention = self.attention or _ATTENTION.search(sentence.written) is not None
        self.other = self.other or _OTHER.search(sentence.written) is not None
        self.row = row_in(sentence, line) or self.row
        for statement in (each for some in sentence.statements.values() for each in some):
            name, number = named_number(statement)
            if number is not None:
                self.printed[name] = number

    def hear(self, sentence: Sentence, tokens: Sequence[Token]) -> None:
        """Keep what a sentence was about."""
        self.age = 0 if (says_unit := says_unit_variance(tokens)) else self.age + 1
        self.unit = says_unit or (self.unit and self.age < _REACH)
        self.subject = subject_of(sentence, tokens, self.subject)


def remarks(document: Document, statements: Iterable[Statement], scopes: Scopes) -> Iterator[Remark]:
    """Yield what is found in the sentences of a document."""
    read: dict[int, list[Statement]] = defaultdict(list)
    for statement in statements:
        read[id(statement.passage)].append(statement)
    memory = _Memory()
    for block in document.blocks:
        if block.kind == "heading":
            row = replace(memory.row, far=True) if memory.row is not None else None
            memory = _Memory(row=row)
        if block.passages:
            scope = scopes.at(Statement(Chain(()), block.passages[0], block))
            yield from _of_block(block, joined(block), read, scope, memory)


def _of_block(
    block: Block, whole: Joined, read: dict[int, list[Statement]], scope: Scope, memory: _Memory
) -> Iterator[Remark]:
    for sentence in sentences(whole, read):
        last = 0
        for start, end, finding in _heard(sentence, whole.passage.place(sentence.start).line, scope, memory):
            if start >= last:
                yield Remark(block, whole.passage, sentence.start + start, sentence.start + end, finding)
                last = end


def _heard(sentence: Sentence, line: int, scope: Scope, memory: _Memory) -> list[tuple[int, int, Finding]]:
    """Return what is found in a sentence, in order; where a check fails, that is said of the sentence."""
    try:
        with budget_of():
            memory.see(sentence, line)
            tokens = kinds_of(sentence, scope)
            silent = denies(sentence.text) or _QUESTION.search(sentence.text)
            found = [] if silent else sorted(_found(sentence, tokens, scope, memory), key=lambda each: each[:2])
            memory.hear(sentence, tokens)
            return found
    except TooCostly:
        return []
    except Exception as error:
        return [(0, len(sentence.text), failed("a check failed on this sentence", error))]


def _found(
    sentence: Sentence, tokens: Sequence[Token], scope: Scope, memory: _Memory
) -> Iterator[tuple[int, int, Finding]]:
    """Yield all that is found in a sentence."""
    yield from _moments(sentence, tokens, scope, memory)
    yield from check_shares(sentence.written, memory.row)
    widths = [sizes[-1] for sizes in scope.shapes_before() if sizes]
    yield from check_ratio(sentence, scope, widths)
    yield from check_returns(sentence, widths)
    yield from check_near_number(sentence, memory.printed)
    yield from check_coordinates(sentence.written, scope)
    yield from check_named_models(sentence, scope)
    yield from check_model_totals(sentence)
    yield from check_restated(sentence)
    yield from check_restated_bytes(sentence)


def _moments(
    sentence: Sentence, tokens: Sequence[Token], scope: Scope, memory: _Memory
) -> Iterator[tuple[int, int, Finding]]:
    unit = memory.unit or says_unit_variance(tokens)
    for said in said_moments(sentence, tokens, memory.subject):
        for finding in check_said_moment(said.left, said.right, scope, unit=unit):
            if finding.verdict != "wrong" or (said.sure and (unit or (memory.attention and not memory.other))):
                yield said.start, said.end, _as_given(finding) if unit else finding


def _as_given(finding: Finding) -> Finding:
    """Mark the assumptions that the text itself makes."""
    texts = tuple(f"{each}, as the text says" if "variance 1" in each else each for each in finding.assumptions)
    return replace(finding, assumptions=texts)
