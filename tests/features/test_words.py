"""Features of words against a slow reference, and their products with matrices against dense ones."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from spacy_mtt.features.atoms import Words
from spacy_mtt.features.tables import HashTable
from spacy_mtt.features.word_templates import word_templates
from spacy_mtt.features.words import WordFeatures, WordKeyExtractor, word_dictionary
from tests.features import reference
from tests.features.test_features import TOY, sentences

ALL = word_templates()
EXTRACTOR = WordKeyExtractor(ALL)
TOY_WORD = """
bias
w.form=Gardens
w-1.form=<ROOT>
w+1.form=do
w.form=Gardens w.tag=NNS
w.prefix=Garde
w.prefix=Garde w.tag=NNS
w.tag=NNS
w-1.tag=<ROOT>
w+1.tag=VBP
w-1.tag=<ROOT> w.tag=NNS
w.tag=NNS w+1.tag=VBP
w-1.tag=<ROOT> w.tag=NNS w+1.tag=VBP
w-2.tag=<START>
w+2.tag=VB
w-2.tag=<START> w-1.tag=<ROOT>
w+1.tag=VBP w+2.tag=VB
w-2.tag=<START> w-1.tag=<ROOT> w.tag=NNS
w.tag=NNS w+1.tag=VBP w+2.tag=VB
w.lemma=garden
w-1.lemma=<ROOT>
w+1.lemma=do
w.lemma=garden w.tag=NNS
w.coarse=N
w-1.coarse=<ROOT>
w+1.coarse=V
w-1.coarse=<ROOT> w.coarse=N
w.coarse=N w+1.coarse=V
w-1.coarse=<ROOT> w.coarse=N w+1.coarse=V
w-2.coarse=<START>
w+2.coarse=V
w-2.coarse=<START> w-1.coarse=<ROOT>
w+1.coarse=V w+2.coarse=V
w-2.coarse=<START> w-1.coarse=<ROOT> w.coarse=N
w.coarse=N w+1.coarse=V w+2.coarse=V
w.feat=pl
w.feat=nom
w.feat=pl w.tag=NNS
w.feat=nom w.tag=NNS
w.feat=pl w.lemma=garden
w.feat=nom w.lemma=garden
"""  # of the first word
TOY_ROOT = """
bias
w.form=<ROOT>
w-1.form=<START>
w+1.form=Gardens
w.form=<ROOT> w.tag=<ROOT>
w.prefix=<ROOT>
w.prefix=<ROOT> w.tag=<ROOT>
w.tag=<ROOT>
w-1.tag=<START>
w+1.tag=NNS
w-1.tag=<START> w.tag=<ROOT>
w.tag=<ROOT> w+1.tag=NNS
w-1.tag=<START> w.tag=<ROOT> w+1.tag=NNS
w-2.tag=<START>
w+2.tag=VBP
w-2.tag=<START> w-1.tag=<START>
w+1.tag=NNS w+2.tag=VBP
w-2.tag=<START> w-1.tag=<START> w.tag=<ROOT>
w.tag=<ROOT> w+1.tag=NNS w+2.tag=VBP
w.lemma=<ROOT>
w-1.lemma=<START>
w+1.lemma=garden
w.lemma=<ROOT> w.tag=<ROOT>
w.coarse=<ROOT>
w-1.coarse=<START>
w+1.coarse=N
w-1.coarse=<START> w.coarse=<ROOT>
w.coarse=<ROOT> w+1.coarse=N
w-1.coarse=<START> w.coarse=<ROOT> w+1.coarse=N
w-2.coarse=<START>
w+2.coarse=V
w-2.coarse=<START> w-1.coarse=<START>
w+1.coarse=N w+2.coarse=V
w-2.coarse=<START> w-1.coarse=<START> w.coarse=<ROOT>
w.coarse=<ROOT> w+1.coarse=N w+2.coarse=V
w.feat=<ROOT>
w.feat=<ROOT> w.tag=<ROOT>
w.feat=<ROOT> w.lemma=<ROOT>
"""


def key(feature):
    """The key of a word's feature, a tuple of (atom, value): the hash of one side, as reference.key makes them."""
    atoms = sorted(feature)
    x = reference.hash_text(" ".join(atom for atom, _ in atoms))
    for _, value in atoms:
        x = reference.mix(x + reference.hash_text(value))
    return x


def listed_keys(text):
    """Keys of a list as above. The bias is an atom without a value."""
    counter = Counter()
    for line in text.strip().split("\n"):
        atoms = [tuple(atom.split("=")) for atom in line.split()]
        named = [(atom, value[0].replace("<", "\t").replace(">", "")) for atom, *value in atoms if value]
        counter[key(named) if named else reference.hash_text(line)] += 1
    return counter


def reference_keys(words, node):
    counter = Counter()
    for template in ALL:
        places = [atom.partition(".")[::2] for atom in template if atom != "bias"]
        values = [reference.text_of_node(words, name, node + int(place[1:] or 0)) for place, name in places]
        for combination in product(*values):
            named = [(f"{place}.{name}", v) for (place, name), v in zip(places, combination, strict=True)]
            counter[key(named) if named else reference.hash_text("bias")] += 1
    return counter


def keys_of_node(found, node):
    return Counter(found.keys[found.nodes == node].tolist())


@pytest.mark.parametrize("node,text", [(1, TOY_WORD), (0, TOY_ROOT)])
def test_the_features_of_a_toy_sentence_are_those_listed(node, text):
    assert keys_of_node(EXTRACTOR(TOY), node) == listed_keys(text)


@given(sentences())
@settings(max_examples=50)
def test_keys_are_those_of_the_reference(words):
    found = EXTRACTOR(words)
    assert found.n == len(words)
    for node in range(len(words) + 1):
        assert keys_of_node(found, node) == reference_keys(words, node)


def test_columns_that_say_nothing_have_no_templates():
    plain = word_templates(coarse=False, lemmas=False, morphology=False)
    assert not any(name in atom for template in plain for atom in template for name in ("coarse", "lemma", "feat"))
    assert ("w.feat", "w.form") in word_templates(lemmas=False) and ("w.feat", "w.lemma") in ALL


@pytest.mark.parametrize("make_table", [lambda keys: HashTable(5), lambda keys: word_dictionary(keys[:2])])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_and_their_adjoint_are_the_dense_ones(make_table, dtype):
    others = [TOY, Words(forms=["grow", "x"], feats=[("pl", "pl"), ()]), Words(forms=[]), Words(forms=["new"] * 3)]
    keys = [EXTRACTOR(words) for words in others]
    table, rng = make_table(keys), np.random.default_rng(0)
    slots = {int(k): s for s, k in enumerate(table.keys)} if hasattr(table, "keys") else None
    for words, found in zip(others, keys, strict=True):
        phi = np.zeros((len(words) + 1, table.size))
        for node in range(len(words) + 1):
            for k, value in reference_keys(words, node).items():
                slot = k % table.size if slots is None else slots.get(k)
                if slot is not None:
                    phi[node, slot] += value
        features, rows = WordFeatures(found, table), rng.normal(size=(table.size, 3)).astype(dtype)
        np.testing.assert_array_equal(features.slots, np.flatnonzero(phi.any(axis=0)))
        np.testing.assert_allclose(features.project(rows), phi @ rows.astype(np.float64), atol=1e-12)
        coefficients = rng.normal(size=(len(words) + 1, 3))
        coefficients[0] = 0.0
        values = features.collect(coefficients)
        np.testing.assert_allclose(values, (phi.T @ coefficients)[features.slots], atol=1e-12)
        changed = rows.copy()
        features.add(changed, values, 0.5)
        expected = rows + 0.5 * phi.T @ coefficients
        np.testing.assert_allclose(changed, expected, atol=1e-12 if dtype == np.float64 else 1e-5)


def test_a_dictionary_of_words_holds_what_it_was_given_alone():
    known, unknown = EXTRACTOR(Words(forms=["a", "b"])), EXTRACTOR(Words(forms=["c"], tags=["N"]))
    table = word_dictionary([known])
    assert set(table.keys.tolist()) == set(known.keys.tolist())
    assert len(WordFeatures(unknown, table).slots) < len(set(unknown.keys.tolist()))
    assert word_dictionary([]).size == 0


def test_a_dictionary_may_leave_out_what_few_sentences_have():
    twice, once = EXTRACTOR(Words(forms=["a", "a"])), EXTRACTOR(Words(forms=["b"]))
    both = set(twice.keys.tolist()) & set(once.keys.tolist())
    assert both and set(word_dictionary([twice, once], least=2).keys.tolist()) == both
    assert word_dictionary([twice, once], least=3).size == 0
    with pytest.raises(ValueError, match="least is 0, but must be 1 or more"):
        word_dictionary([twice], least=0)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"'h\.form' is not an atom of a word"):
        WordKeyExtractor([("h.form",)])
    with pytest.raises(ValueError, match=r"'w\.tag w\.form' is there twice"):
        WordKeyExtractor([("w.tag", "w.form"), ("w.form", "w.tag")])
    with pytest.raises(ValueError, match="one word template or more"):
        WordKeyExtractor([])
    features = WordFeatures(EXTRACTOR(TOY), HashTable(3))
    with pytest.raises(ValueError, match=r"shape \(9, 2\), but must have 8 rows"):
        features.project(np.zeros((9, 2)))


def test_sentences_strategy_reaches_empty_columns():
    """The reference above must meet words without tags, or it would say little."""
    words = Words(forms=["a"], tags=["_"])
    assert len(reference_keys(words, 1)) < len(reference_keys(TOY, 1))
