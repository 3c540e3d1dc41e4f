"""Constraints: obeyed exactly, conditioned on, and named when no tree has them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_mtt.pipeline.constraints import constraints_of, without_starts_inside
from tests.oracle import all_trees
from tests.pipeline.helpers import random_parser
from tests.pipeline.test_probabilities import LABELLED, SPACES, heads_of, soft_parser

WORDS = ["what", "did", "you", "talk"]


def constrained(nlp, given: dict, words=WORDS) -> Doc:
    doc = Doc(nlp.vocab, words=words)
    doc._.mtt_constraints = given
    return doc


@pytest.fixture(scope="module", params=SPACES, ids=["plain", "labelled", "projective"])
def pipeline(request):
    return soft_parser(**request.param)


def hangs_together(heads: np.ndarray, start: int, end: int) -> bool:
    """Of all tokens of a span but one the head is in it."""
    return sum(not start < heads[token] <= end for token in range(start, end)) == 1


def agrees(heads: np.ndarray, given: dict) -> bool:
    """In plain words; heads (n,) of nodes."""
    return all(hangs_together(heads, *span) for span in given.get("spans", ())) and (
        all(heads[m] == h + 1 for m, h in given["heads"].items())
        and all(heads[m] == 0 for m in given["roots"])
        and all(heads[m] != h + 1 for h, m in given["forbidden"])
    )


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_best_tree_and_all_probabilities_are_those_under_the_constraints(pipeline, data):
    nlp, parser = pipeline
    tokens = st.integers(0, 3)
    heads = data.draw(st.dictionaries(tokens, tokens, max_size=2))
    given = {
        "heads": {m: h for m, h in heads.items() if m != h},
        "roots": data.draw(st.lists(tokens, max_size=1)),
        "forbidden": data.draw(st.lists(st.tuples(st.integers(-1, 3), tokens), max_size=3)),
    }
    (free,) = parser.distribution(Doc(nlp.vocab, words=WORDS))
    arcs = parser.marginals(constrained(nlp, {}))[0]
    trees = [tree for tree in all_trees(4, parser.objective.space.projective, True) if agrees(np.array(tree), given)]
    doc = constrained(nlp, given)
    if not trees:
        with pytest.raises(ValueError, match=r"no tree has all of this|has the head"):
            nlp(doc)
        return
    parsed = nlp(doc)
    assert agrees(heads_of(parsed), given)
    if free.trees.labelled:
        weights = np.array([_summed_over_labels(free.trees, tree) for tree in trees])
    else:
        weights = np.exp([free.trees.log_prob(tree) for tree in trees])
        assert tuple(heads_of(parsed)) == tuple(trees[int(weights.argmax())])
    expected = np.zeros_like(arcs)
    for tree, weight in zip(trees, weights / weights.sum(), strict=True):
        expected[tree, np.arange(1, 5)] += weight
    np.testing.assert_allclose(parser.marginals(constrained(nlp, given))[0], expected, atol=1e-9)


def _summed_over_labels(trees, heads) -> float:
    joint = np.logaddexp.reduce(trees._scores[0], axis=2)
    return float(np.exp(joint[heads, np.arange(1, 5)].sum()))


@pytest.mark.parametrize("config", SPACES[:2], ids=["plain", "labelled"])
def test_fixed_labels(config):
    nlp, parser = soft_parser(**config)
    for label in parser.labels:
        doc = nlp(constrained(nlp, {"labels": {2: label}}))
        assert doc[2].dep_ == label
        may_be_root = parser.label_set.possible[1][parser.labels.index(label)]
        assert may_be_root or doc[2].head != doc[2]
        assert config is LABELLED or doc[2]._.dep_prob_given_head == pytest.approx(1.0)
    samples = parser.sample(constrained(nlp, {"labels": {2: "obj"}}), 20, seed=0)
    assert {sample[2].dep_ for sample in samples} == {"obj"}


def test_k_best_and_samples_obey():
    nlp, parser = soft_parser()
    doc = constrained(nlp, {"heads": {0: 3}, "forbidden": [(-1, 1)]})
    for other in [*(d for d, _ in parser.k_best(doc, 10)), *parser.sample(doc, 30, seed=0)]:
        assert other[0].head.i == 3 and other[1].head.i != 1
    assert sum(probability for _, probability in parser.k_best(doc, 1000)) == pytest.approx(1.0)


@pytest.mark.parametrize("decoder", ["ChuLiuEdmonds", "MinimumRisk"])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_spans_are_subtrees(decoder, data):
    nlp, parser = PARSERS[decoder]
    start = data.draw(st.integers(0, 2))
    span = (start, data.draw(st.integers(start + 1, 4)))
    given = {"heads": {}, "roots": data.draw(st.lists(st.integers(0, 3), max_size=1)), "forbidden": [], "spans": [span]}
    (free,) = parser.distribution(Doc(nlp.vocab, words=WORDS))
    trees = [tree for tree in all_trees(4, False, True) if agrees(np.array(tree), given)]
    weights = np.exp([free.trees.log_prob(tree) for tree in trees])
    weights /= weights.sum()
    marginals = np.zeros((5, 5))
    for tree, weight in zip(trees, weights, strict=True):
        marginals[tree, np.arange(1, 5)] += weight
    parsed = nlp(constrained(nlp, given))
    found = heads_of(parsed)
    if decoder == "ChuLiuEdmonds":
        assert tuple(found) == tuple(trees[int(weights.argmax())])
    gains = [marginals[tree, np.arange(1, 5)].sum() for tree in trees]
    assert decoder == "ChuLiuEdmonds" or marginals[found, np.arange(1, 5)].sum() == pytest.approx(max(gains))
    np.testing.assert_allclose(parser.marginals(constrained(nlp, given))[0], marginals, atol=1e-9)
    probabilities = [token._.head_prob for token in parsed]
    np.testing.assert_allclose(probabilities, marginals[found, np.arange(1, 5)], atol=1e-9)
    assert parsed[:]._.parse_prob == pytest.approx(weights[[tuple(tree) for tree in trees].index(tuple(found))])
    best = parser.k_best(constrained(nlp, given), 1000)
    np.testing.assert_allclose([p for _, p in best], sorted(weights, reverse=True), rtol=1e-7)
    assert all(agrees(heads_of(doc), given) for doc in parser.sample(constrained(nlp, given), 10, seed=0))
    assert len(parser.candidates(constrained(nlp, given), 2)) == 1


PARSERS = {name: soft_parser(decoder={"@misc": f"spacy_mtt.{name}.v1"}) for name in ("ChuLiuEdmonds", "MinimumRisk")}


@pytest.mark.parametrize("decoder", ["ChuLiuEdmonds", "MinimumRisk"])
@pytest.mark.parametrize("span", [(0, 2), (1, 4), (2, 4)])
def test_spans_are_subtrees_of_labelled_trees(decoder, span):
    nlp, parser = soft_parser(**LABELLED, decoder={"@misc": f"spacy_mtt.{decoder}.v1"})
    given = {"heads": {}, "roots": [], "forbidden": [], "spans": [span]}
    (free,) = parser.distribution(Doc(nlp.vocab, words=WORDS))
    trees = [tree for tree in all_trees(4, False, True) if agrees(np.array(tree), given)]
    weights = np.array([_summed_over_labels(free.trees, tree) for tree in trees])
    expected = np.zeros((5, 5))
    for tree, weight in zip(trees, weights / weights.sum(), strict=True):
        expected[tree, np.arange(1, 5)] += weight
    np.testing.assert_allclose(parser.marginals(constrained(nlp, given))[0], expected, atol=1e-9)
    parsed = nlp(constrained(nlp, given))
    found, (own,) = heads_of(parsed), parser.distribution(constrained(nlp, given))
    labels = np.array([parser.labels.index(token.dep_) for token in parsed])
    best = own.trees.argmax() if decoder == "ChuLiuEdmonds" else own.trees.mbr()
    np.testing.assert_array_equal(best, [found, labels])
    joint = own.trees.marginals[found, np.arange(1, 5), labels]
    np.testing.assert_allclose([token._.head_prob for token in parsed], expected[found, np.arange(1, 5)], atol=1e-9)
    np.testing.assert_allclose([token._.dep_prob for token in parsed], joint, atol=1e-9)
    assert parsed[:]._.parse_prob == pytest.approx(np.exp(own.trees.log_prob(found, labels)))
    assert parsed[:]._.parse_entropy == pytest.approx(own.trees.entropy)
    top = parser.k_best(constrained(nlp, given), 4)
    assert [p for _, p in top] == sorted((p for _, p in top), reverse=True)
    samples = parser.sample(constrained(nlp, given), 10, seed=0)
    assert all(agrees(heads_of(doc), given) for doc in [*samples, *(doc for doc, _ in top)])
    assert len(parser.candidates(constrained(nlp, given), 2)) == 1


def test_other_docs_of_a_batch_are_free():
    nlp, _ = soft_parser()
    free = heads_of(nlp(Doc(nlp.vocab, words=WORDS)))
    docs = [Doc(nlp.vocab, words=WORDS), constrained(nlp, {"roots": [int(np.flatnonzero(free != 0)[0])]})]
    first, second = nlp.pipe(docs)
    assert (heads_of(first) == free).all() and (heads_of(second) != free).any()


@pytest.mark.parametrize(
    "given,message",
    [
        (
            {"heads": {0: 1, 1: 0, 2: 3}},
            r"no tree has all of this: 'what' \(token 0\) has the head 'did' \(token 1\); 'did'",
        ),
        ({"roots": [0, 2]}, r"'what' \(token 0\) is a root; 'you' \(token 2\) is a root$"),
        ({"heads": {0: 1}, "roots": [0]}, r"has the head 'did' \(token 1\); 'what' \(token 0\) is a root"),
        (
            {"forbidden": [(h, 1) for h in (-1, 0, 2, 3)]},
            r"no tree has all of this: 'did' \(token 1\) is no root; 'did'",
        ),
        ({"labels": {0: "nope"}}, r"'what' \(token 0\) has the label 'nope', which the parser does not have"),
        ({"heads": {0: 9}}, "heads: 9 is no token of the doc, which has 4"),
        ({"heads": {0: 0}}, "heads: token 0, 'what', cannot be its own head; a root stands in roots"),
        ({"roots": ["did"]}, "roots: 'did' is no token of the doc"),
        ({"labels": {0: 3}}, "labels: the label of token 0 must be a text, not 3"),
        ({"hats": {}, "heads": {}}, "must be a dict of heads, roots, forbidden, labels, spans, not"),
        ([1], "must be a dict of heads, roots, forbidden, labels, spans, not"),
        ({"spans": [(2, 1)]}, "spans: 2 to 1 is no span of the doc, which has 4 tokens"),
        ({"spans": [(0, 2), (1, 3)]}, r"'did you' \(tokens 1 to 2\) is a subtree, but another span shares a word"),
        (
            {"spans": [(0, 2)], "heads": {0: 2, 1: 3}},
            r"all of this: 'what' \(token 0\) has the head 'you' \(token 2\); 'did'",
        ),
    ],
)
def test_what_cannot_be_is_named(given, message):
    nlp = random_parser()
    with pytest.raises(ValueError, match=message):
        nlp(constrained(nlp, given))


def test_sentences_and_whitespace():
    nlp = random_parser()
    doc = Doc(nlp.vocab, words=["you", "\n", "talk", "go"], sent_starts=[True, False, False, True])
    doc._.mtt_constraints = {"heads": {0: 3}}
    with pytest.raises(
        ValueError, match=r"'you' \(token 0\) has the head 'go' \(token 3\), but a sentence boundary lies"
    ):
        nlp(doc)
    doc._.mtt_constraints = {"roots": [1]}
    with pytest.raises(ValueError, match="roots: token 1 is whitespace, which has no place in a tree"):
        nlp(doc)
    doc._.mtt_constraints = {"forbidden": [(3, 0)], "roots": [2]}
    parsed = nlp(doc)
    assert parsed[0].head.i == 2


def test_boundaries_that_are_found_part_no_required_arc():
    nlp = random_parser()
    doc = Doc(nlp.vocab, words=list("abcdef"))
    doc._.mtt_constraints = {"heads": {1: 3}, "forbidden": [(4, 5)]}
    found = without_starts_inside(np.ones(6, dtype=bool), constraints_of(doc))
    assert found.tolist() == [True, True, False, False, True, True]


def test_spans_where_they_are_not_supported():
    projective, _ = soft_parser(**SPACES[2])
    with pytest.raises(ValueError, match="spans as subtrees are not supported for projective trees"):
        projective(constrained(projective, {"spans": [(0, 2)]}))
    nlp, _ = soft_parser()
    doc = Doc(nlp.vocab, words=["you", "talk", "go"], sent_starts=[True, True, False])
    doc._.mtt_constraints = {"spans": [(0, 2)]}
    with pytest.raises(
        ValueError, match=r"'you talk' \(tokens 0 to 1\) is a subtree, but a sentence boundary lies in it"
    ):
        nlp(doc)


def test_constraints_survive_bytes():
    nlp = random_parser()
    doc = constrained(nlp, {"heads": {0: 3}})
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert nlp(again)[0].head.i == 3
