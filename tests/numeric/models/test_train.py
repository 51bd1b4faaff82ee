"""Training: Adam entry by entry, the tasks, the loss and the decoding of the model, and the command."""

import math
import sys
from itertools import islice

import numpy as np
import pytest
from click.testing import CliRunner
from mpmath import mp, mpf, sqrt

from numeric import InputError, Transformer
from numeric.models import train as training
from numeric.models.optimiser import Adam, leaves, warm_up
from numeric.models.tasks import Task
from numeric.models.train import Training, exactly_right, main, plot, train, train_command

SMALL = {"d_model": 6, "h": 3, "d_ff": 7, "N": 2}
TINY = ["--alphabet", "3", "--shortest", "2", "--longest", "3", "--d-model", "6", "--heads", "3", "--d-ff", "5"]
TINY += ["--layers", "1", "--steps", "5", "--batch", "2", "--held-out", "4"]


# Adam


def adam_by_hand(w, gradients, rate, beta_1, beta_2, epsilon, corrected=True):
    """Algorithm 1 of Kingma and Ba (2015) for one number."""
    m = v = mpf(0)
    for t, g in enumerate(gradients, 1):
        m = beta_1 * m + (1 - beta_1) * g
        v = beta_2 * v + (1 - beta_2) * g**2
        m_hat = m / (1 - beta_1**t) if corrected else m
        v_hat = v / (1 - beta_2**t) if corrected else v
        w = w - rate * m_hat / (sqrt(v_hat) + epsilon)
    return w


@pytest.mark.parametrize("values", [(1e-3, 0.9, 0.999, 1e-8), (0.25, 0.5, 0.75, 0.125), (0.25, 0.0, 0.75, 1e-9)])
def test_adam_is_its_definition_entry_by_entry(values):
    rng = np.random.default_rng(0)
    weights = {"a": rng.normal(size=(2, 3)), "parts": [{"b": rng.normal(size=5)}, {"b": rng.normal(size=())}]}
    before = {path: array.copy() for path, array in leaves(weights)}
    history = [{path: rng.normal(size=w.shape) for path, w in before.items()} for _ in range(7)]
    adam = Adam(*values)
    for each in history:
        nested = {"a": each["a"], "parts": [{"b": each["parts.0.b"]}, {"b": each["parts.1.b"]}]}
        adam.step(weights, nested)
    with mp.workdps(40):
        for path, w in leaves(weights):
            for place in np.ndindex(w.shape):
                gradients = [mpf(float(each[path][place])) for each in history]
                arguments = (mpf(float(before[path][place])), gradients, *map(mpf, values))
                assert abs(adam_by_hand(*arguments) - mpf(float(w[place]))) < 1e-14
                assert abs(adam_by_hand(*arguments, corrected=False) - mpf(float(w[place]))) > 1e-5


def test_adam_changes_the_weights_in_place_and_keeps_their_number_type():
    w = np.array([1, 2, 3], np.float32)
    Adam(rate=0.5).step({"w": w}, {"w": np.array([2, -0.25, 0], np.float32)})
    assert w.dtype == np.float32
    np.testing.assert_allclose(w, [0.5, 2.5, 3], rtol=1e-6)  # the first step is the rate, against the sign


def test_the_factor_of_a_step_scales_it():
    one, other = np.zeros(2), np.zeros(2)
    Adam(rate=0.5).step([one], [np.array([3.0, -1.0])], factor=0.25)
    Adam(rate=0.125).step([other], [np.array([3.0, -1.0])])
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"rate": 0}, "rate must be a number > 0"),
        ({"rate": float("nan")}, "rate must be a number > 0"),
        ({"epsilon": -1e-8}, "epsilon must be a number > 0"),
        ({"beta_1": 1.0}, r"beta_1 must be in \[0, 1\)"),
        ({"beta_2": -0.1}, r"beta_2 must be in \[0, 1\)"),
    ],
)
def test_adam_refuses_values_out_of_range(values, sentence):
    with pytest.raises(InputError, match=sentence):
        Adam(**values)


@pytest.mark.parametrize(
    ("gradients", "sentence"),
    [
        ({"b": [np.zeros(2)]}, "a has no gradient"),
        ({"a": np.zeros(3), "b": [np.zeros(2), np.zeros(2)]}, "b.1 has no weight"),
        ({"a": np.zeros((3, 1)), "b": [np.zeros(2)]}, r"the gradient of a has shape \(3, 1\), the weight has \(3,\)"),
        ({"a": np.zeros(3), "b": [np.array([0, np.nan])]}, "the gradient of b.0 is not finite"),
    ],
)
def test_adam_refuses_gradients_that_do_not_fit(gradients, sentence):
    weights = {"a": np.ones(3), "b": [np.ones(2)]}
    with pytest.raises(InputError, match=sentence):
        Adam().step(weights, gradients)
    np.testing.assert_array_equal(weights["a"], 1)


def test_the_rate_warms_up_then_falls():
    """At d_model = 64 and 16 steps of warm-up: 1/8 min(1/sqrt(t), t/64)."""
    assert [warm_up(t, 16, 64) for t in (1, 4, 16, 64)] == [1 / 512, 1 / 128, 1 / 32, 1 / 64]


def test_leaves_are_named_by_where_they_are():
    nested = {"E": 1, "encoder": {"layers": [{"gamma": 2}, {"gamma": 3}]}}
    found = [("E", 1), ("encoder.layers.0.gamma", 2), ("encoder.layers.1.gamma", 3)]
    assert list(leaves(nested)) == found


# Tasks


def test_copying():
    source, target, labels = Task("copy", alphabet=7).example([[4, 0, 6], [1, 1, 2]])
    assert source.tolist() == [[4, 0, 6], [1, 1, 2]]
    assert target.tolist() == [[7, 4, 0, 6], [7, 1, 1, 2]]
    assert labels.tolist() == [[4, 0, 6, 8], [1, 1, 2, 8]]


def test_reversing():
    source, target, labels = Task("reverse", alphabet=7).example([[4, 0, 6]])
    assert (source.tolist(), target.tolist(), labels.tolist()) == ([[4, 0, 6]], [[7, 6, 0, 4]], [[6, 0, 4, 8]])


def test_batches_have_every_length_and_token():
    task = Task("copy", alphabet=5, shortest=2, longest=4)
    sources = [source for source, _, _ in islice(task.batches(11, seed=0), 50)]
    assert {source.shape for source in sources} == {(11, 2), (11, 3), (11, 4)}
    assert {token for source in sources for token in source.flat} == set(range(5))


def test_no_held_out_string_is_trained_on():
    """With 9 strings of two tokens and 27 of three, those held out would come again at once."""
    task = Task("copy", alphabet=3, shortest=2, longest=3)
    held_out = task.held_out(6, seed=1)
    assert [strings.shape for strings in held_out] == [(3, 2), (3, 3)]
    excluded = {tuple(string) for strings in held_out for string in strings.tolist()}

    def seen(*left_out):
        batches = islice(task.batches(7, 1, *left_out), 60)
        return {tuple(string) for source, _, _ in batches for string in source.tolist()}

    assert seen() >= excluded
    assert not seen(held_out) & excluded
    assert len(seen(held_out)) == 9 + 27 - len(excluded)


def test_a_seed_gives_the_same_strings():
    task = Task("reverse", alphabet=11, shortest=3, longest=5)

    def drawn(seed):
        return [*task.held_out(7, seed), *(source for source, _, _ in islice(task.batches(5, seed), 3))]

    assert all(map(np.array_equal, drawn(2), drawn(2)))
    assert not all(map(np.array_equal, drawn(2), drawn(3)))


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"name": "sort"}, "the task 'sort' is unknown; choose copy or reverse"),
        ({"alphabet": 0}, "at least 1 token"),
        ({"shortest": 5, "longest": 3}, "there are no strings of 5 to 3 tokens"),
        ({"shortest": 0}, "there are no strings of 0 to 12 tokens"),
    ],
)
def test_a_task_refuses_what_is_none(values, sentence):
    with pytest.raises(InputError, match=sentence):
        Task(**values)


def test_too_many_held_out_strings_are_refused():
    with pytest.raises(InputError, match="of 9 strings of 2 tokens 5 are to be held out, more than half"):
        Task("copy", alphabet=3, shortest=2, longest=3).held_out(10, seed=0)


# The model


@pytest.fixture
def model():
    return Transformer(**SMALL, vocab=11, dtype=np.float64, seed=1)


@pytest.fixture
def tokens():
    rng = np.random.default_rng(5)
    return [rng.integers(0, 11, (2, 3, size)) for size in (5, 7, 7)]


def test_the_loss_is_the_mean_of_minus_log_probability(model, tokens):
    source, target, labels = tokens
    probabilities = model(source, target)
    terms = [-math.log(probabilities[place][labels[place]]) for place in np.ndindex(labels.shape)]
    assert model.loss(source, target, labels) == pytest.approx(sum(terms) / len(terms), rel=1e-13)


def largest_error(model, tokens, gradient):
    """Central differences of the loss in random directions of all weights at once, less what the gradient says."""
    found, kept = dict(leaves(gradient)), {path: w.copy() for path, w in leaves(model.weights)}
    rng, errors = np.random.default_rng(7), []
    for _ in range(5):
        direction, losses = {path: rng.normal(size=w.shape) for path, w in kept.items()}, []
        for sign in (1, -1):
            for path, w in leaves(model.weights):
                w[...] = kept[path] + sign * 1e-6 * direction[path]
            losses.append(model.loss(*tokens, check=False))
        slope = sum((found[path] * direction[path]).sum() for path in kept)
        errors.append(abs((losses[0] - losses[1]) / 2e-6 - slope))
    return max(errors)


@pytest.mark.parametrize("options", [{}, {"biases": True, "final_norm": True, "activation": "gelu"}])
def test_the_gradient_is_that_of_the_loss(options, tokens):
    model = Transformer(**SMALL, vocab=11, dtype=np.float64, seed=1, **options)
    gradient = model.gradient(*tokens)
    shapes = [(path, array.shape) for path, array in leaves(model.weights)]
    assert [(path, array.shape) for path, array in leaves(gradient)] == shapes
    assert largest_error(model, tokens, gradient) < 1e-7
    gradient["encoder"]["layers"][1]["feed_forward"]["W_1"] *= -1
    assert largest_error(model, tokens, gradient) > 1e-3


def test_the_order_of_given_weights_does_not_matter(model, tokens):
    turned = Transformer(**SMALL, vocab=11, weights=dict(reversed(model.weights.items())))
    expected = dict(leaves(model.gradient(*tokens)))
    for path, array in leaves(turned.gradient(*tokens)):
        np.testing.assert_array_equal(array, expected[path])


def test_loss_and_gradient_refuse_tokens_that_do_not_fit(model, tokens):
    source, target, labels = tokens
    for method in (model.loss, model.gradient):
        with pytest.raises(InputError, match="labels"):
            method(source, target, labels + 11)
        with pytest.raises(InputError):
            method(source, target, labels[..., 1:])


def test_gradients_are_of_the_number_type_of_the_weights(tokens):
    gradient = Transformer(**SMALL, vocab=11).gradient(*tokens)
    assert {array.dtype for _, array in leaves(gradient)} == {np.dtype(np.float32)}


@pytest.mark.slow
def test_greedy_decoding_is_one_token_after_the_other(tokens):
    """By hand, for one string at a time, from the probabilities; an end token stays one."""
    model, source, start = Transformer(**SMALL, vocab=11, dtype=np.float64, seed=6), tokens[0][:, 1:], 3
    model.weights["E"] *= 0.3  # so that the positions weigh, and the tokens of an answer differ
    whole = model.greedy(source, start, end=-1, longest=6)
    assert whole.shape == (2, 2, 6)
    end = int(whole[0, 0, 2])
    ended = model.greedy(source, start, end, longest=6)
    for place in np.ndindex(2, 2):
        target = [start]
        for _ in range(6):
            row = list(model(source[place], np.array(target), check=False)[-1])
            target.append(end if end in target[1:] else row.index(max(row)))
        assert ended[place].tolist() == target[1:]
    assert (ended[0, 0, 2:] == end).all()
    assert (ended != whole).any()


# Training


class Perfect:
    """Answers every string, but for one token in the answers to the first `wrong` strings of a batch."""

    def __init__(self, task, wrong):
        self.task, self.wrong = task, wrong

    def greedy(self, source, start, end, longest, *, check):
        assert (start, end, longest) == (self.task.start, self.task.end, source.shape[-1] + 1)
        answers = self.task.example(source)[2]
        answers[: self.wrong, -1] = 0
        return answers


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_one_wrong_token_makes_a_string_wrong(wrong):
    task = Task("reverse", alphabet=5, shortest=2, longest=3)
    assert exactly_right(Perfect(task, wrong), task, task.held_out(6, 0)) == 6 - 2 * wrong


TASK = Task("copy", alphabet=3, shortest=2, longest=3)


def trained(seed=0, model=None, **options):
    model = model or Transformer(d_model=10, h=2, d_ff=11, N=1, vocab=TASK.vocab, seed=seed)
    return train(model, TASK, **{"steps": 60, "batch": 7, "held_out": 4, "seed": seed, **options})


def test_the_loss_falls():
    found = trained(optimiser=Adam(1e-2))
    losses = [loss for _, loss in found.losses]
    assert [found.losses[0][0], found.losses[-1][0]] == [1, 60]
    assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])


def test_the_loss_rises_against_the_gradient():
    """The check is checked: with the sign of every gradient flipped, nothing is learnt."""
    model = Transformer(d_model=10, h=2, d_ff=11, N=1, vocab=TASK.vocab)
    downhill = model.gradient
    model.gradient = lambda *tokens, check: negated(downhill(*tokens, check=check))
    losses = [loss for _, loss in trained(model=model, optimiser=Adam(1e-2)).losses]
    assert np.mean(losses[-5:]) > 2 * np.mean(losses[:5])


def negated(nested):
    if isinstance(nested, dict):
        return {name: negated(value) for name, value in nested.items()}
    return [negated(value) for value in nested] if isinstance(nested, list) else -nested


@pytest.mark.slow
def test_a_seed_gives_the_same_training():
    one, same, other = trained(2), trained(2), trained(3)
    assert one.losses == same.losses
    assert one.losses != other.losses


def test_warm_up_is_the_factor_of_the_rate():
    """With one step, the weights move by the rate times the factor of that step."""
    moved = []
    for warm_up_steps in (None, 4, 16):
        model = Transformer(d_model=10, h=2, d_ff=11, N=1, vocab=TASK.vocab, dtype=np.float64)
        before = model.weights["E"].copy()
        trained(model=model, steps=1, warm_up_steps=warm_up_steps)
        moved.append(np.abs(model.weights["E"] - before).max())
    np.testing.assert_allclose(np.divide(moved[1:], moved[0]), [10**-0.5 / 8, 10**-0.5 / 64], rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"steps": 0}, "steps must be an integer >= 1, not 0"),
        ({"batch": 0}, "batch must be an integer >= 1, not 0"),
        ({"held_out": 0}, "held_out must be an integer >= 1, not 0"),
        ({"warm_up_steps": 0}, "warm_up_steps must be an integer >= 1, not 0"),
        ({"model": Transformer(**SMALL, vocab=11)}, "the task has 5 tokens.* make the model with vocab=5"),
    ],
)
def test_training_refuses_what_does_not_fit(options, sentence):
    with pytest.raises(InputError, match=sentence):
        trained(**options)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["copy", "reverse"])
def test_the_task_is_learnt(name):
    """A small alphabet; strings that were never trained on are answered exactly, end token included."""
    task = Task(name, alphabet=7, shortest=3, longest=5)
    model = Transformer(d_model=32, h=2, d_ff=64, N=1, vocab=task.vocab)
    before = exactly_right(model, task, task.held_out(128, 0))
    found = train(model, task, 800, 32, Adam(0.5), warm_up_steps=200, held_out=128)
    assert before <= 2
    assert found.right >= 0.99 * found.held_out


# The command


def run(*arguments):
    return CliRunner().invoke(train_command, [*TINY, *arguments])


def test_the_command_prints_the_result_and_tells_its_progress_elsewhere():
    done = run("--task", "reverse")
    assert done.exit_code == 0, done.output
    first, head, *curve, right, seconds = done.stdout.splitlines()
    assert first == "reverse, strings of 2 to 3 of 3 tokens; 664 parameters"
    assert head.split() == ["step", "loss"]
    assert [int(line.split()[0]) for line in curve] == [1, 2, 3, 4, 5]
    assert right.startswith("held-out strings exactly right: ") and " of 4 (" in right
    assert seconds.endswith(" s of processors")
    assert [line.split(",")[0] for line in done.stderr.splitlines()] == [f"step {k} of 5" for k in range(1, 6)]


def test_the_same_seed_prints_the_same_curve():
    one, same, other = (run("--seed", seed).stdout.splitlines()[:-1] for seed in "112")
    assert one == same
    assert one != other


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--task", "sort"], "Invalid value for '--task': 'sort' is not one of 'copy', 'reverse'."),
        (["--heads", "4"], "Transformer: d_model is 6, and h = 4 must divide it; choose another d_model"),
        (["--steps", "0"], "training: steps must be an integer >= 1, not 0"),
        (["--rate", "0"], "Adam: rate must be a number > 0, not 0.0"),
        (["--seed", "-1"], "the seed must be an integer >= 0, not -1"),
        (["--shortest", "4"], "the task copy: there are no strings of 4 to 3 tokens; the shortest must be >= 1 and no"),
    ],
)
def test_a_bad_option_is_one_sentence_and_exit_code_2(arguments, sentence, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["train", *TINY, *arguments])
    with pytest.raises(SystemExit) as exit:
        main()
    output = capsys.readouterr()
    assert exit.value.code == 2
    assert output.out == ""
    assert output.err.startswith(f"numeric.models.train: {sentence}")
    assert output.err.count("\n") == 1


def test_control_c_ends_cleanly(monkeypatch, capsys):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "train", interrupted)
    monkeypatch.setattr(sys, "argv", ["train", *TINY])
    with pytest.raises(SystemExit) as exit:
        main()
    output = capsys.readouterr()
    assert exit.value.code == 130
    assert (output.out, output.err.strip()) == ("", "numeric.models.train: stopped")


def test_help_exits_well(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["train", "--help"])
    main()
    assert "--warm-up" in capsys.readouterr().out


# The plot

FOUND = Training(TASK, 31, ((1, 2.5), (2, 1.25)), 3, 4, 5.0, 7.0)


def test_the_curve_as_text():
    assert str(FOUND).splitlines() == [
        "copy, strings of 2 to 3 of 3 tokens; 31 parameters",
        "  step     loss",
        f"     1   2.5000  {40 * '#'}",
        f"     2   1.2500  {20 * '#'}",
        "held-out strings exactly right: 3 of 4 (75.0%)",
        "5 s, 7 s of processors",
    ]


def test_a_plot_without_matplotlib_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"needs Matplotlib: pip install matplotlib, or pip install '\.\[plots\]'"):
        plot(FOUND, tmp_path / "loss.svg")
    refused = run("--plot", str(tmp_path / "loss.svg"))
    assert isinstance(refused.exception, InputError)
    assert refused.stdout == ""  # before any work


@pytest.mark.slow
def test_the_plot_is_written(tmp_path):
    pytest.importorskip("matplotlib", reason="the plot needs Matplotlib")
    files = [tmp_path / name for name in ("loss.svg", "again.svg", "loss.png")]
    for file in files:
        plot(FOUND, file)
    assert "<svg" in files[0].read_text(encoding="utf-8")
    assert files[2].read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match=r"has no known ending; end it in one of .*svg"):
        plot(FOUND, tmp_path / "loss.nothing")
    with pytest.raises(InputError, match="there is no folder"):
        plot(FOUND, tmp_path / "nowhere" / "loss.svg")
