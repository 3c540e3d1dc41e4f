"""How sure the parser is: attributes of tokens and spans, marginals, k best parses, samples, against enumeration."""

import math
import pickle

import numpy as np
import pytest
import spacy
from scipy.stats import chi2
from spacy.tokens import Doc, DocBin, Span, Token

from tests.oracle import all_trees
from tests.pipeline.helpers import SENTENCES, TINY, parse_of, random_parser, trained_parser

TEXT = "what did you talk"
LABELLED = {"objective": {"@misc": "spacy_mtt.LogLikelihood.v1", "labelled": True}}
PROJECTIVE = {
    "objective": {"@misc": "spacy_mtt.LogLikelihood.v1", "projective": True},
    "decoder": {"@misc": "spacy_mtt.Eisner.v1"},
}
SPACES = [{}, LABELLED, PROJECTIVE]


def soft_parser(**config):
    """A parser with random scores of moderate size."""
    nlp = random_parser(probabilities=True, **config)
    model = nlp.get_pipe("mtt_parser").model
    for name in ("arcs", "labels"):
        layer = model.get_ref(name)
        for param in layer.param_names:
            layer.set_param(param, 0.05 * layer.get_param(param))
    return nlp, nlp.get_pipe("mtt_parser")


@pytest.mark.parametrize("config", SPACES, ids=["plain", "labelled", "projective"])
def test_attributes_are_those_of_the_distribution(config):
    nlp, parser = soft_parser(**config)
    doc = nlp(TEXT)
    (sentence,) = parser.distribution(nlp.make_doc(TEXT))
    (marginals,) = parser.marginals(nlp.make_doc(TEXT))
    heads = np.array([0 if token.head == token else token.head.i + 1 for token in doc])
    np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), 1.0, atol=1e-9)
    np.testing.assert_allclose([token._.head_prob for token in doc], marginals[heads, np.arange(1, 5)], atol=1e-12)
    assert sentence.tokens.tolist() == [0, 1, 2, 3] and sentence.labels == parser.labels
    assert all(0 < token._.dep_prob_given_head <= 1 for token in doc)
    for token in doc:
        assert token._.dep_prob == pytest.approx(token._.head_prob * token._.dep_prob_given_head, rel=1e-12)
    if config is LABELLED:
        labels = np.array([parser.labels.index(token.dep_) for token in doc])
        joint = sentence.trees.marginals[heads, np.arange(1, 5), labels]
        np.testing.assert_allclose([token._.dep_prob for token in doc], joint, rtol=1e-9)
        assert doc[:]._.parse_prob == pytest.approx(math.exp(sentence.trees.log_prob(heads, labels)))
    else:
        assert doc[:]._.parse_prob == pytest.approx(math.exp(sentence.trees.log_prob(heads)))
    np.testing.assert_allclose([token._.head_entropy for token in doc], sentence.trees.head_entropy, atol=1e-12)
    assert doc[:]._.parse_entropy == pytest.approx(sentence.trees.entropy)


def test_sentences_are_independent():
    nlp, _ = soft_parser()
    words = [*TEXT.split(), "\n", "she", "slept"]
    starts = [True, *[False] * 4, True, False]
    doc = nlp(Doc(nlp.vocab, words=words, sent_starts=starts))
    first, second = doc.sents
    assert doc[:]._.parse_entropy == pytest.approx(first._.parse_entropy + second._.parse_entropy)
    assert doc[:]._.parse_prob == pytest.approx(first._.parse_prob * second._.parse_prob)
    assert doc[1:3]._.parse_entropy is None and doc[0:6]._.parse_prob is None and doc[0:0]._.parse_prob is None
    assert doc[4]._.head_prob == 1.0 and doc[4]._.head_entropy == 0.0  # whitespace


def test_survives_bytes_docbin_and_processes():
    nlp, _ = soft_parser()
    docs = list(nlp.pipe([TEXT, "she slept", ""]))
    expected = [[token._.head_prob for token in doc] for doc in docs]
    assert all(value is not None for doc in expected for value in doc)
    copies = [Doc(nlp.vocab).from_bytes(doc.to_bytes()) for doc in docs]
    stored = DocBin(store_user_data=True, docs=docs)
    binned = list(DocBin().from_bytes(stored.to_bytes()).get_docs(nlp.vocab))
    split = list(nlp.pipe([TEXT, "she slept", ""], n_process=2))
    for others in (copies, binned, split):
        assert [[token._.head_prob for token in doc] for doc in others] == expected
        assert others[0][:]._.parse_entropy == docs[0][:]._.parse_entropy
    assert pickle.loads(pickle.dumps(nlp)).get_pipe("mtt_parser").probabilities


def test_off_by_default_and_nothing_is_written():
    nlp = random_parser()
    assert set(nlp(TEXT)._.mtt) == {"heads", "labels"}
    assert nlp(TEXT)[0]._.head_prob is None and nlp(TEXT)[:]._.parse_prob is None  # registered by another test or not


def test_other_names():
    names = {"head_prob": "sureness", "parse_prob": "tree_probability"}
    nlp = random_parser(probabilities=True, attribute_names=names)
    doc = nlp(TEXT)
    assert 0 < doc[0]._.sureness <= 1 and 0 < doc[:]._.tree_probability <= 1
    Token.set_extension("taken_by_others", default=None)
    with pytest.raises(ValueError, match=r"token._.taken_by_others belongs to another component"):
        random_parser(probabilities=True, attribute_names={"head_prob": "taken_by_others"})
    with pytest.raises(ValueError, match="attribute_names has 'heads', but the attributes are head_prob, dep_prob"):
        random_parser(probabilities=True, attribute_names={"heads": "x"})
    assert Span.has_extension("tree_probability")


@pytest.mark.parametrize("config", SPACES, ids=["plain", "labelled", "projective"])
def test_k_best_parses_are_those_of_enumeration(config):
    nlp, parser = soft_parser(**config)
    (sentence,) = parser.distribution(nlp.make_doc("you talk about"))
    projective = parser.objective.space.projective
    if config is LABELLED:
        best = parser.k_best(nlp.make_doc("you talk about"), 12)
        labels = [[parser.labels.index(token.dep_) for token in doc] for doc, _ in best]
        found = [
            sentence.trees.log_prob(heads_of(doc), np.array(own)) for (doc, _), own in zip(best, labels, strict=True)
        ]
        np.testing.assert_allclose(np.exp(found), [probability for _, probability in best], rtol=1e-9)
    else:
        best = parser.k_best(nlp.make_doc("you talk about"), 100)
        trees = all_trees(3, projective, True)
        expected = sorted((math.exp(sentence.trees.log_prob(tree)) for tree in trees), reverse=True)
        np.testing.assert_allclose([probability for _, probability in best], expected, rtol=1e-9)
        assert sum(probability for _, probability in best) == pytest.approx(1.0)
        assert len({tuple(heads_of(doc)) for doc, _ in best}) == len(trees)
    probabilities = [probability for _, probability in best]
    assert probabilities == sorted(probabilities, reverse=True)
    assert parse_of(best[0][0]) == parse_of(nlp("you talk about"))


def heads_of(doc: Doc) -> np.ndarray:
    return np.array([0 if token.head == token else token.head.i + 1 for token in doc])


def test_k_best_parses_of_several_sentences():
    nlp, parser = soft_parser()
    doc = Doc(nlp.vocab, words=["you", "talk", "she", "slept", "go"], sent_starts=[True, False, True, False, True])
    best = parser.k_best(doc, 10)
    assert len(best) == 4  # two sentences of two trees each, one of one
    alone = [[p for _, p in parser.k_best(Doc(nlp.vocab, words=words), 5)] for words in (["you", "talk"],)]
    assert sum(probability for _, probability in best) == pytest.approx(1.0) and len(alone[0]) == 2
    probabilities = [probability for _, probability in best]
    assert probabilities == sorted(probabilities, reverse=True)
    assert all([token.is_sent_start for token in other] == [True, False, True, False, True] for other, _ in best)
    assert not doc.has_annotation("DEP")  # the doc itself is not changed


@pytest.mark.parametrize("config", SPACES[:2], ids=["plain", "labelled"])
def test_samples_follow_the_distribution(config):
    nlp, parser = soft_parser(**config)
    draws = parser.sample(nlp.make_doc("you talk about"), 800, seed=1)
    (sentence,) = parser.distribution(nlp.make_doc("you talk about"))
    counts: dict[tuple, int] = {}
    for doc in draws:
        counts[tuple(heads_of(doc))] = counts.get(tuple(heads_of(doc)), 0) + 1
    (marginals,) = parser.marginals(nlp.make_doc("you talk about"))
    np.testing.assert_allclose(
        [sum(count for heads, count in counts.items() if heads[1] == h) / 800 for h in range(4)],
        marginals[:, 2],
        atol=0.08,
    )
    if config is not LABELLED:
        trees = all_trees(3, False, True)
        expected = np.array([800 * math.exp(sentence.trees.log_prob(tree)) for tree in trees])
        found = np.array([counts.get(tuple(tree), 0) for tree in trees])
        assert ((found - expected) ** 2 / expected).sum() < chi2.ppf(0.9999, len(trees) - 1)
    one, same = (parser.sample(nlp.make_doc("you talk about"), 3, seed=1) for _ in range(2))
    assert list(map(parse_of, one)) == list(map(parse_of, same))


def test_sampled_labels_follow_their_probabilities():
    nlp, parser = soft_parser()
    draws = parser.sample(nlp.make_doc("go"), 2000, seed=0)
    share = sum(doc[0].dep_ == nlp("go")[0].dep_ for doc in draws) / 2000
    assert share == pytest.approx(nlp("go")[0]._.dep_prob_given_head, abs=0.05)


def test_a_temperature_flattens_the_distribution_and_moves_no_tree():
    nlp, parser = soft_parser()
    sharp = nlp(TEXT)
    parser.cfg["temperature"] = 3.0
    flat = nlp(TEXT)
    assert parse_of(sharp) == parse_of(flat)
    assert flat[:]._.parse_entropy > sharp[:]._.parse_entropy
    again = spacy.blank("xx").from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert again(TEXT)[:]._.parse_entropy == flat[:]._.parse_entropy


def test_odd_questions():
    nlp, parser = soft_parser()
    for text in ("", " \n "):
        doc = nlp.make_doc(text)
        assert parser.distribution(doc) == [] and parser.marginals(doc) == []
        assert [probability for _, probability in parser.k_best(doc, 3)] == [1.0]
        assert len(parser.sample(doc, 2)) == 2
    with pytest.raises(ValueError, match="k is 0, but must be 1 or more"):
        parser.k_best(nlp.make_doc("go"), 0)
    with pytest.raises(ValueError, match="k is -1, but must be 0 or more"):
        parser.sample(nlp.make_doc("go"), -1)
    blank = spacy.blank("xx")
    unlabelled = blank.add_pipe("mtt_parser", config=TINY)
    with pytest.raises(ValueError, match="E143"):
        unlabelled.k_best(blank.make_doc("go"), 1)


def test_a_trained_parser_is_sure_of_what_it_has_seen():
    nlp = trained_parser(80, probabilities=True)
    for text, _, _ in SENTENCES:
        assert nlp(text)[:]._.parse_prob > 0.9
