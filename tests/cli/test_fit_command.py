"""The command `fit`: its verdict, its JSON, its closed forms, and one sentence for what it does not take."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sympy import Integer, Symbol, sympify

from derivations.cli import cli, main
from derivations.costs.fit.hardware import device_names

LLAMA: dict[str, Any] = {
    **{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 14, "intermediate_size": 22},
    **{"num_attention_heads": 12, "num_key_value_heads": 2, "head_dim": 10, "num_hidden_layers": 5, "vocab_size": 13},
    **{"max_position_embeddings": 64, "rms_norm_eps": 1e-05, "tie_word_embeddings": False, "hidden_act": "silu"},
}


def fit(*arguments: str) -> str:
    run = CliRunner().invoke(cli, ["fit", *arguments])
    assert run.exit_code == 0, run.output
    return run.stdout


def test_the_first_line_says_whether_it_fits_and_by_how_much():
    assert fit("llama-3-8b", "--gpu", "H100", "--seq", "8192").startswith(
        "llama-3-8b, one text of 8,192 positions on NVIDIA H100 SXM5 80 GB: fits, 62.1 GB to spare: 17.9 GB of 80.0 GB"
    )
    assert "h100: does not fit, 65.3 GB too much: 145 GB of 80.0 GB" in " ".join(
        fit("llama-3-70b", "--memory", "80GB").replace("a device of your own", "h100").split()
    )


def test_the_numbers_are_those_of_json():
    text, found = fit("llama-3-8b"), json.loads(fit("llama-3-8b", "--json"))
    for part in ("weights", "cache", "activations", "logits", "total"):
        assert f"{found['bytes'][part]:,}" in text
    assert f"{found['longest_context']:,} positions" in text and f"{found['most_texts']} texts" in text
    assert found["spare_bytes"] == found["bytes"]["room"] - found["bytes"]["total"] > 0 and found["fits"] is True
    assert set(found["bounds"]) == {"prefill", "decoding"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("llama-3-8b", "--tensor", "4", "--batch", "3"),
        ("gemma-2-9b", "--pipeline", "4", "--engine", "vllm"),
        ("mixtral-8x7b", "--weights", "int4", "--cache", "float8"),
        ("llama-3-8b", "--train", "--data", "4", "--sharded", "3"),
        ("mixtral-8x7b", "--train", "--data", "8", "--expert", "4", "--optimiser", "adam-8bit"),
    ],
)
def test_the_closed_forms_have_the_values_that_are_shown(arguments: tuple[str, ...]):
    """Read back by SymPy, with the printed sizes put in, each form gives the printed bytes."""
    found = json.loads(fit(*arguments, "--json", "--symbolic"))
    sizes = {Symbol(name): Integer(value) for name, value in found["symbolic"]["sizes"].items()}
    names = {symbol.name: symbol for symbol in sizes}
    for part, form in found["symbolic"]["bytes"].items():
        value = sympify(form, locals=names).subs(sizes)
        assert 0 <= found["bytes"][part] - value < 1, part


def test_a_configuration_of_a_hub_is_read(tmp_path: Path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(LLAMA), encoding="utf-8")
    found = json.loads(fit(str(file), "--memory", "1MB", "--seq", "7", "--json"))
    assert found["bytes"]["cache"] == 7 * 5 * 2 * 2 * 10 * 2 and found["bounds"] == {}


def test_more_positions_than_a_model_was_made_for_are_counted_and_named(tmp_path: Path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(LLAMA | {"max_position_embeddings": 131072}), encoding="utf-8")
    for kind in ((), ("--train",)):
        assert "made for" not in fit(str(file), "--seq", "131072", *kind)
        longer = " ".join(fit(str(file), "--seq", "200000", *kind).split())
        assert "the model was made for" in longer and "131,072 positions" in longer


def test_the_devices_are_listed():
    shown = fit("--gpus")
    assert all(name in shown for name in device_names())


def test_training_says_what_is_sent():
    text = fit("llama-3-8b", "--train", "--data", "8", "--sharded", "3", "--tokens", "15T")
    assert "data parallel" in text and "42,158,871,552" in text and "device hours" in text
    found = json.loads(fit("llama-3-8b", "--train", "--data", "8", "--sharded", "3", "--json"))
    assert found["sent_bytes"] == {"data parallel": 42158871552}


def test_a_file_of_hardware_adds_a_device(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text('[devices.mine]\ntitle = "mine"\nmemory = 20e9\nbandwidth = 1e12\n', encoding="utf-8")
    found = json.loads(fit("llama-3-8b", "--gpu", "mine", "--hardware", str(file), "--json"))
    assert found["device"]["memory_bytes"] == 20 * 10**9 and found["fits"] is True


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("llama-3-8b", "--seq", "-5"), "seq must be an integer >= 1, not -5"),
        (("llama-3-8b", "--batch", "0"), "batch must be an integer >= 1, not 0"),
        (("llama-3-8b", "--memory", "-80GB"), "--memory is '-80GB'; give a number above 0"),
        (("gpt3-125m", "--tensor", "8"), "8 devices cannot share 12 heads of gpt3-125m in equal parts"),
        (("llama-3-8b", "--devices", "3"), "ranks may be 1, 2, 4, 8, 16 or 32"),
        (("llama-3-8b", "--pipeline", "40"), "40 stages are more than the 32 layers of llama-3-8b; choose at most 32"),
        (("llama-3-8b", "--gpu", "h10"), "there is no device 'h10'; did you mean h100"),
        (("llama-3-8b", "--gpu", "a10"), "`derivations fit --gpus` lists all"),
        (("llama-3-8b", "--engine", "ollama"), "there is no engine 'ollama'; there are plain, vllm"),
        (("llama-3-8b", "--weights", "int2"), "the type of weights 'int2' is unknown; choose"),
        (("llama-3-8b", "--train", "--optimiser", "adamm"), "there is no optimiser 'adamm'; there are adam"),
        (("llama-3-8b", "--train", "--weights", "nf4"), "packed weights are not trained themselves; give --lora"),
        (("llama-3-8b", "--lora", "8"), "--lora is for training; add --train, or leave it out"),
        (("llama-3-8b", "--train", "--engine", "vllm"), "--engine is for serving; leave --train out, or leave it out"),
        (("llama-3-9b",), "there is no built-in model 'llama-3-9b'"),
        (("llama-3-8b", "--hardware", "nowhere.toml"), "nowhere.toml: the file of devices cannot be read"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence_and_exit_code_2(
    arguments: tuple[str, ...],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("sys.argv", ["derivations", "fit", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    said = capsys.readouterr()
    assert stopped.value.code == 2 and said.out == ""
    assert sentence in said.err and said.err.count("\n") == 1
