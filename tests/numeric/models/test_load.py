"""A small GPT-2 written to a folder by hand: its logits by plain loops, greedy texts, each refusal in a sentence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

from numeric.models.load import load
from numeric.runtime.checks import InputError

VOCAB, WIDTH, HEADS, LAYERS, POSITIONS = 13, 6, 3, 2, 11
CONFIG = {
    "model_type": "gpt2",
    "architectures": ["GPT2LMHeadModel"],
    "vocab_size": VOCAB,
    "n_embd": WIDTH,
    "n_head": HEADS,
    "n_layer": LAYERS,
    "n_positions": POSITIONS,
    "n_inner": 7,
    "bos_token_id": 0,
    "eos_token_id": 5,
}
Tensors = dict[str, Any]


def tensors(seed: int = 1) -> Tensors:
    rng = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (VOCAB, WIDTH), "wpe.weight": (POSITIONS, WIDTH)}
    for n in range(LAYERS):
        for name, shape in {"attn.c_attn": (WIDTH, 3 * WIDTH), "attn.c_proj": (WIDTH, WIDTH)}.items():
            shapes |= {f"h.{n}.{name}.weight": shape, f"h.{n}.{name}.bias": shape[1:]}
        for name, shape in {"mlp.c_fc": (WIDTH, 7), "mlp.c_proj": (7, WIDTH)}.items():
            shapes |= {f"h.{n}.{name}.weight": shape, f"h.{n}.{name}.bias": shape[1:]}
        for name in ("ln_1", "ln_2"):
            shapes |= {f"h.{n}.{name}.weight": (WIDTH,), f"h.{n}.{name}.bias": (WIDTH,)}
    shapes |= {"ln_f.weight": (WIDTH,), "ln_f.bias": (WIDTH,)}
    scale = {"wte.weight": 0.3} | {name: 2.0 for name in shapes if "attn.c" in name or "mlp.c" in name}  # varied texts
    return {f"transformer.{name}": scale.get(name, 1.0) * rng.normal(size=shape) for name, shape in shapes.items()}


def saved(
    folder: Path, weights: Tensors, config: dict[str, Any] | None = None, kind: str = "F64", name: str = "model"
) -> Path:
    """Write a checkpoint, each number in the given type."""
    header, data = {}, b""
    for tensor, value in weights.items():
        number = np.asarray(value, {"F64": "<f8", "F32": "<f4", "BF16": "<f4", "F16": "<f2"}[kind])
        raw = (number.view("<u4") >> 16).astype("<u2").tobytes() if kind == "BF16" else number.tobytes()
        header[tensor] = {"dtype": kind, "shape": number.shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    (folder / f"{name}.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    (folder / "config.json").write_text(json.dumps(CONFIG if config is None else config), encoding="utf-8")
    return folder


def by_hand(weights: Tensors, tokens: list[int]) -> Any:
    """GPT-2 for one text: Radford et al. (2019), with GELU by its hyperbolic tangent."""
    w = {name.removeprefix("transformer."): value for name, value in weights.items()}

    def norm(x: Any, name: str) -> Any:
        centred = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
        return centred / deviation * w[f"{name}.weight"] + w[f"{name}.bias"]

    def affine(x: Any, name: str) -> Any:
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    x, size = w["wte.weight"][tokens] + w["wpe.weight"][: len(tokens)], WIDTH // HEADS
    for n in range(LAYERS):
        q, k, v = np.split(affine(norm(x, f"h.{n}.ln_1"), f"h.{n}.attn.c_attn"), 3, axis=-1)
        heads = []
        for start in range(0, WIDTH, size):
            columns = slice(start, start + size)
            scores = q[:, columns] @ k[:, columns].T / size**0.5
            scores[np.triu_indices(len(tokens), 1)] = -np.inf
            heads.append(softmax(scores, axis=-1) @ v[:, columns])
        x = x + affine(np.concatenate(heads, axis=-1), f"h.{n}.attn.c_proj")
        z = affine(norm(x, f"h.{n}.ln_2"), f"h.{n}.mlp.c_fc")
        gelu = z / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (z + 0.044715 * z**3)))
        x = x + affine(gelu, f"h.{n}.mlp.c_proj")
    return norm(x, "ln_f") @ w["wte.weight"].T


TOKENS = [1, 12, 3, 7, 0]


@pytest.mark.parametrize(("kind", "dtype", "bound"), [("F64", np.float64, 1e-12), ("F32", np.float32, 1e-4)])
def test_logits_are_those_written_by_hand(tmp_path: Path, kind: str, dtype: Any, bound: float) -> None:
    logits = load(saved(tmp_path, tensors(), kind=kind), dtype).logits(TOKENS)
    assert logits.dtype == dtype
    np.testing.assert_allclose(logits, by_hand(tensors(), TOKENS), rtol=0, atol=bound)


@pytest.mark.parametrize("kind", ["BF16", "F16"])
def test_stored_in_half_precision(tmp_path: Path, kind: str) -> None:
    """The weights are the rounded ones, and the arithmetic is not."""
    weights = tensors()
    stored = {n: (v.astype("<f4").view("<u4") >> 16 << 16).view("<f4") for n, v in weights.items()}
    rounded = stored if kind == "BF16" else {n: v.astype("<f2") for n, v in weights.items()}
    expected = by_hand({name: value.astype(float) for name, value in rounded.items()}, TOKENS)
    logits = load(saved(tmp_path, weights, kind=kind), np.float64).logits(TOKENS)
    np.testing.assert_allclose(logits, expected, rtol=0, atol=1e-12)


def test_a_batch_is_its_texts_one_by_one(tmp_path: Path) -> None:
    model, batch = load(saved(tmp_path, tensors()), np.float64), np.array([[TOKENS, TOKENS[::-1], [2] * 5]] * 2)
    np.testing.assert_allclose(model.logits(batch)[1, 1], by_hand(tensors(), TOKENS[::-1]), rtol=0, atol=1e-12)
    assert model.logits(batch).shape == (2, 3, 5, VOCAB)


def greedy(tokens: list[int], longest: int, ends: tuple[int, ...]) -> list[int]:
    text = list(tokens)
    for _ in range(longest):
        text.append(int(by_hand(tensors(), text)[-1].argmax()))
        if text[-1] in ends:
            break
    return text[len(tokens) :]


@pytest.mark.parametrize("seed", range(5))
def test_greedy_texts(tmp_path: Path, seed: int) -> None:
    model = load(saved(tmp_path, tensors()), np.float64)
    tokens = np.random.default_rng(seed).integers(VOCAB, size=3).tolist()
    assert model.generate(tokens, 6).tolist() == greedy(tokens, 6, (5,))
    assert model.generate(tokens, 6, end=()).tolist() == greedy(tokens, 6, ())
    first = greedy(tokens, 1, ())[0]
    assert model.generate(tokens, 6, end=first).tolist() == [first]


def test_texts_that_end_are_filled_up(tmp_path: Path) -> None:
    model = load(saved(tmp_path, tensors(), {**CONFIG, "pad_token_id": 11}), np.float64)
    texts = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    end = greedy(texts[1], 1, ())[0]
    together = model.generate(texts, 4, end=end).tolist()
    alone = [greedy(text, 4, (end,)) for text in texts]
    longest = max(map(len, alone))
    assert together == [text + [11] * (longest - len(text)) for text in alone]
    assert len(alone[1]) == 1 < longest


def test_generation_is_told_of_its_tokens_in_a_file_of_its_own(tmp_path: Path) -> None:
    saved(tmp_path, tensors())
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [3, 9], "top_k": 50}))
    assert load(tmp_path).special == {"eos_token_id": [3, 9]}


def test_a_token_may_be_forced_to_stand_last(tmp_path: Path) -> None:
    model = load(saved(tmp_path, tensors(), {**CONFIG, "forced_eos_token_id": 8}, "F64"), np.float64)
    assert model.generate(TOKENS, 4, end=()).tolist() == [*greedy(TOKENS, 3, ()), 8]


def test_hidden_rows_are_those_behind_the_last_norm(tmp_path: Path) -> None:
    model = load(saved(tmp_path, tensors()), np.float64)
    hidden = model.hidden(TOKENS) @ tensors()["transformer.wte.weight"].T
    np.testing.assert_allclose(hidden, by_hand(tensors(), TOKENS), rtol=0, atol=1e-12)


def test_names_without_prefix_old_buffers_and_a_copy_of_the_table(tmp_path: Path) -> None:
    weights = {name.removeprefix("transformer."): value for name, value in tensors().items()}
    weights |= {"lm_head.weight": weights["wte.weight"], "h.0.attn.bias": np.tri(POSITIONS)[None, None]}
    logits = load(saved(tmp_path, weights), np.float64).logits(TOKENS)
    np.testing.assert_allclose(logits, by_hand(tensors(), TOKENS), rtol=0, atol=1e-12)


def test_old_names_of_norms(tmp_path: Path) -> None:
    weights = {
        n.replace("ln_1.weight", "ln_1.gamma").replace("ln_1.bias", "ln_1.beta"): v for n, v in tensors().items()
    }
    logits = load(saved(tmp_path, weights), np.float64).logits(TOKENS)
    np.testing.assert_allclose(logits, by_hand(tensors(), TOKENS), rtol=0, atol=1e-12)


def test_the_table_may_only_be_stored_as_the_head(tmp_path: Path) -> None:
    weights = tensors()
    weights["lm_head.weight"] = weights.pop("transformer.wte.weight")
    logits = load(saved(tmp_path, weights), np.float64).logits(TOKENS)
    np.testing.assert_allclose(logits, by_hand(tensors(), TOKENS), rtol=0, atol=1e-12)


def test_numbers_that_are_not_finite_are_let_through(tmp_path: Path) -> None:
    weights = tensors()
    weights["transformer.wte.weight"][4] = np.nan
    logits = load(saved(tmp_path, weights), np.float64).logits(TOKENS)
    assert np.isnan(logits[:, 4]).all()
    assert np.isfinite(np.delete(logits, 4, axis=1)).all()


# --- what is refused ------------------------------------------------------------------------------------------------


def changed(change: Callable[[Tensors], Any]) -> Tensors:
    weights = tensors()
    change(weights)
    return weights


QKV = "transformer.h.1.attn.c_attn.weight"
WRONG: dict[str, tuple[Callable[[Tensors], Any], str]] = {
    "missing": (
        lambda w: w.pop(QKV),
        f"the tensor {QKV} is missing, which holds the weight decoder.self_attention.W_Q",
    ),
    "missing bias": (lambda w: w.pop("transformer.ln_f.bias"), "the tensor transformer.ln_f.bias is missing"),
    "extra": (lambda w: w.update(more=np.ones(2)), "the tensor more is extra"),
    "extra layer": (lambda w: w.update({"transformer.h.2.ln_1.bias": np.ones(WIDTH)}), "h.2.ln_1.bias is extra"),
    "transposed": (lambda w: w.update({QKV: w[QKV].T}), f"{QKV} has shape (18, 6), (6, 18) is needed"),
    "same entries": (lambda w: w.update({QKV: w[QKV].reshape(3, 36)}), f"{QKV} has shape (3, 36), (6, 18) is needed"),
    "another head": (
        lambda w: w.update({"lm_head.weight": w["transformer.wte.weight"] + 1}),
        "lm_head.weight differs from transformer.wte.weight",
    ),
    "head of another shape": (lambda w: w.update({"lm_head.weight": np.ones(3)}), "lm_head.weight differs from"),
    "twice": (lambda w: w.update({"wpe.weight": w["transformer.wpe.weight"]}), "are the same weight"),
}


@pytest.mark.parametrize("case", WRONG)
def test_tensors_that_do_not_fit_are_named_in_one_sentence(tmp_path: Path, case: str) -> None:
    change, message = WRONG[case]
    with pytest.raises(InputError) as error:
        load(saved(tmp_path, changed(change)))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_integers_are_no_weights(tmp_path: Path) -> None:
    saved(tmp_path, tensors(), kind="F64")
    file = tmp_path / "model.safetensors"
    file.write_bytes(file.read_bytes().replace(b'"F64"', b'"I64"'))
    with pytest.raises(InputError, match="has the dtype I64"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_embd": 12}, "has shape"),
        ({"n_layer": 3}, "h.2.ln_1.weight is missing|h.2.attn.c_attn.weight is missing"),
        ({"n_layer": 1}, r"h\.1\.[a-z_1.]+ is extra"),
        ({"model_type": "vit", "architectures": ["ViTModel"]}, "."),
        ({"model_type": "unheard_of"}, "unheard_of"),
        ({"eos_token_id": "5"}, "eos_token_id"),
        (
            {"forced_eos_token_id": [5, 1.0]},
            r"forced_eos_token_id must be a whole number or a list of them, not \[5, 1\.",
        ),
    ],
)
def test_a_configuration_at_odds_with_the_tensors_is_refused(tmp_path: Path, change: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(saved(tmp_path, tensors(), {**CONFIG, **change}))


def test_a_folder_without_a_configuration_is_refused(tmp_path: Path) -> None:
    saved(tmp_path, tensors())
    (tmp_path / "config.json").unlink()
    with pytest.raises(ValueError, match=r"config\.json: there is no such file"):
        load(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        load(tmp_path / "nowhere")


def test_no_other_number_type(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be float32 or float64, not float16"):
        load(saved(tmp_path, tensors()), np.float16)


BAD_TOKENS: dict[str, tuple[Any, str]] = {
    "too large": ([1, VOCAB], "tokens holds 13; 13 tokens count from 0"),
    "negative": ([-1], "tokens holds -1"),
    "none": ([], "must be at least one whole number"),
    "no axis": (3, "must be at least one whole number"),
    "real": ([1.0], "must be at least one whole number"),
    "boolean": ([True], "must be at least one whole number"),
    "too many": ([1] * 12, "tokens has 12 places, there are 11 positions"),
}


@pytest.mark.parametrize("case", BAD_TOKENS)
def test_tokens_that_do_not_fit_are_refused(tmp_path: Path, case: str) -> None:
    tokens, message = BAD_TOKENS[case]
    model = load(saved(tmp_path, tensors()))
    with pytest.raises(InputError, match=message):
        model.logits(tokens)
    with pytest.raises(InputError, match=message):
        model.hidden(tokens)
    with pytest.raises(InputError, match=message):
        model.generate(tokens, 2)


def test_what_a_model_does_not_have_is_refused(tmp_path: Path) -> None:
    model = load(saved(tmp_path, tensors()))
    with pytest.raises(InputError, match="has no pooler"):
        model.pooled(TOKENS)
    with pytest.raises(InputError, match="has no segments"):
        model.logits(TOKENS, segments=TOKENS)
    with pytest.raises(InputError, match="takes tokens, 2 arrays were given"):
        model.logits(TOKENS, TOKENS)
    with pytest.raises(InputError, match="there are 11 positions"):
        model.generate(TOKENS, 9, end=())
    with pytest.raises(InputError, match="longest must be an integer >= 0, not -1"):
        model.generate(TOKENS, -1)
    assert model.generate(TOKENS, 0).shape == (0,)
    headless = load(saved(tmp_path, tensors(), {**CONFIG, "architectures": ["GPT2Model"]}))
    with pytest.raises(InputError, match="has no head that scores tokens or classes"):
        headless.logits(TOKENS)
    with pytest.raises(InputError, match="generates nothing"):
        headless.generate(TOKENS, 2)
