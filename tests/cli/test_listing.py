"""What `list` shows at each width, what a search finds, what a wrong name is answered by, what the shell completes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner, Result

from derivations.catalogue import LAYERS, find, names
from derivations.cli import cli, stored_evidence
from derivations.cli.searching import found_by
from derivations.cli.stored_evidence import LAYER, Row, keep, source_digest
from derivations.topics import ALIASES, TOPICS, aliases_of

ROWS = (
    Row("softmax.jacobian", "Jacobian of softmax", "softmax", "proved", ("n", "x", "y")),
    Row("softmax.definition", "Definition of softmax", "softmax", "definition", ("n", "x", "y")),
    Row("attention.tiling_is_exact", "Attention over tiles of keys, put together", "attention", "proved", ("d_k",)),
    Row("attention.broken", "A result with a lost term", "attention", "refuted", ("K", "d_k")),
    Row("scaled_dot_product_attention", "Q[n,d_k] -> O[n,d_v]", LAYER, "definition", ("K", "Q", "d_k", "d_v")),
)


@pytest.fixture(autouse=True)
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The evidence of this source, as if these rows were all."""
    monkeypatch.setattr(stored_evidence, "user_cache_path", lambda *names, **options: tmp_path / "cache")
    keep(source_digest(), ROWS)


def run(*arguments: str, width: int = 80) -> Result:
    return CliRunner(env={"COLUMNS": str(width)}).invoke(cli, ["list", *arguments], prog_name="derivations")


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("arguments", [(), ("--all",), ("--topic", "softmax"), ("--layers",), ("--search", "K")])
def test_no_line_is_wider_than_the_terminal(arguments: tuple[str, ...], width: int):
    printed = run(*arguments, width=width)
    assert printed.exit_code == 0, printed.output
    assert [line for line in printed.stdout.splitlines() if len(line) > width] == []


def test_topics_come_with_the_number_of_their_results():
    printed = run().stdout
    assert printed.startswith("4 results (proved 2, definition 1, refuted 1), 2 topics, 1 layers\n")
    lines = printed.splitlines()
    assert [line.split()[:2] for line in lines[2:4]] == [["softmax", "2"], ["attention", "2"]]


def test_what_is_not_proved_says_so_beside_its_title():
    printed = run("--topic", "attention", width=120).stdout
    assert "A result with a lost term [refuted]" in printed
    assert "put together\n" in printed


def test_a_topic_has_its_results_and_layers_have_their_arrays():
    assert [row["id"] for row in json.loads(run("--topic", "softmax", "--json").stdout)] == [r.id for r in ROWS[:2]]
    assert [row["id"] for row in json.loads(run("--layers", "--json").stdout)] == [ROWS[-1].id]
    assert run("softmax", "--json").stdout == run("--topic", "softmax", "--json").stdout
    assert "Q[n,d_k] -> O[n,d_v]" in run("--layers").stdout


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (("--topic", "sofmtax"), "the nearest is softmax"),
        (("sofmtax",), "the nearest is softmax"),
        (("--search", "kv", "cache"), 'words to search for stand in quotes: --search "kv cache"'),
        (("softmax", "--topic", "attention"), "TOPIC and --topic exclude one another"),
        (("--topic", "flash"), "the nearest is attention"),
        (("--search", "jacobain"), "did you mean jacobian"),
        (("--search", "zzz"), "shows the topics"),
        (("--search", " "), "shows the topics"),
        (("--topic", "softmax", "--layers"), "--topic and --layers exclude one another"),
    ],
)
def test_what_is_not_there_is_answered_by_a_way_on(arguments: tuple[str, ...], advice: str):
    said = run(*arguments)
    assert said.exit_code != 0 and advice in said.stderr


# --- searching ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ("flash", [2]),
        ("Jacobian", [0]),
        ("softmax", [0, 1]),
        ("soft defin", [1]),
        ("K", [3, 4]),
        ("X", []),  # another letter than x
        ("d_k tiles", [2]),
        ("scaled_dot_product", [4]),
    ],
)
def test_a_search_finds_words_and_letters(words: str, places: list[int]):
    if places:
        assert found_by(words, ROWS) == [ROWS[place] for place in places]
    else:
        with pytest.raises(ValueError, match="nothing is found"):
            found_by(words, ROWS)


@pytest.fixture(scope="module")
def everything() -> list[Row]:
    """All ids, without titles: only they and the aliases can be found."""
    return [Row(name, "", name.partition(".")[0], "proved") for name in [*LAYERS, *names()]]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("rope", "positional_encoding.rotary_relative"),
        ("rope", "rotary_embedding"),
        ("gelu", "activation.gelu_derivative"),
        ("kv cache", "memory.key_value_cache"),
        ("kv-cache", "memory.key_value_cache"),
        ("flash", "attention.tiling_is_exact"),
        ("flash attention", "softmax.online_merge"),
        ("lora", "low_rank_adaptation"),
        ("swiglu", "gated_feed_forward"),
        ("moe", "mixture_of_experts"),
        ("backpropagation", "gradient.softmax"),
        ("layernorm", "layer_norm.jacobian"),
    ],
)
def test_words_of_the_field_find_what_they_mean(everything: list[Row], words: str, expected: str):
    assert expected in {row.id for row in found_by(words, everything)}


@pytest.mark.parametrize(
    ("word", "other"), [("rope", "softmax.jacobian"), ("gqa", "attention.weights"), ("lora", "linear")]
)
def test_words_of_the_field_do_not_find_all(everything: list[Row], word: str, other: str):
    assert other not in {row.id for row in found_by(word, everything)}


def test_every_part_of_an_alias_is_in_an_id(everything: list[Row]):
    sought = [row.id if "." in row.id else f"layer:{row.id}" for row in everything]
    assert [p for parts in ALIASES.values() for p in parts if not any(p in each for each in sought)] == []
    assert aliases_of("softmax.nothing") == []


def test_only_topics_that_there_are_are_described():
    """A topic without a line stands last in lists, so that a new one touches no other file."""
    assert set(TOPICS) <= {name.partition(".")[0] for name in names()}
    assert all(TOPICS.values())


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("rope", "rotary_embedding"),
        ("jacobian", "softmax.jacobian"),
        ("encoder_layr", "encoder_layer"),
        ("softmax.jacobain", "softmax.jacobian"),
        ("gelu", "feed_forward_gelu"),
        ("self_attention", "attention"),
    ],
)
def test_an_unknown_id_is_answered_by_results_and_layers(name: str, near: str):
    with pytest.raises(LookupError, match=f"no result or layer called '{name}'; the nearest are .*{near}"):
        find(name)


def test_a_topic_that_is_taken_for_an_id_is_named():
    with pytest.raises(LookupError, match="`derivations list attention` shows the results of that topic"):
        find("attention")
    with pytest.raises(LookupError) as unknown:
        find("rope")
    assert "--topic" not in str(unknown.value)


# --- completion -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "beginning", "expected"),
    [
        ("", "s", {"show", "site"}),
        ("", "", {"list", "show", "verify", "export", "code", "count", "check", "fit", "prove", "render", "site"}),
        ("show", "softmax.", {"softmax.jacobian", "softmax.definition"}),
        ("show", "scaled", {"scaled_dot_product_attention"}),
        ("verify softmax.jacobian", "att", {"attention.tiling_is_exact", "attention.broken"}),
        ("code", "s", {"scaled_dot_product_attention"}),
        ("list --topic", "mult", {"multi_head"}),
        ("count", "llama-3-8", {"llama-3-8b"}),
        ("count", "./conf", {"./conf"}),
        ("show softmax.jacobian --format", "la", {"latex"}),
        ("show softmax.jacobian --notation", "v", {"vaswani"}),
        ("render notes.md --notation", "mine", {"mine"}),
        ("fit llama-3-8b --gpu", "h20", {"h200"}),
        ("fit llama-3-8b --engine", "vl", {"vllm"}),
    ],
)
def test_the_shell_completes(line: str, beginning: str, expected: set[str]):
    completing = BashComplete(cli, {}, "derivations", "_DERIVATIONS_COMPLETE")
    assert {item.value for item in completing.get_completions(line.split(), beginning)} == expected


@pytest.mark.parametrize(
    ("word", "way_on"),
    [("chek", "the nearest is check"), ("nothinglike", "the commands are list, show,"), ("chek notes.md", "is check")],
)
def test_a_command_that_is_misspelt_is_answered_by_the_nearest(word: str, way_on: str):
    found = CliRunner().invoke(cli, word.split())
    assert found.exit_code == 2
    assert "there is no file and no command called" in found.stderr and way_on in found.stderr


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("check", "file"), ("check --config", "file"), ("render", "file"), ("prove", "file"), ("site", "dir"),
        ("export", "dir"), ("export encoder --onnx", "file"), ("fit --hardware", "file"), ("count --plot", "file"),
        ("show softmax.jacobian --notation", "file"), ("", "file"),
    ],
)  # fmt: skip
def test_the_shell_completes_paths(line: str, kind: str):
    completing = BashComplete(cli, {}, "derivations", "_DERIVATIONS_COMPLETE")
    found = completing.get_completions(line.split(), "wr")
    assert [(item.value, item.type) for item in found] == [("wr", kind)]


def test_ids_are_completed_before_anything_is_proved(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stored_evidence, "read", lambda digest: None)
    completing = BashComplete(cli, {}, "derivations", "_DERIVATIONS_COMPLETE")
    assert {item.value for item in completing.get_completions(["show"], "softmax.jacobian_")} == {
        name for name in names() if name.startswith("softmax.jacobian_")
    }
    assert [item.value for item in completing.get_completions(["code"], "encoder_")] == ["encoder_layer"]


def test_the_lines_that_are_documented_print_a_script_for_each_shell(repository: Path, monkeypatch: pytest.MonkeyPatch):
    page = (repository / "docs" / "command_line.md").read_text(encoding="utf-8")
    shells = dict(re.findall(r"^\| (bash|zsh|fish) \|.*_DERIVATIONS_COMPLETE=(\w+) derivations", page, re.M))
    assert shells == {shell: f"{shell}_source" for shell in ("bash", "zsh", "fish")}
    for instruction in shells.values():
        environment = {**os.environ, "_DERIVATIONS_COMPLETE": instruction, "PYTHONPATH": str(repository)}
        command = [sys.executable, "-c", "from derivations.cli import main; main()"]
        script = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True).stdout
        assert "_DERIVATIONS_COMPLETE" in script and "complet" in script
