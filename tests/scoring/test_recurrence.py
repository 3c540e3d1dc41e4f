"""The elementwise recurrence: its formula and gradients, the kernel against operations of numpy, the encoder."""

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.training import Example
from spacy.util import fix_random_seed
from thinc.api import Ragged, set_dropout_rate

from spacy_mtt.scoring import recurrence
from spacy_mtt.scoring.recurrence import ElementwiseRecurrence, compiled_scan, stepwise_scan
from spacy_mtt.scoring.recurrent_encoder import build_recurrent_encoder
from tests.scoring.test_gradients import assert_gradient, randomise

LENGTHS = st.lists(st.integers(0, 7), min_size=1, max_size=5).map(lambda sizes: np.array(sizes, dtype=np.int32))
SEEDS = st.integers(0, 2**32 - 1)


def layer(nI: int, nO: int, rng, dtype=np.float32):
    model = ElementwiseRecurrence(nO, nI)
    model.initialize()
    randomise(model, rng, dtype)
    return model


def by_definition(W, b, X, h: int) -> np.ndarray:
    """The outputs of one sequence, channel by channel as the docstring has it."""
    gates = (X @ W.T + b).reshape(len(X), 3, 2, h)
    Y = np.zeros((len(X), 2, h))
    for direction, order in enumerate((range(len(X)), reversed(range(len(X))))):
        c = np.zeros(h)
        for t in order:
            z, f, o = gates[t, :, direction]
            f, o = 1 / (1 + np.exp(-f)), 1 / (1 + np.exp(-o))
            c = f * c + (1 - f) * z
            Y[t, direction] = o * np.tanh(c)
    return Y.reshape(len(X), 2 * h)


@settings(max_examples=40, deadline=None)
@given(LENGTHS, st.integers(1, 5), st.integers(1, 20), SEEDS)
def test_every_sequence_is_read_by_the_definition(lengths, nI, h, seed):
    rng = np.random.default_rng(seed)
    model = layer(nI, 2 * h, rng)
    X = rng.normal(size=(lengths.sum(), nI)).astype(np.float32)
    Y = model.predict(Ragged(X, lengths)).dataXd
    W, b = (model.get_param(name).astype(np.float64) for name in "Wb")
    expected = [by_definition(W, b, each, h) for each in np.split(X, np.cumsum(lengths)[:-1])]
    np.testing.assert_allclose(Y, np.concatenate(expected), atol=2e-5)


@settings(max_examples=40, deadline=None)
@given(LENGTHS, st.integers(1, 20), SEEDS)
def test_the_kernel_is_the_operations(lengths, h, seed):
    rng = np.random.default_rng(seed)
    gates = rng.normal(scale=3, size=(lengths.sum(), 6 * h)).astype(np.float32)
    bias = rng.normal(size=6 * h).astype(np.float32)
    dY = rng.normal(size=(lengths.sum(), 2 * h)).astype(np.float32)
    Y, backprop = compiled_scan(np, gates.copy(), bias, lengths)
    expected, expected_backprop = stepwise_scan(np, gates.astype(np.float64), bias.astype(np.float64), lengths)
    np.testing.assert_allclose(Y, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(backprop(dY), expected_backprop(dY.astype(np.float64)), rtol=1e-4, atol=1e-5)


def test_the_kernel_is_exact_at_every_scale():
    """A sequence of one token with the gate f closed: y = s(o) tanh(z)."""
    arguments = np.concatenate([np.linspace(-30, 30, 20001), np.geomspace(1e-30, 1e30, 2001)])
    arguments = np.concatenate([arguments, -arguments]).astype(np.float32)
    rows = np.zeros((len(arguments), 6), dtype=np.float32)
    rows[:, :2], rows[:, 2:4], rows[:, 4:] = arguments[:, None], -80, arguments[:, None]
    Y, _ = compiled_scan(np, rows, np.zeros(6, np.float32), np.ones(len(arguments), dtype=np.int32))
    wide = arguments.astype(np.float64)
    sigmoid = 1 / (1 + np.exp(-np.clip(wide, -80, 80)))
    np.testing.assert_allclose(Y, (sigmoid * np.tanh(wide))[:, None].repeat(2, 1), rtol=1e-6)


@pytest.mark.parametrize("scan", [compiled_scan, stepwise_scan])
def test_extreme_gates_stay_finite(scan):
    rng = np.random.default_rng(0)
    gates = rng.choice(np.float32([-1e38, -1e4, -90, 0, 90, 1e4, 1e38]), size=(60, 24))
    lengths = np.array([1, 0, 20, 39], dtype=np.int32)
    with np.errstate(over="ignore"):
        Y, backprop = scan(np, gates, np.zeros(24, np.float32), lengths)
        assert np.isfinite(Y).all() and (np.abs(Y) <= 1).all()
        assert np.isfinite(backprop(np.float32(1e-30) * np.ones_like(Y))).all()


def test_nan_is_not_hidden():
    gates = np.zeros((2, 6), dtype=np.float32)
    gates[0] = np.nan
    Y, _ = compiled_scan(np, gates, np.zeros(6, np.float32), np.ones(2, dtype=np.int32))
    assert np.isnan(Y[0]).all() and not np.isnan(Y[1]).any()


@settings(max_examples=40, deadline=None)
@given(LENGTHS, st.integers(1, 4), st.integers(1, 4), SEEDS)
def test_gradients_in_double_precision(lengths, nI, h, seed):
    """Of the operations, which know float64; the kernel is compared with them above."""
    rng = np.random.default_rng(seed)
    model = layer(nI, 2 * h, rng, np.float64)
    X = rng.normal(size=(lengths.sum(), nI))
    weight = rng.normal(size=(lengths.sum(), 2 * h))
    _, backprop = model.begin_update(Ragged(X, lengths))
    dX = backprop(Ragged(weight, lengths)).dataXd

    def loss():
        return (weight * model.predict(Ragged(X, lengths)).dataXd).sum()

    if len(X):
        assert_gradient(loss, X, dX, rng)
    for name in "Wb":
        assert_gradient(loss, model.get_param(name), model.get_grad(name), rng)


def test_gradients_of_the_kernel():
    rng = np.random.default_rng(1)
    lengths = np.array([4, 0, 1, 9], dtype=np.int32)
    gates, bias = rng.normal(size=(14, 36)).astype(np.float32), rng.normal(size=36).astype(np.float32)
    weight = rng.normal(size=(14, 12)).astype(np.float32)

    def loss():
        return (weight.astype(np.float64) * compiled_scan(np, gates.copy(), bias, lengths)[0]).sum()

    d_gates = compiled_scan(np, gates.copy(), bias, lengths)[1](weight)
    assert_gradient(loss, gates, d_gates, rng, step=1e-2, tolerance=1e-3)


def test_other_arrays_take_the_other_way(monkeypatch):
    """A layer whose ops are no numpy ops, as on a GPU, goes step by step to the same outputs and gradients."""
    rng = np.random.default_rng(2)
    model = layer(3, 4, rng)
    lengths = np.array([3, 2], dtype=np.int32)
    X, weight = (rng.normal(size=(5, width)).astype(np.float32) for width in (3, 4))

    def run():
        Y, backprop = model.begin_update(Ragged(X, lengths))
        dX = backprop(Ragged(weight, lengths)).dataXd
        gradients = [model.get_grad(name).copy() for name in "Wb"]
        for name in "Wb":
            model.set_grad(name, model.ops.alloc(model.get_param(name).shape))
        return [Y.dataXd, dX, *gradients]

    compiled, calls = run(), []
    monkeypatch.setattr(recurrence, "NumpyOps", ())  # no ops are an instance of ()
    monkeypatch.setattr(recurrence, "stepwise_scan", lambda *args: calls.append(args) or stepwise_scan(*args))
    for ours, other in zip(run(), compiled, strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-4, atol=1e-5)
    assert len(calls) == 1


def docs_of(rng, lengths, width):
    return [rng.normal(size=(n, width)).astype(np.float32) for n in lengths]


@pytest.mark.parametrize("options", [{}, {"window_depth": 0}, {"depth": 2, "window_depth": 1}])
def test_a_doc_does_not_see_the_others(options):
    rng = np.random.default_rng(3)
    model = build_recurrent_encoder(width=10, embed_width=6, **options)
    docs = docs_of(rng, [5, 0, 1, 30, 2], 6)
    model.initialize(X=docs)
    randomise(model, rng, np.float32)
    together = model.predict(docs)
    assert [each.shape for each in together] == [(len(doc), 10) for doc in docs]
    for doc, vectors in zip(docs, together, strict=True):
        np.testing.assert_allclose(model.predict([doc])[0], vectors, atol=2e-4)
    turned = model.predict(docs[::-1])[::-1]
    for vectors, other in zip(together, turned, strict=True):
        np.testing.assert_allclose(other, vectors, atol=2e-4)


def test_every_token_sees_the_whole_doc():
    rng = np.random.default_rng(4)
    model = build_recurrent_encoder(width=10, embed_width=6)
    (doc,) = docs_of(rng, [40], 6)
    model.initialize(X=[doc])
    for place in (0, 39):
        other = doc.copy()
        other[place] += 1
        moved = np.abs(model.predict([other])[0] - model.predict([doc])[0]).max(axis=1)
        assert (moved > 0).all()


def test_encoder_gradients():
    fix_random_seed(0)
    rng = np.random.default_rng(5)
    model = build_recurrent_encoder(width=4, embed_width=3, depth=2, window_depth=1)
    docs = docs_of(rng, [4, 1, 6], 3)
    model.initialize(X=docs)
    weights = docs_of(rng, [4, 1, 6], 4)

    def loss():
        return sum((w.astype(np.float64) * y).sum() for w, y in zip(weights, model.predict(docs), strict=True))

    _, backprop = model.begin_update(docs)
    gradients = backprop(weights)
    for doc, gradient in zip(docs, gradients, strict=True):
        assert_gradient(loss, doc, gradient, rng, step=1e-3, tolerance=2e-2)
    for node in model.walk():
        for name in node.param_names:
            assert_gradient(loss, node.get_param(name), node.get_grad(name), rng, step=1e-3, tolerance=2e-2)


def test_the_dropout_of_training_reaches_the_encoder():
    fix_random_seed(0)
    model = build_recurrent_encoder(width=10, embed_width=6)
    docs = docs_of(np.random.default_rng(7), [20], 6)
    model.initialize(X=docs)
    exact = model.predict(docs)[0]
    np.testing.assert_allclose(model.begin_update(docs)[0][0], exact, atol=1e-5)
    set_dropout_rate(model, 0.5)
    assert np.abs(model.begin_update(docs)[0][0] - exact).max() > 0.1
    np.testing.assert_array_equal(model.predict(docs)[0], exact)


def test_the_encoder_survives_bytes():
    rng = np.random.default_rng(6)
    model, other = (build_recurrent_encoder(width=10, embed_width=6) for _ in range(2))
    docs = docs_of(rng, [3, 8], 6)
    model.initialize(X=docs)
    other.initialize(X=docs)
    other.from_bytes(model.to_bytes())
    for vectors, restored in zip(model.predict(docs), other.predict(docs), strict=True):
        np.testing.assert_array_equal(vectors, restored)


@pytest.mark.parametrize(
    "options,message", [({"width": 7}, "even"), ({"depth": 0}, "depth"), ({"window_depth": -1}, "window_depth")]
)
def test_settings_that_make_no_encoder(options, message):
    with pytest.raises(ValueError, match=message):
        build_recurrent_encoder(**options)


def test_a_tagger_learns_through_a_shared_tok2vec():
    fix_random_seed(0)
    nlp = spacy.blank("xx")
    embed = {"@architectures": "spacy_mtt.AffixEmbed.v1", "width": 12, "dropout": 0.0, "unknown_rate": 0.0}
    encode = {"@architectures": "spacy_mtt.RecurrentEncoder.v1", "width": 16, "embed_width": 12, "window_depth": 0}
    nlp.add_pipe("tok2vec", config={"model": {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16, "upstream": "*"}
    nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}})
    # The tag of "b" is that of the first word, four words before: no window of the tagger's own sees it.
    texts = {"x a a a b": "X A A A X", "y a a a b": "Y A A A Y"}
    examples = [Example.from_dict(nlp.make_doc(text), {"tags": tags.split()}) for text, tags in texts.items()]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(200):
        nlp.update(examples, sgd=optimizer)
    assert [[token.tag_ for token in nlp(text)] for text in texts] == [tags.split() for tags in texts.values()]
