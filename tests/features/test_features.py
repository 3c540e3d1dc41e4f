"""The kernel of arc features against a slow reference, and what learners rely on."""

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_mtt.features.atoms import Words, hash_text, informative_columns
from spacy_mtt.features.extraction import CachedFeatures, CachedUpTo, ComputedFeatures, KeyExtractor, extract
from spacy_mtt.features.tables import FeatureDictionary, HashTable
from spacy_mtt.features.templates import first_order, with_distance
from spacy_mtt.treebanks import parse_treebank
from tests.features import reference

ALL = first_order()
EXTRACTOR = KeyExtractor(ALL)
TOY = Words(
    forms=["Gardens", "do", "grow"],
    lemmas=["garden", "do", "grow"],
    tags=["NNS", "VBP", "VB"],
    coarse=["N", "V", "V"],
    feats=[("pl", "nom"), ("pl",), ("inf",)],
)
TOY_ARC = """
h.form=grow h.tag=VB
h.form=grow
h.tag=VB
m.form=Gardens m.tag=NNS
m.form=Gardens
m.tag=NNS
h.form=grow h.tag=VB m.form=Gardens m.tag=NNS
h.tag=VB m.form=Gardens m.tag=NNS
h.form=grow m.form=Gardens m.tag=NNS
h.form=grow h.tag=VB m.tag=NNS
h.form=grow h.tag=VB m.form=Gardens
h.form=grow m.form=Gardens
h.tag=VB m.tag=NNS
h.tag=VB b.tag=VBP m.tag=NNS
h.tag=VB h+1.tag=<END> m-1.tag=<ROOT> m.tag=NNS
h-1.tag=VBP h.tag=VB m-1.tag=<ROOT> m.tag=NNS
h.tag=VB h+1.tag=<END> m.tag=NNS m+1.tag=VBP
h-1.tag=VBP h.tag=VB m.tag=NNS m+1.tag=VBP
h.tag=VB h+1.tag=<END> m.tag=NNS
h-1.tag=VBP h.tag=VB m.tag=NNS
h.tag=VB m-1.tag=<ROOT> m.tag=NNS
h.tag=VB m.tag=NNS m+1.tag=VBP
m.prefix=Garde m.tag=NNS
m.prefix=Garde
h.prefix=grow h.tag=VB m.prefix=Garde m.tag=NNS
h.tag=VB m.prefix=Garde m.tag=NNS
h.prefix=grow m.prefix=Garde m.tag=NNS
h.prefix=grow h.tag=VB m.prefix=Garde
h.prefix=grow m.prefix=Garde
h.lemma=grow h.tag=VB
h.lemma=grow
m.lemma=garden m.tag=NNS
m.lemma=garden
h.lemma=grow h.tag=VB m.lemma=garden m.tag=NNS
h.tag=VB m.lemma=garden m.tag=NNS
h.lemma=grow m.lemma=garden m.tag=NNS
h.lemma=grow h.tag=VB m.tag=NNS
h.lemma=grow h.tag=VB m.lemma=garden
h.lemma=grow m.lemma=garden
h.form=grow h.coarse=V
h.coarse=V
m.form=Gardens m.coarse=N
m.coarse=N
h.form=grow h.coarse=V m.form=Gardens m.coarse=N
h.coarse=V m.form=Gardens m.coarse=N
h.form=grow m.form=Gardens m.coarse=N
h.form=grow h.coarse=V m.coarse=N
h.form=grow h.coarse=V m.form=Gardens
h.coarse=V m.coarse=N
h.coarse=V b.coarse=V m.coarse=N
h.coarse=V h+1.coarse=<END> m-1.coarse=<ROOT> m.coarse=N
h-1.coarse=V h.coarse=V m-1.coarse=<ROOT> m.coarse=N
h.coarse=V h+1.coarse=<END> m.coarse=N m+1.coarse=V
h-1.coarse=V h.coarse=V m.coarse=N m+1.coarse=V
h.coarse=V h+1.coarse=<END> m.coarse=N
h-1.coarse=V h.coarse=V m.coarse=N
h.coarse=V m-1.coarse=<ROOT> m.coarse=N
h.coarse=V m.coarse=N m+1.coarse=V
h.tag=VB h.feat=inf
m.tag=NNS m.feat=pl
m.tag=NNS m.feat=nom
h.feat=inf m.feat=pl
h.feat=inf m.feat=nom
h.tag=VB h.feat=inf m.tag=NNS m.feat=pl
h.tag=VB h.feat=inf m.tag=NNS m.feat=nom
"""  # the features of 3 -> 1 without distance

texts = st.sampled_from(["", "a", "word", "words", "worded", "wording", "_", "é" * 6])
tags = st.sampled_from(["N", "V", "A", "_"])


@st.composite
def sentences(draw, max_n=14):
    n = draw(st.integers(0, max_n))

    def column(values):
        return draw(st.one_of(st.none(), st.lists(values, min_size=n, max_size=n)))

    forms = draw(st.lists(texts, min_size=n, max_size=n))
    feats = st.lists(st.sampled_from("xyz"), max_size=3)  # a value may be there twice
    return Words(forms=forms, lemmas=column(texts), tags=column(tags), coarse=column(tags), feats=column(feats))


atoms = st.builds(
    "{}.{}".format,
    st.sampled_from(["h", "m", "h-1", "m+1", "b"]),
    st.sampled_from(["form", "prefix", "lemma", "tag", "feat"]),
)
tables_of_templates = st.lists(
    st.lists(atoms, min_size=1, max_size=4, unique=True).map(sorted).map(tuple), min_size=1, max_size=6, unique=True
).map(tuple)


def arcs(n):
    return [(h, m) for h in range(n + 1) for m in range(1, n + 1) if h != m]


def kernel_features(keys, h, m):
    counter = Counter()
    for key, value in zip(*keys.of_arc(h, m), strict=True):
        counter[int(key)] += int(value)
    return counter


def reference_keys(words, templates, h, m):
    counter = Counter()
    for feature, value in reference.features(words, templates, h, m).items():
        counter[reference.key(feature)] += value
    return counter


def dense_features(words, templates, table):
    """phi as an array (n+1, n+1, size), from the reference."""
    n = len(words)
    phi = np.zeros((n + 1, n + 1, table.size))
    slots = {int(key): slot for slot, key in enumerate(table.keys)} if isinstance(table, FeatureDictionary) else None
    for h, m in arcs(n):
        for key, value in reference_keys(words, templates, h, m).items():
            slot = key % table.size if slots is None else slots.get(key)
            if slot is not None:
                phi[h, m, slot] += value
    return phi


def test_features_of_a_toy_arc_are_the_listed_ones():
    lines = [line.split() for line in TOY_ARC.strip().splitlines()]
    edges = {"<ROOT>": "\tROOT", "<END>": "\tEND"}
    listed = set()
    for line in lines:
        listed.add(tuple((atom, edges.get(value, value)) for atom, value in (part.split("=") for part in line)))
    listed |= {(*feature, ("distance", "left 2")) for feature in listed}
    assert reference.features(TOY, ALL, 3, 1) == dict.fromkeys(listed, 1)
    assert kernel_features(EXTRACTOR(TOY), 3, 1) == {reference.key(feature): 1 for feature in listed}


@settings(max_examples=25, deadline=None)
@given(sentences(max_n=13))
def test_kernel_finds_the_keys_of_the_reference(words):
    keys = EXTRACTOR(words)
    assert keys.n == len(words)
    for h, m in arcs(len(words)):
        assert kernel_features(keys, h, m) == reference_keys(words, ALL, h, m), (h, m)


@settings(max_examples=60, deadline=None)
@given(sentences(max_n=7), tables_of_templates, st.booleans())
def test_any_table_of_templates_means_what_it_says(words, templates, distance):
    templates = with_distance(templates) if distance else templates
    keys = KeyExtractor(templates)(words)
    for h, m in arcs(len(words)):
        assert kernel_features(keys, h, m) == reference_keys(words, templates, h, m), (h, m)


@pytest.mark.parametrize("storage", [ComputedFeatures, CachedFeatures])
@settings(max_examples=20, deadline=None)
@given(words=sentences(max_n=6), kind=st.sampled_from(["hash", "all", "gold"]), seed=st.integers(0, 99))
def test_scores_sums_and_norms_are_those_of_explicit_vectors(storage, words, kind, seed):
    rng = np.random.default_rng(seed)
    n, keys = len(words), EXTRACTOR(words)
    if kind == "hash":
        table = HashTable(5)  # most features share a slot
    else:
        table = FeatureDictionary.of([keys], [np.maximum(np.arange(n) - 1, -1)] if kind == "gold" else None)
    features = storage(keys, table)
    phi = dense_features(words, ALL, table)
    weights = rng.normal(size=table.size)
    coefficients = rng.normal(size=(n + 1, n + 1)) * (rng.random((n + 1, n + 1)) < 0.5)
    coefficients[:, 0] = np.nan
    np.fill_diagonal(coefficients, np.nan)
    expected = np.einsum("hm,hmf->f", np.nan_to_num(coefficients), phi)  # what is no arc has no features

    scores = features.score(weights)
    np.testing.assert_allclose(scores, phi @ weights, atol=1e-10)
    total = weights.copy()
    features.add(total, coefficients)
    np.testing.assert_allclose(total - weights, expected, atol=1e-10)
    assert features.squared_norm(coefficients) == pytest.approx(expected @ expected, rel=1e-12, abs=1e-12)
    slots, values = features.vector(coefficients)
    sparse = np.zeros(table.size)
    sparse[slots] = values
    np.testing.assert_allclose(sparse, expected, atol=1e-10)
    assert (np.diff(slots) > 0).all()


@pytest.mark.parametrize("storage", [ComputedFeatures, CachedFeatures])
@settings(max_examples=20, deadline=None)
@given(words=sentences(), seed=st.integers(0, 99))
def test_add_is_the_adjoint_of_score(storage, words, seed):
    rng = np.random.default_rng(seed)
    (features,) = extract([words], EXTRACTOR, HashTable(12), storage=storage)
    weights, coefficients = rng.normal(size=4096), rng.normal(size=(len(words) + 1, len(words) + 1))
    total = np.zeros(4096)
    features.add(total, coefficients)
    scores = features.score(weights)
    assert total @ weights == pytest.approx((coefficients * scores).sum(), rel=1e-10, abs=1e-8)
    assert not scores[:, 0].any() and not np.diag(scores).any()
    assert features.squared_norm(coefficients) == pytest.approx(total @ total, rel=1e-12)


def test_squared_norm_merges_what_arcs_share():
    keys = KeyExtractor([("m.form",)])(Words(forms=["a", "b"]))
    features = ComputedFeatures(keys, HashTable(20))
    coefficients = np.zeros((3, 3))
    coefficients[0, 1], coefficients[2, 1] = 1.0, -1.0  # the same modifier: all cancels
    assert features.squared_norm(coefficients) == 0.0
    coefficients[2, 1] = 2.0
    assert features.squared_norm(coefficients) == 9.0


def test_squared_norms_leave_nothing_behind_for_other_sentences_and_threads():
    keys = KeyExtractor([("m.form",), ("h.form",)])(Words(forms=["a", "b", "a"]))
    many = [ComputedFeatures(keys, HashTable(bits)) for bits in (20, 8, 21, 12)]
    rng = np.random.default_rng(0)
    drawn = [rng.normal(size=(4, 4)) for _ in range(3)]

    def norms():
        return [features.squared_norm(coefficients) for coefficients in drawn for features in many]

    def expected(features, coefficients):
        total = np.zeros(features.size)
        features.add(total, coefficients)
        return total @ total

    first = norms()
    wanted = [expected(features, coefficients) for coefficients in drawn for features in many]
    np.testing.assert_allclose(first, wanted, rtol=1e-12)
    with ThreadPoolExecutor(4) as pool:
        for again in pool.map(lambda _: norms(), range(40)):
            assert again == first


def test_words_between_are_counted():
    words = Words(forms=list("abcde"), tags=["N", "A", "V", "A", "N"])
    found = reference.features(words, first_order(), 1, 5)
    assert found[("h.tag", "N"), ("b.tag", "A"), ("m.tag", "N")] == 2
    values = KeyExtractor([("h.tag", "b.tag", "m.tag")])(words).of_arc(1, 5)[1]
    assert sorted(values.tolist()) == [1, 2]


def test_keys_are_the_same_on_every_machine():
    assert hash_text("Gardens") == 0x379F7F65AB1A1979
    assert reference.key((("h.form", "grow"),)) == 0x0483B27C431A4D99
    assert (
        reference.key((("h.tag", "VBP"), ("b.tag", "RB"), ("m.tag", "NNS"), ("distance", "left 2")))
        == 0xFCD4363EE769ED8F
    )


def test_dictionary_gives_slots_in_the_order_of_first_sight():
    keys = EXTRACTOR(TOY)
    table = FeatureDictionary.of([keys], [[3, 3, 0]])
    found = [key for h, m in [(3, 1), (3, 2), (0, 3)] for key in keys.of_arc(h, m)[0].tolist()]
    assert table.keys.tolist() == list(dict.fromkeys(found))
    assert table.size == len(set(found)) < FeatureDictionary.of([keys]).size
    assert FeatureDictionary(table.keys).keys.tolist() == table.keys.tolist()


def test_dictionary_leaves_out_what_it_does_not_know():
    table = FeatureDictionary.of([EXTRACTOR(TOY)], [[2, -1, -1]])
    other = Words(forms=["x"], tags=["y"])
    for storage in (ComputedFeatures, CachedFeatures):
        (features,) = extract([other], EXTRACTOR, table, storage=storage)
        assert not features.score(np.ones(table.size)).any()
        assert features.squared_norm(np.ones((2, 2))) == 0.0


def test_a_dictionary_grows():
    keys = np.random.default_rng(0).integers(0, 2**64, size=5000, dtype=np.uint64)
    keys[0] = 0  # a key like any other
    table = FeatureDictionary(keys)
    assert table.size == 5000 and table.keys.tolist() == keys.tolist()
    words = [Words(forms=[f"{i}-{j}" for j in range(20)]) for i in range(20)]
    extractor = KeyExtractor([("h.form", "m.form")])
    assert FeatureDictionary.of(map(extractor, words)).size == 20 * 20 * 20


def test_columns_of_a_treebank():
    text = "1\tDe\tde\tDet\tArt\tbep|onzijd\t2\tdet\t_\t_\n2\tzon\tzon\tN\t_\t_\t0\tROOT\t_\t_\n\n"
    (sentence,) = parse_treebank(text, "conllx")
    words = Words.from_treebank(sentence)
    assert words == Words(
        forms=["De", "zon"], lemmas=["de", "zon"], tags=["Art", "N"], coarse=["Det", "N"],
        feats=[("bep", "onzijd"), ()],
    )  # fmt: skip
    assert informative_columns([words]) == {"coarse": True, "lemmas": True, "morphology": True}
    plain = Words(forms=["zon", "_"], lemmas=["zon", "_"], tags=["N", "_"], coarse=["N", "_"])
    assert informative_columns([plain]) == {"coarse": False, "lemmas": False, "morphology": False}


@pytest.mark.parametrize(
    ("templates", "message"),
    [
        ([("h.word",)], "'h.word' is not an atom"),
        ([("h+2.tag",)], "'h\\+2.tag' is not an atom"),
        ([("h.tag", "m.tag"), ("m.tag", "h.tag")], "the template 'm.tag h.tag' is there twice"),
        ([("h.tag", "h.tag")], "the template 'h.tag h.tag' repeats an atom"),
        ([], "there must be one template or more"),
    ],
)
def test_bad_templates(templates, message):
    with pytest.raises(ValueError, match=message):
        KeyExtractor(templates)


def test_bad_columns_tables_and_arcs():
    with pytest.raises(ValueError, match="there are 1 tags for 2 forms"):
        Words(forms=["a", "b"], tags=["N"])
    with pytest.raises(ValueError, match=r"bits is 31, but must be in 1\.\.30"):
        HashTable(31)
    with pytest.raises(ValueError, match="1 of the 3 keys are repeated"):
        FeatureDictionary(np.array([5, 7, 5], dtype=np.uint64))
    keys = EXTRACTOR(TOY)
    with pytest.raises(ValueError, match="there are 2 heads for a sentence of 3 words"):
        FeatureDictionary.of([keys], [[0, 1]])
    with pytest.raises(ValueError, match="4 -> 2 is not an arc of a sentence of 3 words"):
        FeatureDictionary.of([keys], [[0, 4, 1]])
    for h, m in [(4, 1), (1, 0), (2, 2), (-1, 1), (0, 4)]:
        with pytest.raises(ValueError, match=f"{h} -> {m} is not an arc of a sentence of 3 words"):
            keys.of_arc(h, m)


@pytest.mark.parametrize("storage", [ComputedFeatures, CachedFeatures])
def test_bad_weights_and_coefficients(storage):
    (features,) = extract([TOY], EXTRACTOR, HashTable(10), storage=storage)
    weights, coefficients = np.zeros(1024), np.zeros((4, 4))
    with pytest.raises(ValueError, match=r"weights must have the shape \(1024,\), not \(1023,\)"):
        features.score(np.zeros(1023))
    for wrong in (weights.astype(np.float32), np.zeros(2048)[::2], [0.0] * 1024):
        with pytest.raises(ValueError, match="weights must be a C-contiguous float64 array"):
            features.add(wrong, coefficients)
    weights.flags.writeable = False
    assert not features.score(weights).any()
    with pytest.raises(ValueError, match="weights are read-only"):
        features.add(weights, coefficients)
    with pytest.raises(ValueError, match=r"coefficients must have the shape \(4, 4\), not \(3, 3\)"):
        features.add(np.zeros(1024), np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"the weights give the arc 0 -> 1 the score nan"):
        features.score(np.full(1024, np.nan))
    coefficients[2, 3] = np.inf
    for use in (features.squared_norm, features.vector, lambda c: features.add(np.zeros(1024), c)):
        with pytest.raises(ValueError, match=r"coefficients\[2, 3\] is inf, but must be finite"):
            use(coefficients)


def test_features_need_neither_spacy_nor_thinc():
    code = "import sys, spacy_mtt.features.extraction; assert not {'spacy', 'thinc'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("storage", [ComputedFeatures, CachedFeatures])
@settings(max_examples=20, deadline=None)
@given(
    words=sentences(max_n=5),
    kind=st.sampled_from(["hash", "gold"]),
    rows=st.sampled_from([1, 64, 1 << 12]),
    data=st.data(),
)
def test_scores_sums_and_norms_of_labels_are_those_of_explicit_vectors(storage, words, kind, rows, data):
    n, n_labels = len(words), data.draw(st.integers(1, 3))
    heads = np.array([data.draw(st.sampled_from([h for h in range(n + 1) if h != m])) for m in range(1, n + 1)], int)
    keys = EXTRACTOR(words)
    table = HashTable(12) if kind == "hash" else FeatureDictionary.of([keys], [heads])
    phi = np.zeros((n + 1, n + 1, rows))
    for slot, column in enumerate(np.moveaxis(dense_features(words, ALL, table), 2, 0)):
        phi[:, :, slot % rows] += column
    features, random = storage(keys, table), np.random.default_rng(n)
    weights, everywhere = random.normal(size=(rows, n_labels)), random.normal(size=(n + 1, n + 1, n_labels))
    expected = phi @ weights
    np.testing.assert_allclose(features.score_labels(weights), expected, atol=1e-9)
    of_tree = (heads, np.arange(1, n + 1))
    np.testing.assert_allclose(features.score_labels(weights, heads), expected[of_tree], atol=1e-9)
    for part, chosen, vectors in ((everywhere, None, phi), (everywhere[of_tree], heads, phi[of_tree])):
        summed = np.zeros_like(weights)
        features.add_labels(summed, part, chosen)
        np.testing.assert_allclose(summed, np.tensordot(vectors, part, (range(part.ndim - 1),) * 2), atol=1e-9)
    np.testing.assert_allclose(features.row_norms(heads, rows), (phi[of_tree] ** 2).sum(axis=1))
    dense = np.einsum("hmr,hml->rl", phi, everywhere)
    assert features.squared_norm_of_labels(everywhere, rows) == pytest.approx((dense**2).sum())


def test_bad_weights_and_heads_of_labels():
    features = ComputedFeatures(EXTRACTOR(TOY), HashTable(8))
    with pytest.raises(ValueError, match=r"2\^k rows and a column a label, not the shape \(6, 2\)"):
        features.score_labels(np.zeros((6, 2)))
    with pytest.raises(ValueError, match=r"heads must be \(3,\) other words in 0..3, not \[0, 2, 1\]"):
        features.score_labels(np.zeros((8, 2)), [0, 2, 1])
    with pytest.raises(ValueError, match=r"finite and have the shape \(3, 2\), not \(2, 2\)"):
        features.add_labels(np.zeros((8, 2)), np.zeros((2, 2)), [2, 3, 0])
    with pytest.raises(ValueError, match="not finite"):
        features.score_labels(np.full((8, 2), np.inf))


def test_long_sentences_may_be_computed_and_short_ones_kept():
    words = [TOY, Words(forms=["a"] * 4, tags=["N"] * 4)]
    table = HashTable(8)
    found = extract(words, EXTRACTOR, table, storage=CachedUpTo(3))
    assert [type(features) for features in found] == [CachedFeatures, ComputedFeatures]
    weights = np.random.default_rng(0).normal(size=table.size)
    for features, same in zip(found, extract(words, EXTRACTOR, table), strict=True):
        np.testing.assert_allclose(features.score(weights), same.score(weights), atol=1e-12)


def test_tags_are_joined_with_morphology():
    joined = TOY.with_joined_tags()
    assert joined.tags == ["NNS|pl|nom", "VBP|pl", "VB|inf"] and joined.coarse == TOY.tags
    assert (joined.forms, joined.lemmas, joined.feats) == (TOY.forms, TOY.lemmas, TOY.feats)
    plain = Words(forms=["a"], tags=["N"])
    assert plain.with_joined_tags() is plain
