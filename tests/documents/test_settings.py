"""The settings: what is read, where they are looked for, and one sentence for what they do not take."""

from pathlib import Path

import pytest

from derivations.documents.settings import Settings, configuration, names_finding, read_settings, settings_near

ALL = """
[tool.derivations.check]
ignore = ["shapes", "softmax.jacobian"]
exclude = ["drafts/*", "old.md"]
convention = "columns"
functions = ["Norm"]

[tool.derivations.check.symbols]
X = "n x d_model"
h = 8
d_k = "= d_model / h"
d = "head width"
B = "2 × n_1 × d"

[tool.derivations.check.per-file-ignores]
"old/*" = ["arithmetic"]
"""


def written(folder: Path, text: str, name: str = "pyproject.toml") -> Path:
    """A file of settings."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_every_setting_is_read(tmp_path: Path):
    settings = read_settings(written(tmp_path, ALL))
    assert settings.ignore == ("shapes", "softmax.jacobian")
    assert settings.convention == "columns"
    assert settings.functions == {"Norm"}
    assert settings.ignored(tmp_path / "old" / "a.md") == ("shapes", "softmax.jacobian", "arithmetic")
    assert settings.ignored(tmp_path / "new" / "a.md") == ("shapes", "softmax.jacobian")


def test_symbols_become_declarations_of_a_document(tmp_path: Path):
    assert read_settings(written(tmp_path, ALL)).preamble().split("\n\n") == [
        r"$X \in \mathbb{R}^{n \times d_{model}}$",
        "$h = 8$",
        "$d_k = d_{model} / h$",
        "where $d$ is the head width.",
        r"$B \in \mathbb{R}^{2 \times n_1 \times d}$",
    ]
    assert Settings().preamble() == ""


def test_patterns_are_relative_to_the_file_of_settings(tmp_path: Path):
    settings = read_settings(written(tmp_path, ALL))
    excluded = ["drafts/a.md", "drafts/deep/a.md", "old.md", "deep/old.md"]
    assert [name for name in (*excluded, "a.md", "new/drafts/a.md") if settings.excludes(tmp_path / name)] == excluded


def test_the_nearest_file_with_the_table_counts(tmp_path: Path):
    written(tmp_path, '[tool.derivations.check]\nignore = ["far"]')
    written(tmp_path / "near", '[tool.derivations.check]\nignore = ["near"]')
    written(tmp_path / "near" / "other", "[tool.other]\n")
    assert settings_near(tmp_path / "near" / "other" / "below").ignore == ("near",)
    assert settings_near(tmp_path / "else").ignore == ("far",)


def test_a_file_that_is_named_counts_everywhere_with_the_ids_of_the_command(tmp_path: Path):
    written(tmp_path / "near", '[tool.derivations.check]\nignore = ["near"]')
    path = written(tmp_path, '[tool.derivations.check]\nignore = ["named"]', "my.toml")
    assert configuration(path, ("more",))(tmp_path / "near").ignore == ("named", "more")
    assert configuration(None, ("more",))(tmp_path / "near").ignore == ("near", "more")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ignored = []", "there is no setting 'ignored'; did you mean 'ignore'?"),
        ("zzz = 1", "there is no setting 'zzz'; there are ignore, per-file-ignores"),
        ("ignore = 'shapes'", 'ignore must be a list of texts, such as ["shapes"]'),
        ("ignore = [3]", "ignore must be a list of texts"),
        ("convention = 'row'", 'convention must be "rows" (x W) or "columns" (W x), not \'row\''),
        ("convention = []", 'convention must be "rows"'),
        ("symbols = ['d']", "symbols must be a table of letters and meanings"),
        ("symbols = { d = 2.5 }", "symbols.d must be sizes"),
        ("symbols = { d = true }", "symbols.d must be sizes"),
        ("symbols = { d = '$' }", "symbols.d must be one line without $ and `"),
        ("symbols = { d = '' }", "symbols.d must be one line"),
        ("per-file-ignores = ['a']", "per-file-ignores must be a table of patterns and ids"),
        ("per-file-ignores = { a = 'b' }", "per-file-ignores.'a' must be a list of texts"),
        ("ignore = ", "cannot be read as TOML"),
    ],
)
def test_what_is_not_a_setting_is_refused_in_a_sentence(tmp_path: Path, line: str, words: str):
    path = written(tmp_path, f"[tool.derivations.check]\n{line}\n")
    with pytest.raises(ValueError, match=r"pyproject\.toml") as refusal:
        read_settings(path)
    assert words in str(refusal.value)


@pytest.mark.parametrize("text", ["", "[tool]\n", "tool = 3", "[tool.derivations]\n"])
def test_a_file_that_is_named_must_have_the_table(tmp_path: Path, text: str):
    with pytest.raises(ValueError, match=r"has no table \[tool.derivations.check\]"):
        read_settings(written(tmp_path, text))


def test_a_table_is_wanted(tmp_path: Path):
    with pytest.raises(ValueError, match="must be a table of settings"):
        read_settings(written(tmp_path, "[tool.derivations]\ncheck = 3"))


def test_an_id_names_what_stands_below_it():
    assert names_finding(["shapes"], "shapes", None)
    assert names_finding(["shapes"], "shapes.sum", None)
    assert names_finding(["softmax"], "canonical", "softmax.jacobian")
    assert not names_finding(["shape"], "shapes", None)
    assert not names_finding(["shapes.sum"], "shapes", None)
    assert not names_finding([], "shapes", "softmax.jacobian")
