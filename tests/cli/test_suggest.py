"""`mtt suggest`: candidates are those of the distribution, what is known stays, and what it writes trains as it is."""

import re
from pathlib import Path

import numpy as np
import pytest
import spacy
from typer.testing import CliRunner

from spacy_mtt.cli import app
from spacy_mtt.treebanks.conversion import to_conllu
from spacy_mtt.treebanks.corpus import TreebankCorpus
from spacy_mtt.treebanks.from_docs import doc_to_sentences
from spacy_mtt.treebanks.reading import read_treebank
from spacy_mtt.treebanks.sentence import MISC, TreebankSentence
from spacy_mtt.treebanks.writing import write_treebank
from tests.pipeline.helpers import SENTENCES, gold_doc, trained_parser
from tests.pipeline.test_probabilities import LABELLED, soft_parser


@pytest.fixture(scope="module", params=[{}, LABELLED], ids=["plain", "labelled"])
def model(request, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    nlp, _ = soft_parser(**request.param)
    nlp.to_disk(folder)
    return folder


@pytest.fixture
def treebank(tmp_path) -> Path:
    vocab = spacy.blank("xx").vocab
    sentences = [each for sentence in SENTENCES for each in doc_to_sentences(gold_doc(vocab, sentence))]
    write_treebank(tmp_path / "in.conllu", map(to_conllu, sentences))
    return tmp_path / "in.conllu"


def run(model: Path, source: Path, *options: str) -> tuple[list[TreebankSentence], str]:
    output = source.with_name("out.conllu")
    result = CliRunner().invoke(app, ["suggest", str(model), str(source), str(output), *options])
    assert result.exit_code == 0, result.output
    return list(read_treebank(output)), result.output


def candidates_of(misc: str) -> list[tuple[int, str, float]]:
    (text,) = re.findall(r"Candidates=([^|]+)", misc)
    return [(int(head), label, float(p)) for head, label, p in (item.split(":") for item in text.split(","))]


def test_sentences_by_uncertainty_with_the_candidates_of_the_distribution(model, treebank):
    found, output = run(model, treebank, "--anew", "--candidates", "3")
    assert "5 sentences, 20 words suggested" in output
    uncertainties = [float(each.comments[0].removeprefix("# uncertainty = ")) for each in found]
    assert uncertainties == sorted(uncertainties, reverse=True) and uncertainties[0] > 0
    nlp = spacy.load(model)
    parser = nlp.get_pipe("mtt_parser")
    for sentence in found:
        doc = spacy.tokens.Doc(nlp.vocab, words=sentence.forms)
        (marginals,) = parser.marginals(doc)
        assert (sentence.heads == -1).all()
        for word, row in enumerate(sentence.rows, 1):
            shown = candidates_of(row[MISC])
            assert len(shown) == min(3, len(sentence))
            best = sorted(marginals[:, word], reverse=True)[: len(shown)]
            np.testing.assert_allclose([marginals[head, word] for head, _, _ in shown], best, atol=1e-9)
            assert all(label in parser.labels and p <= marginals[head, word] + 1e-3 for head, label, p in shown)


def test_known_heads_stay_and_all_else_is_given_them(model, treebank):
    sentences = list(read_treebank(treebank))
    heads, deprels = sentences[0].heads.copy(), list(sentences[0].deprels)
    heads[[0, 4]], deprels[0], deprels[4] = -1, "_", "_"
    write_treebank(treebank, [sentences[0].with_tree(heads, deprels), *sentences[1:]])
    (found,), output = run(model, treebank)
    assert "1 sentences, 2 words suggested" in output
    np.testing.assert_array_equal(found.heads, heads)
    assert found.deprels == deprels
    assert [("Candidates" in row[MISC]) for row in found.rows] == [True, False, False, False, True, False]


def test_known_heads_that_are_no_tree_are_named(model, treebank):
    sentence = next(read_treebank(treebank))
    heads, deprels = [0, 0, -1, -1, -1, -1], ["ROOT", "ROOT", *["_"] * 4]
    write_treebank(treebank, [sentence.with_tree(heads, deprels)])
    result = CliRunner().invoke(app, ["suggest", str(model), str(treebank), str(treebank.with_name("out.conllu"))])
    assert result.exit_code == 1 and "in.conllu:1" in result.output and "is a root" in result.output
    assert "Traceback" not in result.output


def test_single_tokens(model, treebank):
    found, output = run(model, treebank, "--anew", "--by", "token", "--count", "4")
    assert "4 words suggested" in output
    assert sum("Candidates" in row[MISC] for each in found for row in each.rows) == 4
    assert all((each.heads == -1).all() for each in found)


def test_sure_heads_are_filled_in(tmp_path, treebank):
    nlp = trained_parser(80)
    nlp.to_disk(tmp_path / "model")
    found, _ = run(tmp_path / "model", treebank, "--anew", "--fill", "0.8")
    gold = {tuple(each.forms): each for each in read_treebank(treebank)}
    filled = 0
    for sentence in found:
        expected = gold[tuple(sentence.forms)]
        for head, right, row in zip(sentence.heads, expected.heads, sentence.rows, strict=True):
            assert head in (-1, right) and (head == -1) == ("Candidates" in row[MISC])
            filled += head >= 0
    assert filled > 15


def test_texts(model, tmp_path):
    (tmp_path / "texts.txt").write_text("the cat saw a dog\n\n  she slept\n", encoding="utf8")
    found, _ = run(model, tmp_path / "texts.txt", "--count", "1")
    assert len(found) == 1 and "Candidates" in found[0].rows[0][MISC]


def test_what_is_written_trains_as_it_is(model, treebank):
    run(model, treebank, "--anew", "--by", "token", "--count", "2")
    nlp = spacy.load(model)
    examples = list(TreebankCorpus(treebank.with_name("out.conllu"))(nlp))
    losses = nlp.update(examples, sgd=nlp.resume_training())
    assert losses["mtt_parser"] == 0.0  # nothing is annotated yet
    first = next(read_treebank(treebank.with_name("out.conllu")))
    heads = first.heads.copy()
    heads[0] = 0
    write_treebank(treebank.with_name("out.conllu"), [first.with_tree(heads, ["ROOT"] + ["_"] * (len(first) - 1))])
    examples = list(TreebankCorpus(treebank.with_name("out.conllu"))(nlp))
    assert nlp.update(examples, sgd=nlp.resume_training())["mtt_parser"] > 0.0


def test_nothing_to_suggest(model, treebank):
    result = CliRunner().invoke(app, ["suggest", str(model), str(treebank), str(treebank.with_name("out.conllu"))])
    assert result.exit_code == 1 and "no word is without a head" in result.output
    assert not treebank.with_name("out.conllu").exists()
    missing = CliRunner().invoke(app, ["suggest", str(model), "missing.txt", "out.conllu"])
    assert missing.exit_code == 1 and "missing.txt: no such file" in missing.output
