"""The command `count`: its JSON, its tables, each option, and one sentence for what it does not take."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from derivations.architectures.hugging_face import model_of
from derivations.cli import main
from derivations.cli.counting import DTYPES, PHASES, RECOMPUTED
from derivations.costs.counts import BYTES, count
from derivations.costs.counts import PHASES as COUNTED_PHASES
from derivations.costs.counts import RECOMPUTED as COUNTED_RECOMPUTED
from derivations.language.counting.convention import Convention

LLAMA: dict[str, Any] = {
    **{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 14, "intermediate_size": 11},
    **{"num_attention_heads": 6, "num_key_value_heads": 3, "head_dim": 10, "num_hidden_layers": 5, "vocab_size": 13},
    **{"max_position_embeddings": 64, "rms_norm_eps": 1e-05, "tie_word_embeddings": False, "hidden_act": "silu"},
}
GPT2: dict[str, Any] = {
    **{"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": 15, "n_head": 5, "n_inner": 7},
    **{"n_layer": 3, "n_positions": 13, "vocab_size": 11},
}
MIXTRAL: dict[str, Any] = {
    **LLAMA,
    **{"architectures": ["MixtralForCausalLM"], "model_type": "mixtral"},
    **{"num_local_experts": 5, "num_experts_per_tok": 2},
}
T5: dict[str, Any] = {
    **{"architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "d_model": 15, "d_ff": 7, "d_kv": 5},
    **{"num_heads": 3, "num_layers": 2, "num_decoder_layers": 3, "vocab_size": 11},
}
VIT: dict[str, Any] = {
    **{"architectures": ["ViTForImageClassification"], "model_type": "vit", "hidden_size": 15, "num_labels": 11},
    **{"num_attention_heads": 5, "num_hidden_layers": 3, "intermediate_size": 7, "image_size": 14, "patch_size": 7},
    "num_channels": 5,
}
CONFIGS = {"llama": LLAMA, "gpt2": GPT2, "mixtral": MIXTRAL, "t5": T5, "vit": VIT}
TERMS = ["matmul", "bias", "softmax", "norm", "activation", "reduction", "elementwise"]
SCHEMA: dict[str, Any] = {
    "model": str,
    "convention": {
        **{"unit": str, "products": str, "causal": str, "lookups": str, "input_gradient": bool},
        "text": str,
    },
    "parameters": {"total": int, "active": int, "of": str, "components": {str: int}},
    "flops": {"phase": str, "batch": int, "seq": int, "total": int, "terms": dict.fromkeys(TERMS, int)},
    "memory": {
        **{"weights_bytes": int, "dtype": str, "kv_cache_bytes_per_token": int, "activation_bytes": int},
        **{"kv_cache_bytes": int, "source_kv_cache_bytes": int, "weights_stored": str, "latent": str},
    },
    "assumptions": [str],
}


@dataclass(frozen=True)
class Answer:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run `derivations count` as the program does."""

    def asked(*arguments: str | Path) -> Answer:
        monkeypatch.setattr(sys, "argv", ["derivations", "count", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Answer(int(ended.value.code or 0), captured.out, captured.err)

    return asked


Ask = Callable[..., Answer]


def written(folder: Path, config: Any, name: str = "config.json") -> Path:
    """Write a configuration, given as an object or as it stands in the file."""
    path = folder / name
    data = config if isinstance(config, bytes) else json.dumps(config).encode()
    path.write_bytes(data)
    return path


def no_float(text: str) -> Any:
    raise AssertionError(f"{text} is no exact integer")


def read(answer: Answer) -> Any:
    """The object that a command printed, and nothing else: no float, nothing on standard error."""
    assert (answer.code, answer.err) == (0, "")
    return json.loads(answer.out, parse_float=no_float, parse_constant=no_float)


def fits(found: Any, schema: Any) -> bool:
    """Whether a JSON value has the fields of a schema, in order, and their types."""
    if isinstance(schema, list):
        return isinstance(found, list) and all(fits(each, schema[0]) for each in found)
    if isinstance(schema, dict) and str in schema:
        return isinstance(found, dict) and all(fits(each, schema[str]) for each in found.values())
    if isinstance(schema, dict):
        return list(found) == list(schema) and all(fits(found[key], schema[key]) for key in schema)
    return type(found) is schema


# --- JSON -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        *("transformer-base", "bert-base", "distilbert", "gpt2", "gpt-j-6b", "pythia-1.4b", "opt-350m", "bloom-560m"),
        *("falcon-7b", "t5-small", "bart-base", "llama-3-8b", "mixtral-8x7b", "qwen3-8b", "gemma-2-2b", "gemma-3-1b"),
        *("phi-3-mini", "deepseek-v3", "vit-b-16", "whisper-tiny"),
    ],
)
def test_the_object_has_the_fields_of_the_contract(ask: Ask, model: str) -> None:
    found = read(ask(model, "--json", "--seq", "64"))
    assert fits(found, SCHEMA)
    assert found["model"] == model
    assert sum(found["parameters"]["components"].values()) == found["parameters"]["total"]
    assert sum(found["flops"]["terms"].values()) == found["flops"]["total"]
    assert found["memory"]["weights_bytes"] == 2 * found["parameters"]["total"]
    assert found["convention"]["text"] in found["assumptions"]


def test_the_check_of_the_contract_says_no(ask: Ask) -> None:
    found = read(ask("gpt2", "--json"))
    for broken in (
        {**found, "extra": 1},
        {key: found[key] for key in reversed(list(found))},
        {**found, "model": 3},
        {**found, "flops": {**found["flops"], "total": 1.0}},
        {**found, "flops": {**found["flops"], "seq": True}},
        {**found, "parameters": {**found["parameters"], "components": {"token_embedding": "1"}}},
        {**found, "assumptions": [None]},
    ):
        assert not fits(broken, SCHEMA)
    with pytest.raises(AssertionError, match=r"1\.5 is no exact integer"):
        read(Answer(0, "[1.5]", ""))


def test_a_configuration_is_counted_from_its_file_and_from_its_folder(ask: Ask, tmp_path: Path) -> None:
    path = written(tmp_path, LLAMA)
    from_file, from_folder = ask(path, "--json", "--seq", "8"), ask(tmp_path, "--json", "--seq", "8")
    assert from_file == from_folder
    assert read(from_file) == count(model_of(LLAMA, tmp_path.name), seq=8).json()
    other = written(tmp_path, LLAMA, "small.json")
    assert read(ask(other, "--json", "--seq", "8"))["parameters"] == read(from_file)["parameters"]


def test_closed_forms_are_added_to_the_object(ask: Ask) -> None:
    plain, symbolic = read(ask("gpt2", "--json")), read(ask("gpt2", "--json", "--symbolic"))
    forms = symbolic.pop("symbolic")
    assert symbolic == plain
    assert fits(
        forms,
        {
            "sizes": {str: int},
            "parameters": {"total": str, "active": str, "components": {str: str}},
            "flops": {"total": str, "terms": dict.fromkeys(TERMS, str)},
            "memory": {
                **{"weights_bytes": str, "kv_cache_bytes_per_token": str, "activation_bytes": str},
                **{"kv_cache_bytes": str, "source_kv_cache_bytes": str},
            },
        },
    )
    assert forms["parameters"]["components"]["token_embedding"] == "d_model*vocab"
    assert forms["sizes"]["vocab"] == 50257


# --- tables ---------------------------------------------------------------------------------------------------------


def rows(text: str) -> dict[str, list[str]]:
    """The rows of the tables: first cell, and the others."""
    lines = [[cell.strip() for cell in line.strip("│").split("│")] for line in text.splitlines() if line[:1] == "│"]
    return {first: others for first, *others in lines}


def numbers(found: Any) -> dict[str, int]:
    """The numbers of the JSON object under the names that the tables have for them."""
    memory = found["memory"]
    return {
        **found["parameters"]["components"],
        **{kind: value for kind, value in found["flops"]["terms"].items() if value},
        "weights": memory["weights_bytes"],
        "cache of keys and values, for each position": memory["kv_cache_bytes_per_token"],
        "saved residuals (activations for the backward pass)": memory["activation_bytes"],
    }


@pytest.mark.parametrize("symbolic", [False, True], ids=["numbers", "symbolic"])
@pytest.mark.parametrize("name", ["gpt2", "llama", "mixtral"])
def test_the_tables_show_the_numbers_of_the_object(ask: Ask, tmp_path: Path, name: str, symbolic: bool) -> None:
    model = "gpt2" if name == "gpt2" else written(tmp_path, CONFIGS[name])
    answer = ask(model, "--seq", "64", *["--symbolic"] * symbolic)
    assert (answer.code, answer.err) == (0, "")
    table, found = rows(answer.out), read(ask(model, "--seq", "64", "--json"))
    for key, number in numbers(found).items():
        assert f"{number:,}" in table[key], key
    for total in (found["parameters"]["total"], found["flops"]["total"]):
        assert f" {total:,} " in answer.out
    assert all(" ".join(text.split()).rstrip(".") in " ".join(answer.out.split()) for text in found["assumptions"])


def test_closed_forms_are_printed_with_their_proof(ask: Ask, tmp_path: Path) -> None:
    answer = ask(written(tmp_path, MIXTRAL), "--symbolic")
    assert answer.out.count("Evidence: proved.") == 1
    assert "closed form" in answer.out
    assert "[count]" in answer.out
    plain = ask(tmp_path).out
    assert "closed form" not in plain
    assert "Evidence" not in plain
    assert "active for one token" in rows(plain)


# --- options --------------------------------------------------------------------------------------------------------

OPTIONS: list[tuple[str, list[str], dict[str, Any], str]] = [
    ("llama", ["--batch", "3"], {"batch": 3}, "flops"),
    ("llama", ["--seq", "7"], {"seq": 7}, "flops"),
    ("t5", ["--source", "7"], {"source": 7}, "flops"),
    ("llama", ["--phase", "training"], {"phase": "training"}, "flops"),
    ("llama", ["--phase", "decode"], {"phase": "decode"}, "flops"),
    ("llama", ["--phase", "prefill"], {"phase": "prefill"}, "assumptions"),
    ("llama", ["--convention", "mac"], {"convention": Convention(unit="mac")}, "flops"),
    ("llama", ["--products", "2k-1"], {"convention": Convention(products="2k-1")}, "flops"),
    ("llama", ["--causal", "halved"], {"convention": Convention(causal="halved")}, "flops"),
    ("llama", ["--causal", "visible"], {"convention": Convention(causal="visible")}, "flops"),
    ("llama", ["--lookups", "counted"], {"convention": Convention(lookups="counted")}, "flops"),
    (
        "vit",
        ["--phase", "training", "--no-input-gradient"],
        {"phase": "training", "convention": Convention(input_gradient=False)},
        "flops",
    ),
    ("llama", ["--recompute", "attention"], {"recomputed": "attention"}, "memory"),
    ("llama", ["--recompute", "blocks"], {"recomputed": "blocks"}, "memory"),
    *(("llama", ["--dtype", dtype], {"dtype": dtype}, "memory") for dtype in DTYPES if dtype != "bfloat16"),
]


@pytest.mark.parametrize(("name", "arguments", "asked", "changed"), OPTIONS, ids=lambda each: "".join(each)[:40])
def test_an_option_changes_what_it_says(
    ask: Ask, tmp_path: Path, name: str, arguments: list[str], asked: dict[str, Any], changed: str
) -> None:
    path = written(tmp_path, CONFIGS[name])
    found = read(ask(path, "--json", *arguments))
    assert found == count(model_of(CONFIGS[name], tmp_path.name), **asked).json()
    usual = read(ask(path, "--json", *(arguments[:2] if len(arguments) > 2 else ())))
    assert found[changed] != usual[changed]
    assert found["parameters"] == usual["parameters"]


def test_choices_are_those_that_counting_knows() -> None:
    assert set(PHASES) == set(COUNTED_PHASES)
    assert set(RECOMPUTED) == set(COUNTED_RECOMPUTED)
    assert set(DTYPES) == set(BYTES)


def test_bytes_are_those_of_the_number_type_which_is_bfloat16(ask: Ask) -> None:
    usual, wide = (read(ask("gpt2", "--json", *more))["memory"] for more in ([], ["--dtype", "float32"]))
    assert (usual["dtype"], wide["dtype"]) == ("bfloat16", "float32")
    assert wide["weights_bytes"] == 2 * usual["weights_bytes"] == 4 * 124439808
    assert wide["kv_cache_bytes_per_token"] == 2 * usual["kv_cache_bytes_per_token"] == 4 * 12 * 2 * 768


def test_a_field_may_be_passed_over(ask: Ask, tmp_path: Path) -> None:
    path = written(tmp_path, {**LLAMA, "flux": 3, "flow": 5})
    refused = ask(path, "--json", "--ignore", "flux")
    assert refused.code == 2
    assert "flow = 5" in refused.err
    found = read(ask(path, "--json", "--ignore", "flux", "--ignore", "flow"))
    assert found["parameters"] == count(model_of(LLAMA, "llama")).json()["parameters"]


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_picture_is_drawn(ask: Ask, tmp_path: Path, suffix: str, start: bytes) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / f"costs.{suffix}"
    answer = ask(written(tmp_path, LLAMA), "--json", "--plot", picture)
    assert json.loads(answer.out)["model"] == tmp_path.name
    assert answer.code == 0
    assert answer.err == f"picture in {picture}\n"
    assert picture.read_bytes().startswith(start)


# --- bad input ------------------------------------------------------------------------------------------------------


def refused(answer: Answer) -> str:
    """The one sentence on standard error."""
    assert answer.code == 2
    assert answer.out == ""
    assert re.fullmatch(r"derivations: [^\n]+\n", answer.err)
    assert "Traceback" not in answer.err
    return answer.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["gtp2"], "there is no built-in model 'gtp2', and nothing is downloaded; did you mean gpt2"),
        (["llama-3"], "there is no built-in model 'llama-3', and nothing is downloaded; did you mean llama-3-8b"),
        (["nowhere/config.json"], "nowhere/config.json: there is no such file"),
        (["."], "config.json: there is no such file"),
        (["gpt2", "--seq", "1025"], "gpt2: 1025 positions are asked for, its table of positions has 1024"),
        (["bert-base", "--seq", "513"], "bert-base: 513 positions are asked for, its table of positions has 512"),
        (["t5-small", "--source", "0"], "--source"),
        (["gpt2", "--seq", "0"], "--seq"),
        (["gpt2", "--seq", "-3"], "--seq"),
        (["gpt2", "--seq", "1.5"], "--seq"),
        (["gpt2", "--seq", "many"], "--seq"),
        (["gpt2", "--batch", "0"], "--batch"),
        (["gpt2", "--phase", "backward"], "--phase"),
        (["gpt2", "--convention", "flops"], "--convention"),
        (["gpt2", "--causal", "half"], "--causal"),
        (["gpt2", "--dtype", "int4"], "--dtype"),
        (["gpt2", "--recompute", "all"], "--recompute"),
        (["vit-b-16", "--phase", "decode", "--json"], "decod"),
        (["bert-base", "--phase", "decode", "--json"], "decod"),
        ([], "MODEL"),
    ],
    ids=lambda each: " ".join(each)[:40] if isinstance(each, list) else "",
)
def test_a_wrong_argument_is_answered_by_one_sentence(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sentence in refused(ask(*arguments))


TEXT = json.dumps(GPT2)
FILES: dict[str, tuple[bytes, str]] = {
    "truncated": (TEXT[:70].encode(), "not JSON"),
    "last brace missing": (TEXT[:-1].encode(), "not JSON"),
    "empty": (b"", "not JSON"),
    "more behind": (f"{TEXT} x".encode(), "not JSON"),
    "a comment": (f"// {TEXT}".encode(), "not JSON"),
    "an assignment": (b"n_embd = 15", "not JSON"),
    "UTF-16": (TEXT.encode("utf-16"), "not UTF-8"),
    "Latin-1": (TEXT.replace("gpt2", "gp\xe92").encode("latin-1"), "not UTF-8"),
    "a list": (b"[1, 2]", "a JSON object of fields is needed"),
    "null": (b"null", "a JSON object of fields is needed"),
    "a number": (b"7", "a JSON object of fields is needed"),
    "nested": (b"[" * 10**5 + b"]" * 10**5, "nested too deeply"),
    "twice": (TEXT.replace('"n_head": 5', '"n_head": 5, "n_head": 3').encode(), "n_head"),
    "not a number": (TEXT.replace('"n_embd": 15', '"n_embd": NaN').encode(), "n_embd"),
    "infinite": (TEXT.replace('"n_embd": 15', '"n_embd": -Infinity').encode(), "n_embd"),
    "very many digits": (TEXT.replace('"n_embd": 15', f'"n_embd": {"9" * 5000}').encode(), "n_embd"),
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_is_no_configuration_is_refused(ask: Ask, tmp_path: Path, case: str) -> None:
    data, why = FILES[case]
    path = written(tmp_path, data)
    sentence = refused(ask(path, "--json"))
    assert str(path) in sentence
    assert why in sentence


def test_a_file_of_100_megabytes_is_refused_unread(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.truncate(100 * 10**6)
    assert f"{path}: the file has more than" in refused(ask(path))


def test_half_a_character_is_named(tmp_path: Path) -> None:
    """In a process of its own: standard error, there, can say what is no text."""
    path = written(tmp_path, TEXT.replace("gpt2", "\\ud800").encode())
    program = [sys.executable, "-m", "derivations.cli", "count", str(path)]
    ran = subprocess.run(program, capture_output=True, encoding="utf-8", check=False)
    assert "model_type" in refused(Answer(ran.returncode, ran.stdout, ran.stderr))


SIZES = ("n_embd", "n_head", "n_layer", "n_positions", "vocab_size", "n_inner")
WRONG_SIZES: list[Any] = [0, -1, 2.5, 15.0, "15", True, [15], {}, 10**16]
FIELDS: list[tuple[str, dict[str, Any], str]] = [
    *(("gpt2", {size: wrong}, size) for size in SIZES for wrong in WRONG_SIZES),
    *(("gpt2", {size: None}, size) for size in SIZES[:-1]),  # n_inner is null where it follows from n_embd
    ("gpt2", {"n_head": 7}, "n_head"),
    ("gpt2", {"hidden_size": 16}, "hidden_size"),
    ("gpt2", {"n_ctx": 11}, "n_ctx"),
    ("gpt2", {"model_type": "gpt5"}, "model_type"),
    ("gpt2", {"model_type": None}, "model_type"),
    ("gpt2", {"model_type": 5}, "model_type"),
    ("gpt2", {"model_type": "__import__('os').getcwd()"}, "model_type"),
    ("gpt2", {"architectures": ["LlamaForCausalLM"]}, "architectures"),
    ("gpt2", {"architectures": "GPT2Model"}, "architectures"),
    ("gpt2", {"activation_function": "swoosh"}, "activation_function"),
    ("gpt2", {"layer_norm_epsilon": -1}, "layer_norm_epsilon"),
    ("gpt2", {"layer_norm_epsilon": "small"}, "layer_norm_epsilon"),
    ("gpt2", {"tie_word_embeddings": "yes"}, "tie_word_embeddings"),
    ("gpt2", {"pruned_heads": {"0": [1]}}, "pruned_heads"),
    ("gpt2", {"add_cross_attention": True}, "add_cross_attention"),
    ("gpt2", {"flux": 3}, "numbers that leave it out may be wrong, so none are given"),
    ("llama", {"num_key_value_heads": 4}, "key-value heads, 4"),
    ("llama", {"num_key_value_heads": 12}, "key-value heads, 12"),
    ("llama", {"head_dim": 9}, "9"),
    ("llama", {"head_dim": None}, "hidden_size is 14"),
    ("llama", {"rope_theta": 0}, "rope_theta"),
    ("llama", {"rope_scaling": 3}, "rope_scaling"),
    ("llama", {"rope_scaling": {"rope_type": "unheard"}}, "rope"),
    ("llama", {"attention_bias": "no"}, "attention_bias"),
    ("mixtral", {"num_experts_per_tok": 6}, "num_experts_per_tok"),
    ("mixtral", {"num_local_experts": 0}, "num_local_experts"),
    ("mixtral", {"sliding_window": -1}, "sliding_window"),
    ("t5", {"feed_forward_proj": "gated-swoosh"}, "feed_forward_proj"),
    ("t5", {"num_decoder_layers": 0}, "num_decoder_layers"),
    ("vit", {"patch_size": 15}, "patch_size"),
    ("vit", {"num_labels": 0}, "num_labels"),
]


@pytest.mark.parametrize(("name", "wrong", "named"), FIELDS, ids=lambda each: str(each)[:40])
def test_a_wrong_field_is_named_with_its_file(
    ask: Ask, tmp_path: Path, name: str, wrong: dict[str, Any], named: str
) -> None:
    path = written(tmp_path, {**CONFIGS[name], **wrong})
    sentence = refused(ask(path, "--json"))
    assert str(path) in sentence
    assert named in sentence


@pytest.mark.parametrize("field", ["model_type", "n_embd", "n_head", "n_layer", "vocab_size"])
def test_a_missing_field_is_named(ask: Ask, tmp_path: Path, field: str) -> None:
    path = written(tmp_path, {key: value for key, value in GPT2.items() if key != field})
    assert f"{path}: {field} is missing" in refused(ask(path))


def test_nothing_in_a_file_is_evaluated(ask: Ask, tmp_path: Path) -> None:
    trap = f"__import__('pathlib').Path({str(tmp_path / 'trap')!r}).touch()"
    for wrong in ({"model_type": trap}, {"n_embd": trap}, {"activation_function": trap}, {trap: 1}):
        refused(ask(written(tmp_path, {**GPT2, **wrong})))
    assert not (tmp_path / "trap").exists()


@pytest.mark.parametrize(
    ("picture", "sentence"), [("costs.txt", "costs.txt"), ("nowhere/costs.png", "nowhere"), ("costs", "costs")]
)
def test_a_picture_that_cannot_be_written_is_refused(ask: Ask, tmp_path: Path, picture: str, sentence: str) -> None:
    answer = ask(written(tmp_path, LLAMA), "--json", "--plot", tmp_path / picture)
    assert answer.code == 2
    assert re.fullmatch(r"derivations: [^\n]+\n", answer.err)
    assert sentence in answer.err
    assert not (tmp_path / picture).exists()
