"""Numbers of parameters of named models: right as counted or as stated, wrong far from both, and else left alone."""

import pytest

from derivations.documents.sentences.joined import Sentence
from derivations.documents.sentences.model_totals import check_model_totals


def found(text: str) -> list[tuple[str, str | None]]:
    return [(finding.verdict, finding.right) for _, _, finding in check_model_totals(Sentence(text, text, 0))]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("BERT-base has 110M parameters.", "holds"),
        ("BERT-base has 109,482,240 parameters.", "holds"),
        ("The BERT-base model has about 110 million parameters", "holds"),
        ("BERT-base的参数量为 1.1 亿", "holds"),
        ("BERT-base has 110 Million parameters", "holds"),
        ("BERT-base has 110m parameters", "holds"),
        ("GPT-3 175B 有 1750 亿个参数。", "holds"),
        ("LLaMA-2-70Bのパラメータ数は約690億", "holds"),
        ("Llama-2 7B has 6.74 B parameters", "holds"),
        ("The base Transformer has 65M parameters", "conditional"),  # as stated: the equations give 63 million
        ("GPT-3 has 175 billion parameters", "conditional"),  # the largest of the family
        ("BERT-base has 340M parameters", "wrong"),
        ("GPT-3 175B has 175 million parameters", "wrong"),
        ("GPT-3 175B 有 175 亿个参数。", "wrong"),
        ("LLaMA-2-70Bのパラメータ数は約69億", "wrong"),
    ],
)
def test_a_total_is_counted(text: str, verdict: str) -> None:
    ((said, right),) = found(text)
    assert said == verdict
    assert (right is not None) == (verdict == "wrong")


@pytest.mark.parametrize(
    "text",
    [
        "BERT-base has 115M parameters",  # near: it may count more
        "A classifier on top of BERT-base has 1M parameters",
        "BERT-base has 3 times more parameters",
        "BERT-base has 12 layers",
        "BERT-base and BERT-large have 110M parameters",
        "Our model has 7B parameters",
        "GPT-3 has 3 million parameters",  # of which model of the family is not said
        "BERT-base has 24M embedding parameters",
        "",
    ],
)
def test_anything_else_is_left_alone(text: str) -> None:
    assert found(text) == []


def test_places_are_those_of_the_words() -> None:
    text = "As said: BERT-base has 340M parameters, they say."
    ((start, end, _),) = check_model_totals(Sentence(text, text, 0))
    assert text[start:end] == "BERT-base has 340M parameters"
