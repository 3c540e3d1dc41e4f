"""The affix embedding: which keys a word has, that they are the same everywhere, gradients, unknown words, bytes."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.strings import get_string_id
from spacy.tokens import Doc
from spacy.util import fix_random_seed
from spacy.vocab import Vocab
from thinc.api import set_dropout_rate

from spacy_mtt.scoring.affixes import build_affix_embed, word_keys
from spacy_mtt.scoring.unknown_words import UNKNOWN_KEY
from tests.scoring.test_gradients import assert_gradient, randomise

TINY = {"width": 4, "prefixes": [1, 2], "suffixes": [3], "form_rows": 30, "affix_rows": 20, "shape_rows": 10}
WORDS = ["The", "quick", "fox", "the", "fox", "jumped", "1984"]


def docs_of(*texts: str, vocab: Vocab | None = None) -> list[Doc]:
    vocab = vocab or Vocab()
    return [Doc(vocab, words=text.split()) for text in texts]


def embed(docs, **options):
    model = build_affix_embed(**{**TINY, **options})
    model.initialize(X=docs)
    return model


def test_the_keys_of_a_word():
    (keys,) = word_keys(["Übers"], (1, 2, 9), (1, 5))
    parts = ["übers", "ü", "üb", "übers", "s", "übers", "Xxxxx"]
    assert keys.tolist() == [get_string_id(part) for part in parts]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12), max_size=8))
def test_every_word_has_its_own_keys(words):
    together = word_keys(words, (1, 2, 3), (1, 2, 3, 4, 5))
    assert together.shape == (len(words), 10) and together.dtype == np.uint64
    for word, keys in zip(words, together, strict=True):
        assert (word_keys([word], (1, 2, 3), (1, 2, 3, 4, 5)) == keys).all()


def test_keys_are_the_same_in_another_process():
    code = "from spacy_mtt.scoring.affixes import word_keys; print(word_keys(['Ñandú', 'x-1'], (1, 3), (2,)).tolist())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(word_keys(["Ñandú", "x-1"], (1, 3), (2,)).tolist())


def test_case_matters_to_the_shape_alone():
    upper, lower = word_keys(["FOX", "fox"], (1, 2), (3,))
    assert (upper[:-1] == lower[:-1]).all() and upper[-1] != lower[-1]


def test_gradients():
    rng = np.random.default_rng(0)
    docs = docs_of("The fox", "", "jumped the fox")
    model = embed(docs, dropout=0.0, unknown_rate=0.0)
    randomise(model, rng, np.float32)
    weights = [rng.normal(size=(len(doc), 4)).astype(np.float32) for doc in docs]

    def loss():
        vectors = model.begin_update(docs)[0]
        return sum((w.astype(np.float64) * v).sum() for w, v in zip(weights, vectors, strict=True))

    _, backprop = model.begin_update(docs)
    assert backprop(weights) == []
    checked = 0
    for node in model.walk():
        for name in node.param_names:
            assert_gradient(loss, node.get_param(name), node.get_grad(name), rng, step=1e-3, tolerance=2e-2)
            checked += 1
    assert checked == 5 + 2 + 2  # tables, maxout, layer normalisation


def test_training_and_prediction_embed_alike():
    docs = docs_of("The fox jumped", "", "the fox the fox")
    model = embed(docs, dropout=0.0, unknown_rate=0.0)
    trained = model.begin_update(docs)[0]
    for vectors, predicted in zip(trained, model.predict(docs), strict=True):
        np.testing.assert_allclose(predicted, vectors, atol=1e-6)


def test_vectors_do_not_depend_on_the_batch():
    vocab = Vocab()
    docs = docs_of("The fox jumped", "", "the", "fox the fox 1984 quick", vocab=vocab)
    model = embed(docs)
    model.begin_update(docs)
    together = model.predict(docs)
    assert [each.shape for each in together] == [(len(doc), 4) for doc in docs]
    for doc, vectors in zip(docs, together, strict=True):
        np.testing.assert_allclose(model.predict([doc])[0], vectors, atol=1e-6)


def test_docs_of_several_vocabs():
    docs = docs_of("The fox") + docs_of("jumped the fox")
    model = embed(docs)
    first, second = model.predict(docs)
    np.testing.assert_allclose(first[1], second[2], atol=1e-6)


def test_no_words():
    docs = docs_of("", "")
    assert [each.shape for each in embed(docs).predict(docs)] == [(0, 4), (0, 4)]


def test_unknown_words_share_the_key_of_their_form():
    fix_random_seed(0)
    docs = docs_of(" ".join(WORDS))
    model = embed(docs, prefixes=[], suffixes=[])
    model.begin_update(docs)
    known, unknown, other = docs_of("The fox", "blick box", "zzzzz zzz")
    model_vectors = [model.predict([doc])[0] for doc in (known, unknown, other)]
    np.testing.assert_allclose(model_vectors[1], model_vectors[2], atol=1e-6)  # alike in shape
    assert np.abs(model_vectors[0][1] - model_vectors[1][1]).max() > 1e-4


def test_rare_words_are_replaced_in_training():
    fix_random_seed(0)
    docs = docs_of("fox " * 2000)
    model = embed(docs, unknown_rate=2000.0, dropout=0.0)
    (node,) = (node for node in model.walk() if node.name == "unknown_words")
    keys = word_keys(["fox"] * 2000, (1, 2), (3,))
    replaced = node.begin_update(keys)[0][:, 0] == UNKNOWN_KEY  # at a rate of 2000 / (2000 + 2000)
    assert 900 < replaced.sum() < 1100


def test_dropout_is_in_training_alone():
    fix_random_seed(0)
    docs = docs_of("fox fox")
    model = embed(docs, dropout=0.5, unknown_rate=0.0)
    first, second = model.begin_update(docs)[0][0]
    assert np.abs(first - second).max() > 1e-4
    first, second = model.predict(docs)[0]
    assert (first == second).all()


def test_bytes():
    docs = docs_of(" ".join(WORDS))
    model = embed(docs)
    model.begin_update(docs)
    restored = build_affix_embed(**TINY).from_bytes(model.to_bytes())
    unseen = docs_of("The unseen fox")
    np.testing.assert_array_equal(restored.predict(unseen)[0], model.predict(unseen)[0])


@pytest.mark.parametrize("lengths", [{"prefixes": [0]}, {"suffixes": [1, -2]}])
def test_lengths_that_are_none(lengths):
    with pytest.raises(ValueError, match="1 or more"):
        build_affix_embed(**lengths)


def test_the_dropout_of_training_does_not_reach_it():
    docs = docs_of("fox fox the fox")
    model = embed(docs, dropout=0.0, unknown_rate=0.0)
    set_dropout_rate(model, 0.9)
    np.testing.assert_allclose(model.begin_update(docs)[0][0], model.predict(docs)[0], atol=1e-6)
