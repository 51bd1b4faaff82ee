"""The main job, with a small model: it does everything, refuses bad input before any work, and says what failed."""

import io
import os
import re
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from importlib import metadata

import pytest
from rich.console import Console

from derivations.catalogue import get
from numeric.verification import job, text
from numeric.verification.agreement import Agreement, Check, cases
from numeric.verification.job import main_job, prove
from numeric.verification.summary import Proof, Summary
from tests.tiers import few

SMALL = {"d_model": 10, "h": 5, "d_ff": 7, "N": 2, "vocab": 256}
SUBJECTS = [
    "softmax",
    "linear",
    "scaled_dot_product_attention",
    "masked_scaled_dot_product_attention",
    "encoder_layer",
    "transformer",
]
IDS = ["softmax.definition", "softmax.jacobian", "dot_product.variance"]


class Here(Executor):
    """An executor whose work is done in this process."""

    def submit(self, work, /, *arguments, **named):
        done = Future()
        done.set_result(work(*arguments, **named))
        return done


@contextmanager
def here(jobs):
    yield Here()


@pytest.fixture
def quick(monkeypatch):
    """A small model, few results and small cases; all work stays in this process."""
    few = {name: cases.subjects()[name] for name in SUBJECTS}
    monkeypatch.setattr(cases, "subjects", lambda: few)
    monkeypatch.setattr("numeric.verification.agreement.counts.subjects", lambda: few)
    monkeypatch.setattr(job, "BASE", SMALL)
    monkeypatch.setattr(job, "SIZES", job.SIZES[:1])
    monkeypatch.setattr(job, "names", lambda: IDS)
    monkeypatch.setattr(job, "results", lambda: {name: get(name) for name in IDS})
    monkeypatch.setattr(job, "layers", lambda: {name: layer for name, (layer, _) in few.items()})
    monkeypatch.setattr(job, "workers", here)


@pytest.fixture
def of_stages(quick, monkeypatch):
    """Let the job compare in the stages that a test is about, and in no other."""
    stages = job._stages

    def of(*wanted):
        monkeypatch.setattr(job, "_stages", lambda seed: {kind: stages(seed)[kind] for kind in wanted})

    return of


@pytest.fixture
def book(tmp_path):
    file = tmp_path / "book.txt"
    file.write_text("注意力 is all you need. " * 40, encoding="utf-8")
    return file


def done(file, out, **options):
    """The outcome of the job, and what it printed."""
    console = Console(file=io.StringIO(), width=120)
    summary = main_job(file, out, console=console, **options)
    return not summary.failures, console.file.getvalue()


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_job_proves_writes_runs_and_compares(quick, book, tmp_path):
    passed, printed = done(book, tmp_path / "out", verbose=True)
    assert passed, printed
    for expected in (
        "on 512 bytes of book.txt",
        "softmax.jacobian",
        "proved",
        "encoder_layer",
        "base-size transformer",
        "rows of softmax sum to 1",
        "dot_product.variance",
        "FLOPs of products",
        "All well: 2 results proved and 1 definition, 7 layers agree",
    ):
        assert expected in printed
    model = job.Transformer(**SMALL)
    assert re.search(rf"parameters +│ {model.parameters():,} ", printed)
    assert f"Counted: parameters {model.parameters():,};" in printed
    written = files(tmp_path / "out")
    assert {"latex/softmax.jacobian.tex", "markdown/softmax.jacobian.md", "derivations.tex"} <= written.keys()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.slow
def test_the_report_is_short_and_says_what_was_done(quick, book, tmp_path):
    _, printed = done(book, tmp_path / "out")
    assert len(printed.splitlines()) < 25 and "softmax.jacobian" not in printed
    for expected in (
        "Results: 3 (proved 2, definition 1)\n",
        "softmax 2, dot_product 1\n",
        "numerical cross-check: agrees 3\n",
        "layers, against loops in 50 digits: ",
        "parameters and FLOPs, against those executed: 12 agree, exactly\n",
        f"Written: {tmp_path / 'out'}/latex (9 files)",
    ):
        assert expected in " ".join(printed.split("\n    ")), printed


@pytest.mark.slow
def test_files_are_the_same_from_run_to_run_whatever_was_there(quick, book, tmp_path):
    done(book, tmp_path / "one")
    done(book, tmp_path / "two" / "below", seed=3)
    (tmp_path / "one" / "mine.txt").write_text("mine", encoding="utf-8")
    done(book, tmp_path / "one")
    again = files(tmp_path / "one")
    assert again.pop("mine.txt") == b"mine"
    assert again == files(tmp_path / "two" / "below")


def test_progress_is_shown_on_standard_error_alone(of_stages, book, tmp_path, capsys, monkeypatch):
    of_stages("wrong formulas, refused by samples")
    monkeypatch.setenv("FORCE_COLOR", "1")
    main_job(book, tmp_path / "out", console=Console(file=io.StringIO()))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "proving and comparing" in shown.err


def test_progress_is_shown_on_a_terminal_alone(of_stages, book, tmp_path, capsys):
    of_stages("wrong formulas, refused by samples")
    main_job(book, tmp_path / "out", console=Console(file=io.StringIO()))
    assert capsys.readouterr() == ("", "")


# The checker says no


@pytest.mark.parametrize("level", few(["refuted", "unknown", "tested", "proved for sizes up to N"], fast=1))
def test_a_result_that_is_not_proved_fails_the_job_and_is_not_written(of_stages, book, tmp_path, monkeypatch, level):
    of_stages("wrong formulas, refused by samples")

    def proof(name):
        return Proof(name, level, ("step 2 is wrong",), 0.1) if name == IDS[1] else Proof(name, "definition", (), 0.1)

    monkeypatch.setattr(job, "prove", proof)
    passed, printed = done(book, tmp_path / "out")
    assert not passed
    assert f"{IDS[1]} is {level}: step 2 is wrong" in printed
    assert "FAILED: 1 of the above" in printed
    assert f"latex/{IDS[1]}.tex" not in files(tmp_path / "out")
    assert f"latex/{IDS[0]}.tex" in files(tmp_path / "out")


def test_a_layer_that_disagrees_fails_the_job(of_stages, book, tmp_path, monkeypatch):
    of_stages("layers, against loops in 50 digits")
    wrong = Agreement("linear", (("n", 2),), "float32", 1e6, 10.0)
    monkeypatch.setattr(job.agreement, "against_reference", lambda *given: iter([wrong]))
    passed, printed = done(book, tmp_path / "out")
    assert not passed
    assert "linear (n=2; float32) DISAGREES: 1e+06 ULP of 10" in printed
    assert "layers, against loops in 50 digits: 1 of 1 DISAGREE, worst 1,000,000 of 10 ULP" in printed


def test_a_property_that_fails_fails_the_job(of_stages, book, tmp_path, monkeypatch):
    of_stages("wrong formulas, refused by samples")
    monkeypatch.setattr(job.agreement, "rejections", lambda: iter([Check("variance d_k/2 is refused", 2.0, 1.0)]))
    passed, printed = done(book, tmp_path / "out")
    assert not passed
    assert "wrong formulas, refused by samples: 1 of 1 DISAGREE, worst 2 of 1" in printed
    assert "variance d_k/2 is refused FAILS: 2 of 1" in printed


def test_a_summary_of_nothing_is_no_success():
    assert len(Summary("").failures) == 4
    assert "FAILED" in Summary("").verdict(0.0)


def test_the_worst_comparison_is_the_one_shown():
    summary = compared_at(1.0, 12.0, 3.0)
    assert "12 of 10 ULP, the worst of 3" in rendered(summary)
    summary = compared_at(1.0, float("nan"))
    assert "DISAGREES" in rendered(summary)
    assert "layers: 1 of 2 DISAGREE, worst nan of 10 ULP (x)" in summary.report(80)


def test_a_topic_with_a_failure_says_out_of_how_many():
    proofs = [Proof("softmax.a", "proved", (), 0.1), Proof("softmax.b", "unknown", ("",), 0.1)]
    assert "softmax 1 of 2" in Summary("", proofs).report(80)


def test_the_verdict_counts_definitions_apart():
    summary = compared_at(1.0)
    levels = {"a": "proved", "b": "proved", "c": "definition"}
    summary.proofs = [Proof(f"softmax.{name}", level, (), 0.1) for name, level in levels.items()]
    summary.compared["properties"] = [Check("x", 0.0, 1.0)]
    summary.counts = [("parameters", "1", "")]
    assert summary.verdict(1.0).startswith("All well: 2 results proved and 1 definition, 1 layers agree")
    assert "Results: 3 (proved 2, definition 1)" in summary.report(80)
    summary.proofs.pop()
    assert summary.verdict(1.0).startswith("All well: 2 results proved, ")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_of_the_report_is_wider_than_asked(width):
    summary = compared_at(1.0, 12.0)
    summary.proofs = [Proof(f"topic_{i}.a", "proved", (), 0.1) for i in range(30)]
    assert all(len(line) <= width for line in summary.report(width).splitlines())


def compared_at(*errors):
    return Summary("", compared={"layers": [Agreement("x", (), "float32", error, 10.0) for error in errors]})


def rendered(summary):
    console = Console(file=io.StringIO(), width=120)
    console.print(summary.table())
    return console.file.getvalue()


def test_a_proof_says_what_the_judge_says():
    proof = prove("softmax.jacobian")
    assert (proof.id, proof.level, proof.failures, proof.passed) == ("softmax.jacobian", "proved", (), True)
    assert proof.seconds > 0


@pytest.mark.slow
def test_proofs_and_comparisons_run_in_other_processes():
    with job.workers(1) as pool:
        assert pool.submit(os.getpid).result() != os.getpid()
        assert next(pool.map(prove, IDS)).id == IDS[0]
        assert all(check.passed for check in pool.submit(job.found_by, job.agreement.rejections).result())


# Bad input


@pytest.fixture
def idle(monkeypatch):
    """Fail where any work is begun."""
    for name in ("_run_model", "_stages", "workers", "pages_of", "write_pages"):
        monkeypatch.setattr(job, name, lambda *given: pytest.fail("work was begun"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty: give a text"),
        (b"text\0more", "holds a NUL byte at 4, so it is not text"),
        (b"text \xff\xfe", "is not UTF-8 at byte 5: give a text file in UTF-8"),
        ("é".encode()[:1], "is not UTF-8 at byte 0"),
    ],
)
def test_what_is_no_text_is_refused(idle, tmp_path, content, message):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        done(tmp_path / "file", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_file_that_cannot_be_read_is_refused(idle, tmp_path):
    for file, reason in ((tmp_path / "none", "no such file"), (tmp_path, "is a directory")):
        with pytest.raises(OSError, match=rf"cannot be read \({reason}.*\): give a text file in UTF-8"):
            done(file, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused(idle, book):
    with pytest.raises(OSError, match="is a file, not a folder: choose another folder"):
        done(book, book)
    with pytest.raises(OSError, match=r"nothing can be written to .* \(not a directory\): choose another folder"):
        done(book, book / "below" / "out")
    assert [path.name for path in book.parent.iterdir()] == [book.name]


def test_a_negative_seed_is_refused(idle, book, tmp_path):
    with pytest.raises(ValueError, match="the seed must be an integer >= 0, not -1"):
        done(book, tmp_path / "out", seed=-1)


def test_work_that_is_interrupted_leaves_nothing_behind(of_stages, book, tmp_path, monkeypatch):
    of_stages("wrong formulas, refused by samples")

    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(job, "_run_model", interrupted)
    with pytest.raises(KeyboardInterrupt):
        done(book, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == [book.name]


# The window


def test_the_window_is_the_first_512_bytes(book):
    assert text.read_window(book) == book.read_bytes()[:512]


def test_a_long_text_may_be_cut_within_a_letter(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "LOOKED_AT", 10)
    (tmp_path / "file").write_text("é" * 20 + "x", encoding="utf-8")
    monkeypatch.setattr(text, "WINDOW", 7)
    assert text.read_window(tmp_path / "file") == ("é" * 20).encode()[:7]


def test_without_a_file_the_description_of_the_package_is_read(monkeypatch):
    monkeypatch.setattr(text, "metadata", lambda name: {"Description": f"All about {name}"})
    assert text.read_window(None) == b"All about derivations"


def test_without_a_description_a_file_is_asked_for(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    for source in (missing, lambda name: {"Description": None}):
        monkeypatch.setattr(text, "metadata", source)
        with pytest.raises(ValueError, match="name a text file"):
            text.read_window(None)
