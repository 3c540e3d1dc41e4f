"""Every gradient of the scoring layers against central differences."""

import itertools

import numpy as np
import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_mtt.scoring.arc_biaffine import ArcBiaffine
from spacy_mtt.scoring.biaffine import build_biaffine_parser
from spacy_mtt.scoring.label_biaffine import LabelBiaffine, score_all_arcs, score_arcs
from spacy_mtt.scoring.scores import ScoreGradients
from spacy_mtt.scoring.units import Units
from tests.scoring.test_units import units_of_lengths

UNITS = units_of_lengths([3, 1, 4, 3])
WIDTH = 5


def randomise(model: Model, rng: np.random.Generator, dtype: type = np.float64) -> None:
    """Give every parameter random values."""
    for node in model.walk():
        for name in node.param_names:
            if node.has_param(name):
                node.set_param(name, rng.normal(size=node.get_param(name).shape).astype(dtype))


def assert_gradient(function, array: np.ndarray, gradient: np.ndarray, rng, step=1e-6, tolerance=1e-6) -> None:
    """Compare a gradient with central differences of `function`, which reads `array`, at a dozen random places."""
    for _ in range(12):
        place = tuple(rng.integers(0, size) for size in array.shape)
        old = array[place]
        array[place] = old + step
        above = function()
        array[place] = old - step
        below = function()
        array[place] = old
        assert gradient[place] == pytest.approx((above - below) / (2 * step), rel=tolerance, abs=tolerance)


def node_vectors(rng) -> tuple[np.ndarray, np.ndarray]:
    shape = (len(UNITS.is_root), WIDTH)
    return rng.normal(size=shape), rng.normal(size=shape)


@pytest.mark.parametrize("distance", [True, False])
def test_arc_biaffine(distance):
    rng = np.random.default_rng(0)
    model = ArcBiaffine(WIDTH, distance=distance)
    model.initialize()
    assert not any(model.get_param(name).any() for name in model.param_names)  # starts at zero
    randomise(model, rng)
    H, M = node_vectors(rng)
    weights = [rng.normal(size=(len(b.units), b.inside.shape[1], b.inside.shape[1])) for b in UNITS.buckets]
    for bucket, weight in zip(UNITS.buckets, weights, strict=True):
        weight[~(bucket.inside[:, :, None] & bucket.inside[:, None, :])] = 0.0

    def loss():
        arcs = model.predict((H, M, UNITS))
        return sum((weight * scores).sum() for weight, scores in zip(weights, arcs, strict=True))

    _, backprop = model.begin_update((H, M, UNITS))
    dH, dM = backprop(weights)
    assert_gradient(loss, H, dH, rng)
    assert_gradient(loss, M, dM, rng)
    for name in model.param_names:
        assert_gradient(loss, model.get_param(name), model.get_grad(name), rng)


def test_arc_biaffine_is_its_formula():
    rng = np.random.default_rng(1)
    model = ArcBiaffine(WIDTH)
    model.initialize()
    randomise(model, rng)
    H, M = node_vectors(rng)
    W, b, d, u, v = (model.get_param(name) for name in "Wbduv")
    arcs = model.predict((H, M, UNITS))
    for bucket, scores in zip(UNITS.buckets, arcs, strict=True):
        for place, unit in enumerate(bucket.units):
            rows = UNITS.starts[unit] + np.arange(UNITS.lengths[unit] + 1)
            for head, h in enumerate(H[rows]):
                for modifier, m in list(enumerate(M[rows]))[1:]:
                    distance = head - modifier
                    bin_ = 16 if head == 0 else abs(distance) - 1 + (8 if distance > 0 else 0)
                    if head != modifier:
                        expected = h @ W @ m + h @ b + d[bin_] + h @ u[bin_] + m @ v[bin_]
                        assert scores[place, head, modifier] == pytest.approx(expected)


def test_label_biaffine_at_arcs():
    rng = np.random.default_rng(2)
    model = LabelBiaffine(WIDTH, 3)
    model.initialize()
    randomise(model, rng)
    H, M = node_vectors(rng)
    heads = np.zeros(UNITS.n_words, dtype=np.int32)
    heads[1::2] = 1
    weight = rng.normal(size=(UNITS.n_words, 3))

    def loss():
        return (weight * score_arcs(model, H, M, heads, UNITS.word_rows, False)[0]).sum()

    dH, dM = score_arcs(model, H, M, heads, UNITS.word_rows, True)[1](weight)
    assert_gradient(loss, H, dH, rng)
    assert_gradient(loss, M, dM, rng)
    assert_gradient(loss, model.get_param("W"), model.get_grad("W"), rng)


def test_label_biaffine_everywhere():
    rng = np.random.default_rng(3)
    model = LabelBiaffine(WIDTH, 3)
    model.initialize()
    randomise(model, rng)
    H, M = node_vectors(rng)
    weights = []
    for bucket in UNITS.buckets:
        inside = bucket.inside[:, :, None] & bucket.inside[:, None, :]
        weights.append(rng.normal(size=(*inside.shape, 3)) * inside[..., None])

    def loss():
        scores = score_all_arcs(model, H, M, UNITS)[0]
        return sum((weight * bucket).sum() for weight, bucket in zip(weights, scores, strict=True))

    dH, dM = score_all_arcs(model, H, M, UNITS)[1](weights)
    assert_gradient(loss, H, dH, rng)
    assert_gradient(loss, M, dM, rng)
    assert_gradient(loss, model.get_param("W"), model.get_grad("W"), rng)


def test_labels_at_arcs_are_those_everywhere():
    rng = np.random.default_rng(4)
    model = LabelBiaffine(WIDTH, 3)
    model.initialize()
    randomise(model, rng)
    H, M = node_vectors(rng)
    everywhere = score_all_arcs(model, H, M, UNITS)[0]
    head = 1  # word 1 heads all but itself, which hangs from the root
    words = np.concatenate([np.arange(1, n + 1) for n in UNITS.lengths])
    heads = np.repeat(UNITS.starts, UNITS.lengths) + np.where(words == head, 0, head)
    at = score_arcs(model, H, M, heads.astype(np.int32), UNITS.word_rows, False)[0]
    firsts = np.concatenate([[0], np.cumsum(UNITS.lengths)])
    for bucket, scores in zip(UNITS.buckets, everywhere, strict=True):
        for place, unit in enumerate(bucket.units):
            for word in range(1, UNITS.lengths[unit] + 1):
                expected = scores[place, 0 if word == head else head, word]
                np.testing.assert_allclose(at[firsts[unit] + word - 1], expected)


def fake_tok2vec(width: int) -> Model:
    """A table of trained vectors, one a token position over the batch."""

    def forward(model, docs, is_train):
        table = model.get_param("E")
        lengths = [len(doc) for doc in docs]
        bounds = np.cumsum([0, *lengths])
        outputs = [table[a:b] for a, b in itertools.pairwise(bounds)]

        def backprop(d_outputs):
            gradient = np.zeros_like(table)
            gradient[: bounds[-1]] = np.concatenate(d_outputs)
            model.inc_grad("E", gradient)
            return []

        return outputs, backprop

    def init(model, X=None, Y=None):
        model.set_param("E", np.zeros((20, width), dtype=np.float32))

    return Model("fake_tok2vec", forward, init=init, dims={"nO": width}, params={"E": None})


@pytest.mark.parametrize("labels", ["at", "everywhere"])
def test_biaffine_parser(labels):
    rng = np.random.default_rng(5)
    docs = [Doc(Vocab(), words=["a", " ", "b", "c"]), Doc(Vocab(), words=[]), Doc(Vocab(), words=["d", "e"])]
    units = Units(np.array([0, 2]), [np.array([0, 2, 3]), np.array([0, 1])], [4, 0, 2])
    model = build_biaffine_parser(
        fake_tok2vec(4), arc_width=3, label_width=2, vector_dropout=0.0, hidden_dropout=0.0, nO=3
    )
    model.initialize(X=(docs, units))
    randomise(model, rng, np.float32)
    head_rows = np.array([0, 1, 1, 4, 5], dtype=np.int32)
    arcs_weight = [rng.normal(size=(len(b.units), *2 * b.inside.shape[1:])) for b in units.buckets]
    for bucket, weight in zip(units.buckets, arcs_weight, strict=True):
        weight *= bucket.inside[:, :, None] & bucket.inside[:, None, :]
    arcs_weight = [weight.astype(np.float32) for weight in arcs_weight]
    at_weight, tags_weight = (rng.normal(size=(5, classes)).astype(np.float32) for classes in (3, 18))
    everywhere_weight = [weight[..., None] * np.float32([1, -2, 0.5]) for weight in arcs_weight]

    def run():
        scores, backprop = model.begin_update((docs, units))
        loss = sum((w * s).sum() for w, s in zip(arcs_weight, scores.arcs, strict=True))
        loss += (tags_weight * scores.tags).sum()
        if labels == "at":
            loss += (at_weight * scores.labels_at(head_rows)).sum()
        else:
            loss += sum((w * s).sum() for w, s in zip(everywhere_weight, scores.labels_everywhere(), strict=True))
        return loss, backprop

    _, backprop = run()
    backprop(
        ScoreGradients(
            arcs_weight,
            labels_at=at_weight if labels == "at" else None,
            labels_everywhere=everywhere_weight if labels == "everywhere" else None,
            tags=tags_weight,
        )
    )
    gradients = {
        (node.id, name): node.get_grad(name)
        for node in model.walk()
        for name in node.param_names
        if node.has_grad(name)
    }
    assert len(gradients) == 1 + 1 + 4 * 2 + 5 + 1 + 2  # table, root, four hidden layers, arcs, labels, tags
    # thinc's dense layers know float32 alone, hence the wide step and tolerance.
    for node in model.walk():
        for name in node.param_names:
            if node.has_param(name):
                gradient = gradients[node.id, name]
                assert_gradient(lambda: run()[0], node.get_param(name), gradient, rng, step=1e-2, tolerance=1e-2)
