"""Pictures of costs show what is counted, are the same each time, and say in one sentence what hinders them."""

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib", reason="pictures need Matplotlib")

from matplotlib.figure import Figure
from matplotlib.text import Text

from derivations.architectures.models import named_model
from derivations.costs.counts import Counts, count
from derivations.costs.questions.answer import length_of
from numeric.models.cost_pictures import FORMATS, LENGTHS, _purposes, plot_counts
from numeric.runtime.checks import InputError

pytestmark = pytest.mark.slow  # Matplotlib comes with the extra `dev`

MODELS = ("gpt2", "llama-3-8b", "mixtral-8x7b", "whisper-small", "deepseek-v3", "vit-b-16", "t5-small", "gemma-2-2b")


@pytest.fixture
def counts() -> Counts:
    return count(named_model("gpt2"), seq=512, batch=3)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are saved, in order."""
    figures: list[Figure] = []
    save = Figure.savefig

    def keep(self: Figure, *args: object, **options: object) -> None:
        figures.append(self)
        save(self, *args, **options)

    monkeypatch.setattr(Figure, "savefig", keep)
    return figures


@pytest.mark.parametrize("ending", FORMATS)
def test_a_picture_is_the_same_each_time(ending: str, counts: Counts, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}{ending}" for name in ("first", "second")]
    for file in files:
        plot_counts(counts, file)
    first, second = (file.read_bytes() for file in files)
    assert first == second
    assert first.startswith({".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}[ending])
    if ending == ".svg":
        ElementTree.fromstring(first)


def test_the_panels_show_the_counts(counts: Counts, drawn: list[Figure], tmp_path: Path) -> None:
    plot_counts(counts, tmp_path / "gpt2.png")
    left, middle, right = drawn[0].axes
    components = {name: counts.number(value) for name, value in counts.components.items()}
    assert sorted(bar.get_width() for bar in left.patches) == sorted(components.values())
    assert {text.get_text().partition(" ")[0] for text in left.texts} == {f"{v:,}" for v in components.values()}
    assert left.get_title() == "Parameters by component: 124,439,808 in all"

    shares = [band.get_paths()[0].vertices for band in middle.collections]
    assert max(edges[:, 1].max() for edges in shares) == pytest.approx(100)
    assert "FLOPs" in middle.get_ylabel()

    lines = {line.get_label(): dict(zip(*line.get_data(), strict=False)) for line in right.lines}
    assert lines["weights, bfloat16"][512] == 2 * 124439808
    assert lines["weights, gradients, Adam (16 B each)"][512] == 16 * 124439808
    assert lines["key-value cache"][512] == 3 * 512 * counts.number(counts.cache_bytes_per_token)
    assert lines["saved residuals"][512] == counts.number(counts.activation_bytes)
    again = counts.number(counts.activation_bytes_with_recomputation)
    assert lines["activations, scores computed again"][512] == again < counts.number(counts.activation_bytes)
    convention = drawn[0].get_supxlabel()
    assert " ".join(convention.split()) == f"Convention: {counts.convention.describe()}"


@pytest.mark.parametrize(
    ("phase", "words"),
    [("forward", "a forward pass"), ("training", "a training step"), ("decode", "a decoding step")],
)
def test_a_picture_is_titled_by_the_model_and_the_phase(
    phase: str, words: str, drawn: list[Figure], tmp_path: Path
) -> None:
    plot_counts(count(named_model("gpt2"), seq=512, phase=phase), tmp_path / "gpt2.png")
    assert drawn[0].get_suptitle() == f"gpt2: {words}"
    assert drawn[0].axes[1].get_title() == f"FLOPs of {words} by purpose"


@pytest.mark.parametrize("phase", ["forward", "training", "prefill", "decode"])
@pytest.mark.parametrize("name", ["gpt2", "t5-base", "deepseek-v3"])
def test_the_purposes_of_a_phase_are_its_operations(name: str, phase: str) -> None:
    found = count(named_model(name), seq=131, phase=phase)
    purposes = _purposes(found, length_of(found.model))
    assert found.number(sum(purposes.values())) == found.number(found.flops.total)


@pytest.mark.parametrize("name", MODELS)
def test_no_text_is_cut_or_covers_another(name: str, drawn: list[Figure], tmp_path: Path) -> None:
    plot_counts(count(named_model(name)), tmp_path / "picture.png")
    assert len(shown(drawn[0])) > 40
    assert spoiled(drawn[0]) == []


def test_texts_that_are_cut_or_covered_are_noticed(counts: Counts, drawn: list[Figure], tmp_path: Path) -> None:
    plot_counts(counts, tmp_path / "picture.png")
    drawn[0].set_layout_engine("none")
    left, middle, _ = drawn[0].axes
    left.texts[0].set_fontsize(80)
    middle.title.set_x(40)
    found = {text for texts in spoiled(drawn[0]) for text in texts}
    assert {left.texts[0].get_text(), middle.title.get_text()} <= found


def spoiled(figure: Figure) -> list[tuple[str, ...]]:
    """The texts that reach out of the picture, and the pairs that cover one another."""
    figure.draw_without_rendering()
    boxes = [(text.get_text(), text.get_window_extent()) for text in shown(figure)]
    inside = figure.bbox.padded(1)
    cut = [(text,) for text, box in boxes if not (inside.contains(*box.min) and inside.contains(*box.max))]
    return cut + [(a, b) for i, (a, one) in enumerate(boxes) for b, other in boxes[:i] if one.overlaps(other)]


def shown(figure: Figure) -> list[Text]:
    """The texts of a picture that are drawn: titles, labels, numbers at bars and axes, legends, the convention."""
    texts: list[Text] = list(figure.texts)
    for axes in figure.axes:
        for axis, bounds in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            ticks = axis.get_major_ticks()
            texts += [tick.label1 for tick in ticks if min(bounds) <= tick.get_loc() <= max(bounds)]
        legend = axes.get_legend()
        texts += [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts, *(legend.get_texts() if legend else ())]
    return [text for text in texts if text.get_text() and text.get_visible()]


def test_lengths_double_in_four_steps() -> None:
    assert LENGTHS[0] == 64 and LENGTHS[-1] == 2**20
    assert all(later == 2 * earlier for earlier, later in zip(LENGTHS[::4], LENGTHS[4::4], strict=False))


def test_what_hinders_a_picture_is_said_in_one_sentence(
    counts: Counts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"has no known ending; end it in one of \.pdf, \.png, \.svg"):
        plot_counts(counts, tmp_path / "costs.bmp")
    with pytest.raises(InputError, match=r"there is no folder .*nowhere; make it first"):
        plot_counts(counts, tmp_path / "nowhere" / "costs.svg")
    (tmp_path / "taken.png").mkdir()
    with pytest.raises(InputError, match=r"taken\.png cannot be written \(.*\); name another file"):
        plot_counts(counts, tmp_path / "taken.png")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"needs Matplotlib: pip install matplotlib, or pip install '\.\[plots\]'"):
        plot_counts(counts, tmp_path / "costs.svg")
